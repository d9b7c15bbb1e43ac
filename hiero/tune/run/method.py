"""A tuning method as the loop sees it, and the registry of methods.

A method is a class whose fields are its options: pydantic fields with a description, which become options of
``hiero tune``. Usually it is a subclass of a kind in ``hiero.tune.methods.kinds``. docs/tuning.md has an
example. Fields of one name in several methods are one option of ``hiero tune``: they have the same type and
limits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import Field

from hiero.base.progress import Report
from hiero.base.settings import Settings
from hiero.evaluate.metric import Metric
from hiero.tune.run.accumulated import Accumulated
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array, TuningDecoder

A = TypeVar("A", bound=Accumulated)
Iterations = Annotated[
    int, Field(ge=1, description="most iterations of a run; the first judges the weights to start from")
]
Patience = Annotated[
    int, Field(ge=1, description="iterations without a rise of the metric by more than chance, to stop after")
]
Chance = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="share of resampled tuning sets that may lack a rise of the metric which counts; 1: every"
        " rise counts",
    ),
]


@dataclass(frozen=True)
class TuningState:
    """The state of a run, from which a method chooses the next weights.

    ``history`` has the weights of all iterations so far, float64 (features) each, the last ones decoded last,
    and ``scores`` the metric of their best translations, in the sense that more is better. A method takes its
    random numbers from ``seed``, which differs between iterations, so that a run that goes on ends as it
    would have; ``run_seed`` is for a search that spans iterations. A method that learns while it decodes uses
    the decoder, and keeps its own files in the run's folder.
    """

    metric: Metric
    # The weights, float64 (features), from which most methods go on: those that decoded last, or after a fall
    # of a method that steps back, the best.
    weights: Array
    history: Sequence[Array]
    scores: Sequence[float]
    limits: Limits
    run_seed: int
    seed: int
    threads: int
    decoder: TuningDecoder
    folder: Path
    progress: Report | None = None


class Method(Settings, ABC, Generic[A]):
    """A method with its options: which hypotheses it learns from, and how it chooses weights from them."""

    # The metric that it learns from; None for any.
    metric: ClassVar[type[Metric] | None] = None
    # True: the run ends when decoding has given nothing new. False for a method that may find better weights
    # even then, because it moves in small steps or at random: such a run ends by its patience.
    settles: ClassVar[bool] = True

    @property
    def steps_back(self) -> bool:
        """Whether weights that decoded worse than the best by more than chance are left: the method goes on
        from the best then, by half a step, and by half of that after a further fall."""
        return False

    iterations: Iterations = 20
    patience: Patience = 3
    chance: Chance = 0.05

    @abstractmethod
    def empty(self, metric: Metric, features: int) -> A:
        """Returns the accumulated hypotheses of a run before anything is decoded."""

    @abstractmethod
    def choose(self, accumulated: A, state: TuningState) -> Array | None:
        """Returns the weights to decode with next, or None if there is nothing left to try.

        They keep ``state.limits``, and a method whose winners depend on the direction of weights alone keeps
        their length by ``Limits.with_length_of``.
        """


# Methods by name, each with its default options.
METHODS: dict[str, Method[Any]] = {}
_built_in: set[str] = set()


def register(name: str, method: Method[Any]) -> None:
    """Adds a method with its default options. ``TuneOptions`` then knows it by that name, and so does ``hiero
    tune`` if the same program calls ``hiero.cli.main``.

    Raises ValueError for the name of a method of this package, TypeError for a value that is no method.
    """
    if not isinstance(method, Method):
        raise TypeError(f"{name}: expected an instance of a method, not {method!r}")
    if name in _built_in:
        raise ValueError(f"{name}: one of this package's methods has that name")
    METHODS[name] = method


def register_built_in(methods: Mapping[str, Method[Any]]) -> None:
    """Adds methods of this package, whose names no other method may take."""
    METHODS.update(methods)
    _built_in.update(methods)
