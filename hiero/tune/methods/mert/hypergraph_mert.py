"""MERT on forests (Kumar et al. 2009): line search among all derivations of forests, not those of a list.

The derivations of a forest that win somewhere along a line are its envelope. Those of all forests of a
sentence are the smallest pool in which ``line_search.search`` still finds the best interval exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from hiero._core import Forest
from hiero.base.parallel import ordered_map
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

    def lines(weights: Array, direction: Array) -> tuple[PoolArrays, Array, Array]:
        return envelopes(pool, metric, weights, direction, threads)

    climbs = [
        climb(lines, metric, start, limits=searched, seed=[seed, number], options=chosen)
        for number in range(chosen.restarts + 1)
    ]
    return mean_of_climbs(climbs, start, limits)


def _occurring(pool: ForestPool) -> set[int]:
    """Returns the features that some edge has."""
    return {int(f) for forests in pool for forest in forests for f in np.unique(forest.features.indices)}


def envelopes(
    pool: ForestPool, metric: Metric, weights: Array, direction: Array, threads: int = 1
) -> tuple[PoolArrays, Array, Array]:
    """Returns the derivations that win somewhere along a line, as a pool without features, and their
    intercepts and slopes."""
    missing = metric.empty_statistics([s for s, forests in enumerate(pool) if not forests]).sum(axis=0)

    def envelope(sentence: int) -> tuple[Array, Array, Array]:
        intercepts, slopes = [np.zeros(0)], [np.zeros(0)]
        statistics = [np.zeros((0, len(missing)))]
        for forest in pool[sentence]:
            _, b, a, offsets, words = forest.envelope(forest.scores(weights), forest.scores(direction))
            segments = np.full(len(b), sentence, dtype=np.int32)
            intercepts.append(b)
            slopes.append(a)
            statistics.append(metric.token_statistics(segments, Hypotheses(forest.words, words, offsets)))
        return np.concatenate(intercepts), np.concatenate(slopes), np.concatenate(statistics)

    # A task is a block of sentences: handing over a sentence takes as long as its envelope.
    blocks = np.array_split(np.arange(len(pool)), 4 * threads)
    computed = ordered_map(lambda block: [envelope(s) for s in block.tolist()], blocks, threads)
    intercepts, slopes, statistics = zip(*(lines for block in computed for lines in block), strict=True)
    offsets = np.concatenate([[0], np.cumsum([len(b) for b in intercepts])]).astype(np.int32)
    rows = np.concatenate(statistics)
    arrays = PoolArrays(offsets, scipy.sparse.csr_array((len(rows), len(weights))), rows, missing)
    return arrays, np.concatenate(intercepts), np.concatenate(slopes)
