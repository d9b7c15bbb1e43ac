"""Minimum error training by the downhill simplex, against uniform weights (Cettolo and Federico 2004).

With threshold pruning, small weights search wide and large weights search little. So a set of weights has a
curve of quality by hypotheses generated, whose points are its multiples (Figures 1 and 2); the best points
make a table (Tables 3 and 4). Weights are tuned on BLEU and on NIST where pruning is loosest, so that none
can gain by a wider search; weights tuned on the test set itself are an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from hiero.base.files import write_atomically
from hiero.decode.decoder import Decoder
from hiero.evaluate import Bleu, EffectiveLength, Metric, Nist
from hiero.experiments.laboratory import ExperimentOptions, Laboratory, Stored, Trial, stored
from hiero.experiments.report import can_draw, figure
from hiero.experiments.systems import LabelledSet, Outcome, Results, System, published_options

# The file that the table is written to.
TABLE = "table.txt"


class Cettolo2004Options(ExperimentOptions):
    """Pruning, working points, and the length of a search for weights."""

    beam_threshold: float = Field(
        4.0, ge=0, description="threshold of pruning in natural logs, for uniform weights of size 1"
    )
    pop_limit: int = Field(
        50, ge=1, description="limit of hypotheses of a cell that does not depend on weights"
    )
    scales: tuple[float, ...] = tuple(2.0 ** (half / 2) for half in range(-6, 7))
    decodings: int = Field(150, ge=1, description="most decodings of each search for weights")
    seed: int = Field(1, ge=0, description="seed of all searches")
    runs: Literal[1] = 1
    effective_length: EffectiveLength = "closest"


# A system's variant is the set that it is tuned on.
TUNING, TEST = "tuning", "test"
UNIFORM = System("uniform", "uniform", "")
TUNED = (
    System("BLEU-tuned", "bleu-tuned", "BLEU", variant=TUNING),
    System("NIST-tuned", "nist-tuned", "NIST", variant=TUNING),
    System("BLEU-tuned on test", "bleu-tuned-on-test", "BLEU", variant=TEST),
    System("NIST-tuned on test", "nist-tuned-on-test", "NIST", variant=TEST),
)


@dataclass(frozen=True)
class Point:
    """A working point: weights times ``scale`` translate the test set."""

    scale: float
    generated: int
    bleu: float
    nist: float


class _StoredPoint(Stored):
    point: Point


Curves = Mapping[str, Sequence[Point]]


def uniform(weights: Mapping[str, float]) -> dict[str, float]:
    """Returns weights of size 1 with the signs of others; those of 0 stay 0."""
    return {name: float(np.sign(weight)) for name, weight in weights.items()}


@dataclass(kw_only=True, eq=False)
class Cettolo2004(Laboratory[Cettolo2004Options]):
    """Writes ``table.txt`` and ``curves.tsv``, and with matplotlib ``figure-1.png`` and ``figure-2.png``.

    ``tests`` has one set. Only features with a weight in the model are tuned. ``run`` in a folder that is
    done goes on where ``decodings`` is larger.
    """

    shared_options: ClassVar[tuple[str, ...]] = ("seed", "beam_threshold", "pop_limit", "scales")

    @property
    def sets(self) -> Sequence[LabelledSet]:
        return []  # the test set is translated at working points instead

    @cached_property
    def decoder(self) -> Decoder:
        limits = {"pop_limit": self.options.pop_limit, "beam_threshold": self.options.beam_threshold}
        return Decoder(self.model, **{**self.options.decoding, **limits})

    @cached_property
    def uniform_weights(self) -> dict[str, float]:
        return {name: 0.0 for name in self.model.feature_names} | uniform(self.model.weights)

    def systems(self) -> list[System]:
        return [UNIFORM, *TUNED]

    def check_system(self, system: System) -> None:
        if system != UNIFORM:
            super().check_system(system)

    def trial(self, system: System) -> Trial:
        one = self.tuning if system.variant == TUNING else self.tests[0]
        metric: Metric = Bleu(one.references) if system.method == "BLEU" else Nist(one.references)
        loosest = min(self.options.scales)
        start = {name: weight * loosest for name, weight in self.uniform_weights.items()}
        fixed = tuple(name for name, weight in start.items() if weight == 0)
        options = published_options("simplex", {"iterations": self.options.decodings}, fixed)
        return Trial(self.decoder, options, one, metric=metric, weights=start)

    def outcome(self, system: System) -> Outcome:
        if system != UNIFORM:
            return super().outcome(system)
        self.begin(system)
        loosest = min(self.options.scales)
        return Outcome([{name: w * loosest for name, w in self.uniform_weights.items()}], [], [], {})

    def curve(self, system: System, weights: Mapping[str, float]) -> list[Point]:
        """Returns the working points by rising scale of weights of size 1."""
        points = []
        for scale in sorted(self.options.scales):
            path = self.folder / system.slug / f"scale-{scale:g}.json"
            kept = stored(path, weights, _StoredPoint, lambda scale=scale: self._point(weights, scale))  # type: ignore[misc]
            points.append(kept.point)
        return points

    def _point(self, weights: Mapping[str, float], scale: float) -> dict[str, Any]:
        test = self.tests[0]
        decoder = self.decoder.with_weights(scale * self.model.weight_vector(weights))
        results = decoder.translate_batch(test.sentences, threads=self.threads)
        lines = [" ".join(result.tokens) for result in results]
        bleu, nist = (
            float(metric.score(metric.statistics(lines).sum(axis=0)))
            for metric in (Bleu(test.references), Nist(test.references))
        )
        return {"point": Point(float(scale), sum(result.stats.hypotheses for result in results), bleu, nist)}

    def write(self, results: Results) -> None:
        loosest = min(self.options.scales)
        curves = {}
        for system, outcome in results.outcomes.items():
            weights = {name: weight / loosest for name, weight in outcome.weights[0].items()}
            curves[system.name] = self.curve(system, weights)
        write_atomically(self.folder / TABLE, table(curves))
        write_atomically(self.folder / "curves.tsv", _tsv(curves))
        if can_draw():
            self._plot(curves)

    def _plot(self, curves: Curves) -> None:
        """Draws Figures 1 and 2: the curves of uniform weights and of those tuned on the metric."""
        for number, metric in enumerate(("BLEU", "NIST"), start=1):
            with figure(self.folder / f"figure-{number}.png", 6, 4) as drawn:
                axes = drawn.add_subplot()
                for name, style in (
                    ("uniform", "--"),
                    (f"{metric}-tuned", "-"),
                    (f"{metric}-tuned on test", ":"),
                ):
                    scores = [getattr(point, metric.lower()) for point in curves[name]]
                    generated = [point.generated for point in curves[name]]
                    axes.plot(generated, scores, style, marker=".", label=name)
                axes.set_xscale("log")
                axes.set_xlabel("hypotheses generated")
                axes.set_ylabel(metric)
                axes.legend()


def _best(points: Sequence[Point]) -> tuple[float, float]:
    """Returns BLEU and NIST, each of its best working point."""
    return max(point.bleu for point in points), max(point.nist for point in points)


def table(curves: Curves) -> str:
    """Returns the best working points of all weights, and the hypotheses that reach the best BLEU of uniform
    ones."""
    rows = [f"{'weights':20} {'BLEU':>14} {'NIST':>16} {'hypotheses':>12}"]
    base = _best(curves[UNIFORM.name])
    for name, points in curves.items():
        bleu, nist = _best(points)
        enough = min((point.generated for point in points if point.bleu >= base[0]), default=None)
        row = f"{name:20} {bleu:6.2f} {_relative(bleu, base[0]):7} {nist:8.4f} {_relative(nist, base[1]):7} "
        rows.append(row + (f"{'never':>12}" if enough is None else f"{enough:12,}"))
    rows.append(
        "BLEU and NIST each at the best working point; hypotheses: generated over the test set at the"
    )
    rows.append("cheapest working point with the best BLEU of uniform weights, or better.")
    return "\n".join(rows) + "\n"


def _relative(value: float, base: float) -> str:
    return "" if value == base or base == 0 else f"{value / base - 1:+.1%}"


def _tsv(curves: Curves) -> str:
    rows = ["weights\tscale\tgenerated\tBLEU\tNIST"]
    for name, points in curves.items():
        rows += [f"{name}\t{p.scale!r}\t{p.generated}\t{p.bleu!r}\t{p.nist!r}" for p in points]
    return "\n".join(rows) + "\n"
