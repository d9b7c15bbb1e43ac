"""Tells rises and falls of the metric from chance. A run stops when no rise has come for some iterations, and
a method that can be led astray steps back from a fall.

A tuning set is a sample. From some iteration on, scores rise by hundredths that another sample of sentences
would not show, while each iteration takes as long as the first.
"""

from __future__ import annotations

from hiero.evaluate.metric import Metric
from hiero.evaluate.significance import Runs, paired_bootstrap
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.protocol import Array


class Course:
    """The course of a run. An iteration is a rise if its metric is higher than that of the rise before by
    more than chance, as the first one is, and a fall if it is lower than the best so far by more than
    chance."""

    def __init__(self, metric: Metric, chance: float) -> None:
        """``metric`` is that of the set by which iterations are judged. A difference is more than chance if
        at most the share ``chance`` of resampled sets lacks it (``paired_bootstrap``); with 1, every one
        is."""
        self._metric = metric
        self._chance = chance
        self._last_rise: Runs | None = None
        self._best: Runs | None = None
        # The number of iterations since the last rise, and of falls without an iteration between them up to
        # now.
        self.since_rise = 0
        self.falls = 0

    def add(self, statistics: Array) -> None:
        """Adds an iteration by the statistics of its best translations, float64 (sentences, width)."""
        runs = Runs.of(self._metric, statistics[None])
        if self._last_rise is None or self._is_higher(runs, self._last_rise):
            self._last_rise, self.since_rise = runs, 0
        else:
            self.since_rise += 1
        if self._best is None or self._score(runs) >= self._score(self._best):
            self._best = runs
        self.falls = self.falls + 1 if self._is_higher(self._best, runs) else 0

    def _is_higher(self, runs: Runs, other: Runs) -> bool:
        """Tells whether the metric of the first is higher by more than chance."""
        if self._score(runs) <= self._score(other):
            return False
        return self._chance == 1 or paired_bootstrap(self._metric, other, runs) <= self._chance

    def _score(self, runs: Runs) -> float:
        return float(maximised_score(self._metric, runs.statistics[0].sum(axis=0)))
