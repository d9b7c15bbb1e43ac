"""MERT over forests (Kumar et al. 2009): line search among all derivations that forests hold, not a list's.

The derivations of a forest that win somewhere along a line are its envelope; those of all forests of a
sentence together are a pool as small as it can be, in which `mert.search` finds the best interval exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from hiero._core import Forest
from hiero.base.parallel import ordered_map
from hiero.evaluate.metrics import Hypotheses, Metric
from hiero.tune.mert import Climb, MertOptions, climb, mean_of
from hiero.tune.pool import PoolArrays, missing
from hiero.tune.protocol import Array

# The forests of each sentence.
ForestPool = Sequence[Sequence[Forest]]
# A climb among all derivations takes longer, and ends nearer to others, than one among lists.
OPTIONS = MertOptions(restarts=4)


def envelopes(
    pool: ForestPool, metric: Metric, weights: Array, direction: Array, threads: int = 1
) -> tuple[PoolArrays, Array, Array]:
    """The derivations that win somewhere along a line as a pool, their intercepts and slopes.

    Its features are empty: what is searched are the lines.
    """
    nothing = missing(metric, [sentence for sentence, forests in enumerate(pool) if not forests])

    def of_sentence(sentence: int) -> tuple[Array, Array, Array]:
        intercepts, slopes, statistics = [], [], []
        for forest in pool[sentence]:
            _, b, a, offsets, words = forest.envelope(forest.scores(weights), forest.scores(direction))
            hypotheses = Hypotheses(forest.words, words, offsets)
            segments = np.full(len(b), sentence, dtype=np.int32)
            intercepts.append(b)
            slopes.append(a)
            statistics.append(metric.token_statistics(segments, hypotheses))
        return (
            np.concatenate([np.zeros(0), *intercepts]),
            np.concatenate([np.zeros(0), *slopes]),
            np.concatenate([np.zeros((0, len(nothing))), *statistics]),
        )

    # A task is many sentences: handing one over takes as long as its envelope.
    blocks = np.array_split(np.arange(len(pool)), 4 * threads)
    done = ordered_map(lambda block: [of_sentence(sentence) for sentence in block.tolist()], blocks, threads)
    found = [lines for block in done for lines in block]
    sizes = [len(b) for b, _, _ in found]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    statistics = np.concatenate([s for _, _, s in found])
    features = scipy.sparse.csr_array((len(statistics), len(weights)))
    arrays = PoolArrays(offsets, features, statistics, nothing)
    return arrays, np.concatenate([b for b, _, _ in found]), np.concatenate([a for _, a, _ in found])


def _occurring(pool: ForestPool) -> set[int]:
    """The features that some edge has."""
    return {int(f) for forests in pool for forest in forests for f in np.unique(forest.features.indices)}


def hypergraph_mert(
    pool: ForestPool,
    metric: Metric,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: int,
    threads: int = 1,
    options: MertOptions | None = None,
) -> Climb:
    """The mean of climbs from the start; as `mert.mert`, but that features which occur in
    no forest are left alone."""
    if not start.any():
        raise ValueError("all weights are zero")
    chosen = OPTIONS if options is None else options
    columns = sorted(_occurring(pool) & set(free))

    def lines(weights: Array, direction: Array) -> tuple[PoolArrays, Array, Array]:
        return envelopes(pool, metric, weights, direction, threads)

    climbs = [
        climb(
            lines,
            metric,
            start,
            free=columns,
            bounds=bounds,
            seed=[seed, number],
            directions=chosen.directions,
            smoothing=chosen.smoothing,
        )
        for number in range(chosen.restarts + 1)
    ]
    return mean_of(climbs, start, free, bounds)
