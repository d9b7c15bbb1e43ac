"""Results of a tuning run: its iterations, the best of them, and the files that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hiero.base.files import write_atomically
from hiero.base.weights import write_weights


@dataclass(frozen=True)
class Iteration:
    """One decoding of the set with ``weights``.

    ``score`` is the metric of the best translations, ``held_out`` that of a held-out set if there is one,
    both in the sense that more is better. ``new`` counts hypotheses of lists that were not in the pool, or,
    for methods on forests, sentences with a better derivation than before; ``generated`` all hypotheses that
    searches have generated so far. ``choosing`` and ``decoding`` are seconds.
    """

    weights: Mapping[str, float]
    score: float
    held_out: float | None
    new: int
    generated: int
    choosing: float = field(default=0.0, compare=False)
    decoding: float = field(default=0.0, compare=False)

    @property
    def judged(self) -> float:
        """The score that iterations are compared by: of the held-out set if there is one."""
        return self.score if self.held_out is None else self.held_out


@dataclass(frozen=True)
class TuneResult:
    """All iterations of a run, the index of the best, and why the run stopped."""

    iterations: list[Iteration]
    best: int
    reason: str

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the best iteration."""
        return self.iterations[self.best].weights

    @property
    def score(self) -> float:
        """The score of the best iteration, of the held-out set if there is one."""
        return self.iterations[self.best].judged


def best_iteration(iterations: Sequence[Iteration]) -> int:
    """Returns the index of the best iteration, the first of equal ones."""
    scores = [iteration.judged for iteration in iterations]
    return scores.index(max(scores))


def write_result(folder: Path, result: TuneResult) -> None:
    """Writes the table ``iterations.tsv`` and the best weights, ``weights.txt``."""
    rows = ["iteration\tscore\theld out\tnew\tgenerated\tchoosing\tdecoding"]
    for number, iteration in enumerate(result.iterations):
        held_out = "" if iteration.held_out is None else repr(iteration.held_out)
        cells = (number, repr(iteration.score), held_out, iteration.new, iteration.generated)
        times = f"{iteration.choosing:.1f}", f"{iteration.decoding:.1f}"
        rows.append("\t".join(map(str, (*cells, *times))))
    write_atomically(folder / "iterations.tsv", "\n".join(rows) + "\n")
    write_weights(folder / "weights.txt", result.weights)
