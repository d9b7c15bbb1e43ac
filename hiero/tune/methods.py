"""The methods that choose weights, as the loop calls them: what each needs, its options and its defaults.

A method is a class of its options, made from one of the kinds below, which say what it learns from: k-best
lists, forests, or the metric alone. ``register`` adds one; docs/tuning.md has an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import Field

from hiero.base.progress import Report
from hiero.base.settings import Settings
from hiero.evaluate.metrics import Bleu, Metric
from hiero.tune import hypergraph_mert
from hiero.tune.annealing import Trace, minimise
from hiero.tune.found import Found, FoundForests, FoundInstances, FoundLists, FoundUnions
from hiero.tune.instances import SearchAware
from hiero.tune.limits import Limits
from hiero.tune.mert import Climb, MertOptions, mert
from hiero.tune.mira import OnlineMiraOptions, mira_pass
from hiero.tune.mira_batch import MiraOptions, mira_batch
from hiero.tune.pro import ProOptions, pro
from hiero.tune.protocol import Array, TuningDecoder
from hiero.tune.risk import Loss, RiskOptions, RiskSpace, UnclippedBleu, forest_problem, list_problem
from hiero.tune.simplex import next_point

F = TypeVar("F", bound=Found)
Iterations = Annotated[int, Field(ge=1, description="at most; the first judges the weights to start from")]
Patience = Annotated[int, Field(ge=1, description="iterations without a rise of the metric, to stop after")]
Climbs = Annotated[int, Field(ge=0, description="further climbs")]


@dataclass(frozen=True)
class Problem:
    """The data that all methods choose weights by: ``history``, the weights of all iterations so far, of
    which the last ones decoded last, ``scores``, what the metric of their best translations was, the features
    that may change and how far, and seeds of the run and of the iteration. Weights are float64 (features). A
    method that learns while it decodes has the decoder and a folder to keep what it goes on with."""

    metric: Metric
    history: Sequence[Array]
    scores: Sequence[float]
    limits: Limits
    run_seed: int
    seed: int
    threads: int
    decoder: TuningDecoder
    folder: Path
    progress: Report | None = None


class Method(Settings, ABC, Generic[F]):
    """A method with its options, how the loop is to treat it, and what of decoding it learns from."""

    # What it learns from; None: any metric.
    metric: ClassVar[type[Metric] | None] = None
    # Where decoding finds nothing new it has little more to say; others are on their way for a long time.
    settles: ClassVar[bool] = True

    iterations: Iterations = 20
    patience: Patience = 5

    @abstractmethod
    def nothing(self, metric: Metric, features: int) -> F:
        """Makes an empty accumulation, before anything is decoded."""

    @abstractmethod
    def choose(self, found: F, problem: Problem) -> Array | None:
        """The weights to decode with next; None when there is nothing left to try."""


class ListMethod(SearchAware, Method[FoundLists]):
    """Learns from k-best lists, and from partial derivations if it is search-aware."""

    k: int = Field(100, ge=1, description="distinct translations a sentence")

    def nothing(self, metric: Metric, features: int) -> FoundLists:
        if self.search_aware is None:
            return FoundLists(metric, features, self.k)
        if not isinstance(metric, Bleu):
            raise ValueError(f"search-aware tuning learns from {Bleu.name} alone")
        return FoundInstances(metric, features, self.k, self)


class ForestMethod(Method[FoundForests]):
    """Learns from forests."""

    def nothing(self, metric: Metric, features: int) -> FoundForests:
        return FoundForests(metric)


class DirectMethod(Method[FoundLists]):
    """Sees the metric alone, for which one translation a sentence is enough."""

    def nothing(self, metric: Metric, features: int) -> FoundLists:
        return FoundLists(metric, features, 1)


def _climbed(search: Callable[..., Climb], pool: Any, problem: Problem, options: MertOptions) -> Array:
    """The weights that either kind of MERT finds in a pool of its kind."""
    return search(
        pool,
        problem.metric,
        problem.history[-1],
        **problem.limits,
        seed=problem.seed,
        threads=problem.threads,
        options=options,
    ).weights


class Mert(MertOptions, ListMethod):
    def choose(self, found: FoundLists, problem: Problem) -> Array:
        return _climbed(mert, found.arrays(), problem, self)


class HypergraphMert(MertOptions, ForestMethod):
    restarts: Climbs = hypergraph_mert.OPTIONS.restarts

    def choose(self, found: FoundForests, problem: Problem) -> Array:
        return _climbed(hypergraph_mert.hypergraph_mert, found.forests, problem, self)


class Simplex(DirectMethod):
    settles: ClassVar[bool] = False

    iterations: Iterations = 200
    patience: Patience = 200
    restarts: int = Field(0, ge=0, description="further simplexes")
    free_scale: bool = Field(
        False,
        description="the simplex may change the sum of absolute weights, which threshold pruning depends on",
    )

    def choose(self, found: FoundLists, problem: Problem) -> Array | None:
        return next_point(
            problem.history,
            problem.scores,
            **problem.limits,
            normalize=not self.free_scale,
            restarts=self.restarts,
            seed=problem.run_seed,
        )


class Pro(ProOptions, ListMethod):
    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    # It moves a tenth of the way at a time.
    iterations: Iterations = 30
    patience: Patience = 10

    def choose(self, found: FoundLists, problem: Problem) -> Array:
        return pro(found.arrays(), problem.history[-1], **problem.limits, seed=problem.seed, options=self)


class MiraBatch(MiraOptions, ListMethod):
    metric: ClassVar[type[Metric] | None] = Bleu

    def choose(self, found: FoundLists, problem: Problem) -> Array:
        pool = found.arrays()
        return mira_batch(
            pool, problem.metric, problem.history[-1], **problem.limits, seed=problem.seed, options=self
        ).weights


class Mira(OnlineMiraOptions, DirectMethod):
    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    # The start, and after each pass over the set.
    iterations: Iterations = 10
    patience: Patience = 3

    def choose(self, found: FoundLists, problem: Problem) -> Array:
        assert isinstance(problem.metric, Bleu)
        return mira_pass(
            problem.decoder,
            problem.metric,
            problem.history[0],
            problem.folder,
            len(problem.history) - 1,
            **problem.limits,
            seed=problem.seed,
            threads=problem.threads,
            options=self,
            progress=problem.progress,
        )


class Risk(RiskOptions, Method[FoundLists | FoundUnions]):
    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    def nothing(self, metric: Metric, features: int) -> FoundLists | FoundUnions:
        assert isinstance(metric, Bleu)
        if self.space == "forest":
            return FoundUnions(metric, self.edges)
        return FoundLists(UnclippedBleu(metric), features, self.k)

    def objective(
        self, found: FoundLists | FoundUnions, metric: Metric, weights: Array, threads: int
    ) -> tuple[RiskSpace, Loss]:
        """Makes the space to minimise over, and the loss, which depends on what these weights choose."""
        assert isinstance(metric, Bleu)
        if isinstance(found, FoundUnions):
            return forest_problem(found.unions, metric, weights, self, threads)
        return list_problem(found.arrays(), weights, self)

    def choose(self, found: FoundLists | FoundUnions, problem: Problem) -> Array:
        start = problem.history[-1]
        space, loss = self.objective(found, problem.metric, start, problem.threads)
        trace = Trace(len(problem.history) - 1, problem.progress)
        weights = minimise(space, loss, start, **problem.limits, options=self, report=trace)
        trace.write(problem.folder)
        return weights


# By name, each with its defaults.
METHODS: dict[str, Method[Any]] = {
    "mert": Mert(),
    "hypergraph-mert": HypergraphMert(),
    "simplex": Simplex(),
    "pro": Pro(),
    "mira-batch": MiraBatch(),
    "mira": Mira(),
    "risk": Risk(),
}
_OWN = frozenset(METHODS)


def register(name: str, method: Method[Any]) -> None:
    """Adds a method, with its defaults, that ``TuneOptions`` then knows by that name, and so does ``hiero
    tune`` if ``hiero.cli.main`` is called by the same program.

    Raises ValueError for the name of one of this package's, TypeError for what is no method.
    """
    if not isinstance(method, Method):
        raise TypeError(f"{name}: expected an instance of a method, not {method!r}")
    if name in _OWN:
        raise ValueError(f"{name}: one of this package's methods has that name")
    METHODS[name] = method
