"""The iterations of a tuning run: each decodes with weights and leaves a folder, which appears when it is
whole, with the weights, what was new and the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from hiero._core import FormatError
from hiero.base.directories import publish
from hiero.base.files import temporary_name, write_atomically
from hiero.base.json_files import read_json
from hiero.base.weights import read_weights, weight_vector, write_weights
from hiero.evaluate.metrics import Metric
from hiero.tune.found import Found
from hiero.tune.objective import gain
from hiero.tune.pool import Pool
from hiero.tune.protocol import Array, TuningDecoder


@dataclass(frozen=True)
class Iteration:
    """Decoding with ``weights``: the metric of the 1-best, and of a held-out set's if there is one, in the
    sense that more is better; how much was new (hypotheses of lists; with forests, sentences with a better
    derivation than known), and hypotheses that all searches so far have generated."""

    weights: Mapping[str, float]
    score: float
    held_out: float | None
    new: int
    generated: int

    @property
    def judged(self) -> float:
        """What iterations are compared by: the score of the held-out set, if there is one."""
        return self.score if self.held_out is None else self.held_out


@dataclass(frozen=True)
class TuneResult:
    """All iterations, which of them is the best, and why the run stopped."""

    iterations: list[Iteration]
    best: int
    reason: str

    @property
    def weights(self) -> Mapping[str, float]:
        return self.iterations[self.best].weights

    @property
    def score(self) -> float:
        """Of the best iteration, by the held-out set if there is one."""
        return self.iterations[self.best].judged


@dataclass(frozen=True)
class HeldOut:
    """A set that weights are chosen by but not tuned on."""

    decoder: TuningDecoder
    metric: Metric


def best_of(iterations: Sequence[Iteration]) -> int:
    """The first of the best."""
    scores = [iteration.judged for iteration in iterations]
    return scores.index(max(scores))


class _Scores(BaseModel):
    """What an iteration's ``scores.json`` holds."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    score: float
    held_out: float | None
    new: int
    generated: int


class RunFolder:
    """Makes the iterations of a run, or takes those that are there; ``found`` is what they have found."""

    def __init__(
        self,
        folder: Path,
        decoder: TuningDecoder,
        metric: Metric,
        held_out: HeldOut | None,
        found: Found,
    ) -> None:
        self.found = found
        self._folder = folder
        self._decoder = decoder
        self._metric = metric
        self._held_out = held_out
        self._generated = 0

    def iteration(self, number: int, weights: Array) -> Iteration:
        folder = self._folder_of(number)
        if not folder.exists():
            self._decode(folder, weights)
        self.found.restore(folder)
        scores = read_json(folder / "scores.json", _Scores)
        self._generated = scores.generated
        return Iteration(self._named(weights), **scores.model_dump())

    def weights_of(self, number: int) -> Array | None:
        """What an iteration decoded with, if it is there: choosing weights again would only take time."""
        if not self._folder_of(number).exists():
            return None
        path = self._folder_of(number) / "weights.txt"
        weights = read_weights(path)
        if list(weights) != list(self._decoder.feature_names):
            raise FormatError(f"{path}: damaged: expected a weight of every feature")
        return weight_vector(weights, self._decoder.feature_names)

    def _folder_of(self, number: int) -> Path:
        return self._folder / f"iteration-{number:03}"

    def _named(self, weights: Array) -> dict[str, float]:
        return dict(zip(self._decoder.feature_names, weights.tolist(), strict=True))

    def _decode(self, folder: Path, weights: Array) -> None:
        temporary = temporary_name(folder)
        temporary.mkdir()
        before = self._decoder.generated
        new, firsts = self.found.decode(self._decoder, weights, temporary)
        scores = _Scores(
            score=float(gain(self._metric, firsts.sum(axis=0))),
            held_out=self._held_out_score(weights),
            new=new,
            generated=self._generated + self._decoder.generated - before,
        )
        write_weights(temporary / "weights.txt", self._named(weights))
        write_atomically(temporary / "scores.json", scores.model_dump_json() + "\n")
        publish(temporary, folder)

    def _held_out_score(self, weights: Array) -> float | None:
        if self._held_out is None:
            return None
        metric = self._held_out.metric
        _, firsts = Pool(metric.segments, len(weights), metric).unseen(
            self._held_out.decoder.kbest(weights, 1)
        )
        return float(gain(metric, firsts.sum(axis=0)))
