"""MERT on k-best lists (Och 2003): the weights whose winners in a pool have the best metric.

Each climb from the start takes its own order of directions, and the mean of the points where they end is the
result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hiero.base.parallel import spread_map
from hiero.evaluate.metric import Metric
from hiero.tune.methods.kinds import ListLength, ListMethod
from hiero.tune.methods.mert.climb import Climb, MertOptions, climb, mean_of_climbs
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import TuningState
from hiero.tune.run.protocol import Array

# Longer lists take longer to make and to climb among, and gain nothing on any of five corpora
# (benchmarks/results/tuning.md).
_K = 50


class Mert(MertOptions, ListMethod):
    """MERT on k-best lists, as a tuning method."""

    k: ListLength = _K

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
        return mert(
            accumulated.arrays(),
            state.metric,
            state.weights,
            limits=state.limits,
            seed=state.seed,
            threads=state.threads,
            options=self,
        ).weights


def mert(
    pool: PoolArrays,
    metric: Metric,
    start: Array,
    *,
    limits: Limits,
    seed: int,
    threads: int = 1,
    options: MertOptions | None = None,
) -> Climb:
    """Returns the mean of climbs from the start.

    Features that do not differ between the hypotheses of any sentence keep their weights. If the limits allow
    weights to be scaled, the sum of absolute weights stays that of the start. Raises ValueError for a start
    of zeros, which has no direction.
    """
    if not start.any():
        raise ValueError("all weights are zero")
    chosen = MertOptions() if options is None else options
    columned = _Columned(pool)
    varying = _varying(pool, columned.columns)
    searched = limits.narrowed([feature for feature in limits.free if varying[feature]])

    run_climb = _RunClimb(columned, metric, start, searched, seed, chosen)
    climbs = list(spread_map(run_climb, range(chosen.restarts + 1), threads))
    return mean_of_climbs(climbs, start, limits)


class _Columned:
    """A pool with its features by column, float64 (features, n), which are not pickled."""

    def __init__(self, arrays: PoolArrays) -> None:
        self.arrays = arrays

    @cached_property
    def columns(self) -> Array:
        return np.ascontiguousarray(self.arrays.features.toarray().T)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Columned, (self.arrays,)


@dataclass(frozen=True)
class _RunClimb:
    """Climbs from the start, with the order of directions that a number stands for."""

    pool: _Columned
    metric: Metric
    start: Array
    limits: Limits
    seed: int
    options: MertOptions

    def __call__(self, number: int) -> Climb:
        lines = _PoolLines(self.pool.arrays, self.pool.columns)
        seed = [self.seed, number]
        return climb(lines, self.metric, self.start, limits=self.limits, seed=seed, options=self.options)


def _varying(pool: PoolArrays, columns: Array) -> npt.NDArray[np.bool_]:
    """Returns a mask of the features that differ between the hypotheses of some sentence."""
    filled = np.flatnonzero(np.diff(pool.offsets))
    begins = pool.offsets[filled]
    least, most = (extreme.reduceat(columns, begins, axis=1) for extreme in (np.minimum, np.maximum))
    return np.asarray((least < most).any(axis=1))


class _PoolLines:
    """The lines of all hypotheses of a pool, whose features are ``columns``, float64 (features, n).
    Intercepts are kept while the weights stay; slopes are valid until the next call."""

    def __init__(self, pool: PoolArrays, columns: Array) -> None:
        self._pool = pool
        self._columns = columns
        self._weights: Array | None = None
        # New arrays of this size would take longer to allocate than to compute.
        self._intercepts, self._slopes = np.empty((2, columns.shape[1]))

    def __call__(self, weights: Array, direction: Array) -> tuple[PoolArrays, Array, Array]:
        if self._weights is not weights:
            self._weights = weights
            _scores(self._columns, weights, self._intercepts)
        moved = np.flatnonzero(direction)
        if len(moved) == 1 and direction[moved[0]] == 1:  # a coordinate
            return self._pool, self._intercepts, self._columns[moved[0]]
        return self._pool, self._intercepts, _scores(self._columns, direction, self._slopes)


def _scores(columns: Array, weights: Array, out: Array) -> Array:
    """Computes weights . columns into ``out``; the result of BLAS depends on the number of threads."""
    return np.einsum("fi,f->i", columns, weights, out=out)
