"""Minimum risk training as a tuning method."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hiero.base.files import write_atomically
from hiero.base.progress import Report
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.tune.methods.length import LengthSearch, list_lines
from hiero.tune.methods.mert.climb import Lines
from hiero.tune.methods.mert.hypergraph_mert import Envelopes
from hiero.tune.methods.risk.annealing import Minimum, minimise
from hiero.tune.methods.risk.losses import Loss
from hiero.tune.methods.risk.objective import UnclippedBleu, forest_objective, list_objective
from hiero.tune.methods.risk.options import RiskOptions
from hiero.tune.methods.risk.spaces import RiskSpace
from hiero.tune.pool.forests import AccumulatedUnions
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.method import Method, TuningState
from hiero.tune.run.protocol import Array


class Risk(RiskOptions, LengthSearch, Method[AccumulatedLists | AccumulatedUnions]):
    """Minimum risk training on forests or lists, as a tuning method."""

    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    def empty(self, metric: Metric, features: int) -> AccumulatedLists | AccumulatedUnions:
        assert isinstance(metric, Bleu)
        if self.space == "forest":
            return AccumulatedUnions(metric, self.edges)
        return AccumulatedLists(UnclippedBleu(metric), features, self.k)

    def objective(
        self, accumulated: AccumulatedLists | AccumulatedUnions, metric: Metric, weights: Array, threads: int
    ) -> tuple[RiskSpace, Loss]:
        """Returns the derivations to minimise over, and the loss, which depends on the translations that
        these weights choose."""
        assert isinstance(metric, Bleu)
        if isinstance(accumulated, AccumulatedUnions):
            return forest_objective(accumulated.unions, metric, weights, self, threads)
        return list_objective(accumulated.arrays(), weights, self)

    def choose(self, accumulated: AccumulatedLists | AccumulatedUnions, state: TuningState) -> Array:
        space, loss = self.objective(accumulated, state.metric, state.weights, state.threads)
        trace = Trace(len(state.history) - 1, state.progress)
        weights = minimise(space, loss, state.weights, limits=state.limits, options=self, report=trace)
        trace.write(state.folder)
        if not self.length_search:  # the lines would send all forests to a cluster again
            return weights
        return self.with_best_length(weights, _lines(accumulated, state), state)


def _lines(accumulated: AccumulatedLists | AccumulatedUnions, state: TuningState) -> Lines:
    """Returns the lines of all derivations."""
    if isinstance(accumulated, AccumulatedLists):
        return list_lines(accumulated.arrays())
    forests = [accumulated.forests_of(sentence) for sentence in range(state.metric.segments)]
    return Envelopes(forests, state.metric, state.threads)


class Trace:
    """The minimum of every stage of an iteration: reported at once, and written to a file of the run."""

    _HEAD = "temperature\tgamma\trisk\tentropy\tgradient\tevaluations"

    def __init__(self, iteration: int, progress: Report | None) -> None:
        self._iteration = iteration
        self._progress = progress
        self._minima: list[Minimum] = []

    def __call__(self, minimum: Minimum) -> None:
        self._minima.append(minimum)
        if self._progress is not None:
            means = f"R {minimum.risk:.4f}, H {minimum.entropy:.3f}, |gradient| {minimum.gradient:.2g}"
            stage = f"T {minimum.stage.temperature:g}, gamma {minimum.gamma:.3g}"
            self._progress(f"iteration {self._iteration + 1}: {means}; {stage}", len(self._minima), None)

    def write(self, folder: Path) -> None:
        """Writes a table with a row for each stage; values are means over sentences."""
        rows = [
            f"{m.stage.temperature:g}\t{m.gamma!r}\t{m.risk!r}\t{m.entropy!r}\t{m.gradient!r}\t{m.evaluations}"
            for m in self._minima
        ]
        path = folder / f"risk-{self._iteration:03}.tsv"
        write_atomically(path, "\n".join([self._HEAD, *rows]) + "\n")
