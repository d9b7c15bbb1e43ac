"""Paired significance tests of the difference between two systems, on statistics of the same segments.

``paired_bootstrap`` resamples segments (Koehn 2004), ``approximate_randomization`` swaps the outputs of two
systems segment by segment (Riezler and Maxwell 2005). As tuning is random too, a system may be several runs
of an optimiser, whose means are compared (Clark et al. 2011). Both tests generalise to other segments of the
same kind; the deviation between runs tells how much further runs would differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Array, Metric

# Random rows that are drawn at once; more would need more memory.
_BLOCK = 100
SAMPLES = 1000
SEED = 1


@dataclass(frozen=True)
class Runs:
    """Statistics of the runs of one system, float64 (runs, segments, width), and their scores."""

    statistics: Array
    scores: Array

    @classmethod
    def of(cls, metric: Metric, statistics: npt.ArrayLike) -> Runs:
        """Computes the scores of runs from their statistics, (runs, segments, width)."""
        values = np.asarray(statistics, dtype=np.float64)
        return cls(values, metric.score(values.sum(axis=1)))

    @property
    def mean(self) -> float:
        return float(self.scores.mean())

    @property
    def deviation(self) -> float:
        """The sample standard deviation of the scores; 0 for one run."""
        return float(self.scores.std(ddof=1)) if len(self.scores) > 1 else 0.0


def confidence_interval(
    metric: Metric, system: Runs, samples: int = SAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """Estimates the interval of a system's score, the mean of its runs, that holds 95 % of resampled sets
    (Koehn 2004)."""
    rng = np.random.default_rng(seed)
    segments = system.statistics.shape[1]
    means = []
    for start in range(0, samples, _BLOCK):
        times = rng.multinomial(segments, [1 / segments] * segments, min(_BLOCK, samples - start))
        means.append(metric.score(_sums(times.astype(np.float64), system.statistics)).mean(axis=0))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def paired_bootstrap(
    metric: Metric, baseline: Runs, system: Runs, samples: int = SAMPLES, seed: int = SEED
) -> float:
    """Returns p, the share of resampled sets in which the system that is better on the whole set is not
    (Koehn 2004). Systems of several runs are compared by their means. One is added to both counts, so that p
    is never 0. Raises ValueError for different numbers of segments."""
    _check_segments(baseline, system)
    rng = np.random.default_rng(seed)
    segments = baseline.statistics.shape[1]
    sign = np.sign(_improvement(metric, baseline.mean, system.mean))
    lost = 0
    for start in range(0, samples, _BLOCK):
        times = rng.multinomial(segments, [1 / segments] * segments, min(_BLOCK, samples - start))
        means = [
            metric.score(_sums(times.astype(np.float64), side.statistics)).mean(axis=0)
            for side in (baseline, system)
        ]
        lost += int((sign * _improvement(metric, *means) <= 0).sum())
    return (lost + 1) / (samples + 1)


def approximate_randomization(
    metric: Metric, baseline: Runs, system: Runs, trials: int = SAMPLES, seed: int = SEED
) -> float:
    """Returns p, the share of random swaps after which the means differ by as much or more, in either
    direction. A segment's outputs are swapped between the systems in all pairs of runs at once; a single run
    is paired with every run of the other system. Raises ValueError for numbers of runs that cannot be paired,
    and for different numbers of segments.

    Clark et al. (2011) swap the pairs of runs independently of each other. That takes the translations of one
    segment, which resemble each other, for independent evidence: of equal systems with three runs each, up to
    a quarter then differ with p < 0.05.
    """
    _check_segments(baseline, system)
    rng = np.random.default_rng(seed)
    runs = max(len(baseline.scores), len(system.scores))
    if {len(baseline.scores), len(system.scores)} - {1, runs}:
        raise ValueError(f"{len(baseline.scores)} runs cannot be paired with {len(system.scores)}")
    shape = (runs, *baseline.statistics.shape[1:])
    first = np.broadcast_to(baseline.statistics, shape)
    difference = np.broadcast_to(system.statistics, shape) - first
    sums = first.sum(axis=1), first.sum(axis=1) + difference.sum(axis=1)
    observed = abs(_improvement(metric, metric.score(sums[0]).mean(), metric.score(sums[1]).mean()))
    as_large = 0
    for start in range(0, trials, _BLOCK):
        swaps = rng.integers(0, 2, (min(_BLOCK, trials - start), shape[1])).astype(np.float64)
        moved = _sums(swaps, difference)
        a = metric.score(sums[0][:, None] + moved).mean(axis=0)
        b = metric.score(sums[1][:, None] - moved).mean(axis=0)
        # A swap that changes nothing must count as equally large, in spite of rounding.
        as_large += int((np.abs(_improvement(metric, a, b)) >= observed - 1e-9).sum())
    return (as_large + 1) / (trials + 1)


def _check_segments(baseline: Runs, system: Runs) -> None:
    sizes = [side.statistics.shape[1] for side in (baseline, system)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"{sizes[0]} segments cannot be paired with {sizes[1]}")


def _improvement(metric: Metric, baseline: npt.ArrayLike, system: npt.ArrayLike) -> Array:
    """Subtracts scores so that more is better."""
    difference = np.asarray(system, dtype=np.float64) - np.asarray(baseline, dtype=np.float64)
    return -difference if metric.lower_is_better else difference


def _sums(times: Array, statistics: Array) -> Array:
    """Multiplies (samples, segments) by (runs, segments, width) to (runs, samples, width), without BLAS,
    whose sums depend on the number of threads."""
    return np.asarray(np.einsum("bs,rsw->rbw", times, statistics))
