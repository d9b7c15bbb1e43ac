"""The methods that choose weights, as the loop calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.evaluate.metrics import Metric
from hiero.tune.hypergraph_mert import ForestPool, hypergraph_mert
from hiero.tune.memory import ForestMemory, ListMemory, Memory
from hiero.tune.mert import mert
from hiero.tune.mira_batch import mira_batch
from hiero.tune.pool import PoolArrays
from hiero.tune.pro import pro
from hiero.tune.protocol import Array


@dataclass(frozen=True)
class Problem:
    """What a method chooses weights by: ``memory`` of the kind that it is made for, ``history``, the weights
    of all iterations so far, of which the last ones decoded last, ``free``, the features that may change,
    and ``bounds``, (features, 2), their least and greatest weights."""

    memory: Memory
    metric: Metric
    history: Sequence[Array]
    free: Sequence[int]
    bounds: Array
    seed: int
    threads: int

    @property
    def pool(self) -> PoolArrays:
        assert isinstance(self.memory, ListMemory)
        return self.memory.arrays()

    @property
    def forests(self) -> ForestPool:
        assert isinstance(self.memory, ForestMemory)
        return self.memory.forests


def _mert(problem: Problem) -> Array:
    newest_first = list(problem.history[::-1])
    return mert(
        problem.pool,
        problem.metric,
        newest_first,
        free=problem.free,
        bounds=problem.bounds,
        seed=problem.seed,
        threads=problem.threads,
    ).weights


def _hypergraph_mert(problem: Problem) -> Array:
    return hypergraph_mert(
        problem.forests,
        problem.metric,
        [problem.history[-1]],
        free=problem.free,
        bounds=problem.bounds,
        seed=problem.seed,
        threads=problem.threads,
    ).weights


def _pro(problem: Problem) -> Array:
    return pro(problem.pool, problem.history[-1], free=problem.free, bounds=problem.bounds, seed=problem.seed)


def _mira_batch(problem: Problem) -> Array:
    return mira_batch(
        problem.pool,
        problem.metric,
        problem.history[-1],
        free=problem.free,
        bounds=problem.bounds,
        seed=problem.seed,
    ).weights


METHODS: Mapping[str, Callable[[Problem], Array]] = {
    "mert": _mert,
    "hypergraph-mert": _hypergraph_mert,
    "pro": _pro,
    "mira-batch": _mira_batch,
}
# These remember forests, the others lists.
FOREST_METHODS = frozenset({"hypergraph-mert"})
# These learn from sentence BLEU.
BLEU_ONLY = frozenset({"pro", "mira-batch"})


def troubled(weights: Array) -> str:
    """What is wrong with weights, if anything is: nothing sensible can be decoded with them."""
    if not np.isfinite(weights).all():
        return "a weight is not finite"
    if not weights.any():
        return "all weights are zero"
    if np.abs(weights).max() > 1e6:
        return f"a weight has grown to {np.abs(weights).max():.3g}"
    return ""
