"""Tells a rise of the metric from chance: a run stops when none has come for some iterations.

A tuning set is a sample. From some iteration on, scores rise by hundredths that another sample of sentences
would not show, while each iteration takes as long as the first.
"""

from __future__ import annotations

from hiero.evaluate.metric import Metric
from hiero.evaluate.significance import Runs, paired_bootstrap
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.protocol import Array


class Rises:
    """The iterations of a run whose metric is higher than that of the rise before by more than chance. The
    first iteration counts as one."""

    def __init__(self, metric: Metric, chance: float) -> None:
        """``metric`` is that of the set by which iterations are judged. A rise counts if at most the share
        ``chance`` of resampled sets lacks it (``paired_bootstrap``); with 1, every rise counts."""
        self._metric = metric
        self._chance = chance
        self._last: Runs | None = None
        # The number of iterations since the last rise.
        self.since = 0

    def add(self, statistics: Array) -> None:
        """Adds an iteration by the statistics of its best translations, float64 (sentences, width)."""
        runs = Runs.of(self._metric, statistics[None])
        if self._last is None or self._is_rise(self._last, runs):
            self._last, self.since = runs, 0
        else:
            self.since += 1

    def _is_rise(self, last: Runs, runs: Runs) -> bool:
        before, after = (
            float(maximised_score(self._metric, each.statistics[0].sum(axis=0))) for each in (last, runs)
        )
        if after <= before:
            return False
        return self._chance == 1 or paired_bootstrap(self._metric, last, runs) <= self._chance
