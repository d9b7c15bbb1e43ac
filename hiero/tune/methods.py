"""The methods that choose weights, as the loop calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.evaluate.metrics import Metric
from hiero.tune.hypergraph_mert import ForestPool, hypergraph_mert
from hiero.tune.memory import ForestMemory, ListMemory, Memory
from hiero.tune.mert import MertOptions, mert
from hiero.tune.mira_batch import mira_batch
from hiero.tune.pool import PoolArrays
from hiero.tune.pro import pro
from hiero.tune.protocol import Array
from hiero.tune.simplex import next_point


@dataclass(frozen=True)
class Problem:
    """What a method chooses weights by: ``memory`` of the kind that it is made for, ``history``, the weights
    of all iterations so far, of which the last ones decoded last, ``scores``, what the metric of their best
    translations was, ``free``, the features that may change, ``bounds``, (features, 2), their least and
    greatest weights, ``restarts``, where the run says how many, and seeds of the run and of the iteration."""

    memory: Memory
    metric: Metric
    history: Sequence[Array]
    scores: Sequence[float]
    free: Sequence[int]
    bounds: Array
    free_scale: bool
    restarts: int | None
    run_seed: int
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

    @property
    def mert_options(self) -> MertOptions | None:
        """Of either kind of MERT; None for its own."""
        return None if self.restarts is None else MertOptions(restarts=self.restarts)


def _mert(problem: Problem) -> Array:
    return mert(
        problem.pool,
        problem.metric,
        problem.history[-1],
        free=problem.free,
        bounds=problem.bounds,
        seed=problem.seed,
        threads=problem.threads,
        options=problem.mert_options,
    ).weights


def _hypergraph_mert(problem: Problem) -> Array:
    return hypergraph_mert(
        problem.forests,
        problem.metric,
        problem.history[-1],
        free=problem.free,
        bounds=problem.bounds,
        seed=problem.seed,
        threads=problem.threads,
        options=problem.mert_options,
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


def _simplex(problem: Problem) -> Array | None:
    return next_point(
        problem.history,
        problem.scores,
        free=problem.free,
        bounds=problem.bounds,
        normalize=not problem.free_scale,
        restarts=problem.restarts or 0,
        seed=problem.run_seed,
    )


@dataclass(frozen=True)
class Method:
    """A method and how the loop is to treat it."""

    # The weights to decode with next; None when there is nothing left to try.
    choose: Callable[[Problem], Array | None]
    # It remembers forests, the others lists.
    forests: bool = False
    # It learns from sentence BLEU.
    bleu_only: bool = False
    # It sees the metric alone, for which one translation is enough.
    direct: bool = False
    # Where decoding finds nothing new it has little more to say; others are on their way for a long time.
    settles: bool = True
    # Of k, restarts and free_scale, those that mean something to it.
    takes: frozenset[str] = frozenset()
    # Unless the run says otherwise.
    iterations: int = 20
    patience: int = 5


METHODS: Mapping[str, Method] = {
    "mert": Method(_mert, takes=frozenset({"k", "restarts"})),
    "hypergraph-mert": Method(_hypergraph_mert, forests=True, takes=frozenset({"restarts"})),
    "simplex": Method(
        _simplex,
        direct=True,
        settles=False,
        takes=frozenset({"restarts", "free_scale"}),
        iterations=200,
        patience=200,
    ),
    # It moves a tenth of the way at a time.
    "pro": Method(_pro, bleu_only=True, settles=False, takes=frozenset({"k"}), iterations=30, patience=10),
    "mira-batch": Method(_mira_batch, bleu_only=True, takes=frozenset({"k"})),
}


# No sensible weight is larger.
GREATEST = 1e6


def troubled(weights: Array) -> str:
    """What is wrong with weights, if anything is: nothing sensible can be decoded with them."""
    if not np.isfinite(weights).all():
        return "a weight is not finite"
    if not weights.any():
        return "all weights are zero"
    if np.abs(weights).max() > GREATEST:
        return f"a weight has grown to {np.abs(weights).max():.3g}"
    return ""
