"""The methods that choose weights by a pool of k-best lists, as the loop calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.evaluate.metrics import Metric
from hiero.tune.mert import mert
from hiero.tune.mira_batch import mira_batch
from hiero.tune.pool import PoolArrays
from hiero.tune.pro import pro
from hiero.tune.protocol import Array


@dataclass(frozen=True)
class Problem:
    """What a method chooses weights by. ``history`` are the weights of all iterations so far, the last ones
    made the newest lists; ``free`` the features that may change, ``bounds`` (features, 2) how far."""

    pool: PoolArrays
    metric: Metric
    history: Sequence[Array]
    free: Sequence[int]
    bounds: Array
    seed: int
    threads: int


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


POOL_METHODS: Mapping[str, Callable[[Problem], Array]] = {
    "mert": _mert,
    "pro": _pro,
    "mira-batch": _mira_batch,
}
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
