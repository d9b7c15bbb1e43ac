"""Options of a tuning run: the method with its options, and those that all methods share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ValidationError

from hiero.base.arguments import similar_names
from hiero.base.json_files import validation_message
from hiero.tune.run.method import METHODS, Method

# Options that may change when a run is taken up: they only say when it stops. In search-aware tuning, though,
# `chance` also says when weights go a half step back.
_STOPPING = frozenset({"iterations", "patience", "chance"})


@dataclass(frozen=True, init=False)
class TuneOptions:
    """Options of a run: the name of a method, its options (``settings``), and those that all methods share.

    ``METHODS[name]`` has the options of each method with their defaults; an option that is None keeps its
    default. Weights of ``fixed`` features stay as they are, ``bounds`` are the least and greatest weights of
    others.

    >>> TuneOptions("mert", k=30, iterations=4)
    TuneOptions('mert', iterations=4, k=30)
    """

    method: str
    seed: int
    fixed: tuple[str, ...]
    bounds: Mapping[str, tuple[float, float]]
    settings: Method[Any]

    def __init__(
        self,
        method: str = "mert",
        *,
        seed: int = 1,
        fixed: Sequence[str] = (),
        bounds: Mapping[str, tuple[float, float]] | None = None,
        **settings: object,
    ) -> None:
        """Raises ValueError for an unknown method, for options of other methods and for values that an option
        cannot have; TypeError for an option of no method."""
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}: expected one of {', '.join(METHODS)}")
        if seed < 0:
            raise ValueError(f"seed must be at least 0, not {seed}")
        values = (method, seed, tuple(fixed), dict(bounds or {}), _method_with(method, settings))
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    def __repr__(self) -> str:
        """Returns the call that makes these options, with those that differ from the defaults."""
        changed: dict[str, object] = {}
        if self.seed != 1:
            changed["seed"] = self.seed
        if self.fixed:
            changed["fixed"] = self.fixed
        if self.bounds:
            changed["bounds"] = dict(self.bounds)
        defaults = METHODS[self.method]
        changed |= {name: value for name, value in self.settings if value != getattr(defaults, name)}
        arguments = [repr(self.method), *(f"{name}={value!r}" for name, value in changed.items())]
        return f"TuneOptions({', '.join(arguments)})"

    def with_seed(self, seed: int) -> TuneOptions:
        """Returns the same options with another seed."""
        return TuneOptions(
            self.method, seed=seed, fixed=self.fixed, bounds=self.bounds, **self.settings.model_dump()
        )

    def identity(self) -> dict[str, Any]:
        """Returns the options that a run is recognised by: with others it would be another run."""
        stopping = _STOPPING - {"chance"} if self.settings.steps_back else _STOPPING
        return {
            "method": self.method,
            "seed": self.seed,
            "fixed": self.fixed,
            "bounds": self.bounds,
            **self.settings.model_dump(exclude=set(stopping)),
        }


def _method_with(name: str, settings: Mapping[str, object]) -> Method[Any]:
    """Makes a method with these options; None stands for the default."""
    kind = type(METHODS[name])
    every = {key for method in METHODS.values() for key in type(method).model_fields}
    if unknown := settings.keys() - every:
        near = ", ".join(similar_names(min(unknown), every))
        raise TypeError(f"no method has an option {min(unknown)!r}: is it {near}?")
    # A flag that is off may be given to methods that do not have it.
    given = {
        key: value
        for key, value in settings.items()
        if value is not None and (value is not False or key in kind.model_fields)
    }
    for key in given.keys() - kind.model_fields.keys():
        takers = [other for other, method in METHODS.items() if key in type(method).model_fields]
        raise ValueError(f"{name} takes no {key}, which is an option of {', '.join(takers)}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        if "ge" in first.get("ctx", {}):
            least = first["ctx"]["ge"]
            raise ValueError(f"{first['loc'][0]} must be at least {least}, not {first['input']}") from None
        raise ValueError(validation_message(error)) from None
