"""MERT on forests (Kumar et al. 2009): line search among all derivations of forests, not those of a list.

The derivations of a forest that win somewhere along a line are its envelope. Those of all forests of a
sentence are the smallest pool in which ``line_search.search`` still finds the best interval exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero._core import Forest
from hiero.base.parallel import ordered_map, spread_parts
from hiero.evaluate.metric import Metric
from hiero.evaluate.tokens import Hypotheses
from hiero.tune.methods.kinds import ForestMethod
from hiero.tune.methods.mert.climb import Climb, MertOptions, Restarts, climb, mean_of_climbs
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.pool.forests import AccumulatedForests
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import TuningState
from hiero.tune.run.protocol import Array

# The forests of each sentence.
ForestPool = Sequence[Sequence[Forest]]
# A climb among all derivations takes longer than one among lists, and climbs end nearer to each other.
_RESTARTS = 4


class HypergraphMert(MertOptions, ForestMethod):
    """MERT on forests, as a tuning method."""

    restarts: Restarts = _RESTARTS

    def choose(self, accumulated: AccumulatedForests, state: TuningState) -> Array:
        return hypergraph_mert(
            accumulated.forests,
            state.metric,
            state.weights,
            limits=state.limits,
            seed=state.seed,
            threads=state.threads,
            options=self,
        ).weights


def hypergraph_mert(
    pool: ForestPool,
    metric: Metric,
    start: Array,
    *,
    limits: Limits,
    seed: int,
    threads: int = 1,
    options: MertOptions | None = None,
) -> Climb:
    """Returns the mean of climbs from the start, as ``mert`` does. Features that occur in no forest keep
    their weights. Raises ValueError for a start of zeros."""
    if not start.any():
        raise ValueError("all weights are zero")
    chosen = MertOptions(restarts=_RESTARTS) if options is None else options
    searched = limits.narrowed(sorted(_occurring(pool) & set(limits.free)))

    lines = Envelopes(pool, metric, threads)
    climbs = [
        climb(lines, metric, start, limits=searched, seed=[seed, number], options=chosen)
        for number in range(chosen.restarts + 1)
    ]
    return mean_of_climbs(climbs, start, limits)


def _occurring(pool: ForestPool) -> set[int]:
    """Returns the features that some edge has."""
    return {int(f) for forests in pool for forest in forests for f in np.unique(forest.features.indices)}


class Envelopes:
    """The lines of the derivations of forests that win somewhere along a line. The forests stay where the
    lines are computed."""

    def __init__(self, pool: ForestPool, metric: Metric, threads: int = 1) -> None:
        empty = metric.empty_statistics([s for s, forests in enumerate(pool) if not forests])
        self._missing = empty.sum(axis=0)
        self._parts = spread_parts(partial(_Sentences, metric), pool, 1, threads)

    def __call__(self, weights: Array, direction: Array) -> tuple[PoolArrays, Array, Array]:
        """Returns these derivations as a pool without features, and their intercepts and slopes."""
        parts = self._parts.call(_Sentences.envelopes, weights, direction)
        intercepts, slopes, statistics = zip(*(lines for part in parts for lines in part), strict=True)
        offsets = np.concatenate([[0], np.cumsum([len(b) for b in intercepts])]).astype(np.int32)
        rows = np.concatenate(statistics)
        features = scipy.sparse.csr_array((len(rows), len(weights)))
        arrays = PoolArrays(offsets, features, rows, self._missing)
        return arrays, np.concatenate(intercepts), np.concatenate(slopes)


@dataclass(frozen=True)
class _Sentences:
    """The forests of consecutive sentences."""

    metric: Metric
    first: int
    pool: ForestPool
    threads: int

    def envelopes(self, weights: Array, direction: Array) -> list[tuple[Array, Array, Array]]:
        """Returns the intercepts, slopes and statistics of each sentence's derivations."""
        # A task is a block of sentences: handing over a sentence takes as long as its envelope.
        blocks = np.array_split(np.arange(len(self.pool)), 4 * self.threads)

        def envelopes(block: npt.NDArray[np.intp]) -> list[tuple[Array, Array, Array]]:
            return [self._envelope(sentence, weights, direction) for sentence in block.tolist()]

        return [lines for block in ordered_map(envelopes, blocks, self.threads) for lines in block]

    def _envelope(self, sentence: int, weights: Array, direction: Array) -> tuple[Array, Array, Array]:
        intercepts, slopes = [np.zeros(0)], [np.zeros(0)]
        statistics = [self.metric.empty_statistics([])]
        for forest in self.pool[sentence]:
            _, b, a, offsets, words = forest.envelope(forest.scores(weights), forest.scores(direction))
            segments = np.full(len(b), self.first + sentence, dtype=np.int32)
            intercepts.append(b)
            slopes.append(a)
            found = Hypotheses(forest.words, words, offsets)
            statistics.append(self.metric.token_statistics(segments, found))
        return np.concatenate(intercepts), np.concatenate(slopes), np.concatenate(statistics)
