"""How a tuning run goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ValidationError

from hiero.base.arguments import nearest
from hiero.base.json_files import complaint
from hiero.tune.methods import METHODS, Method

# When a run stops makes no other run of it: it can go on.
_ENDS = frozenset({"iterations", "patience"})


@dataclass(frozen=True, init=False)
class TuneOptions:
    """A method by its name, with its options, and what is the same for all methods.

    ``METHODS[name]`` has the options of each method with their defaults; those that are None keep them.
    Features that are ``fixed`` are left alone, ``bounds`` are the least and greatest weights of others.

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
        """Raises ValueError for an unknown method, and for options that it does not take or cannot have;
        TypeError for options of no method."""
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}: expected one of {', '.join(METHODS)}")
        if seed < 0:
            raise ValueError(f"seed must be at least 0, not {seed}")
        values = (method, seed, tuple(fixed), dict(bounds or {}), _with(method, settings))
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    def __repr__(self) -> str:
        """The call that makes it, with what is not the default."""
        given: dict[str, object] = {}
        if self.seed != 1:
            given["seed"] = self.seed
        if self.fixed:
            given["fixed"] = self.fixed
        if self.bounds:
            given["bounds"] = dict(self.bounds)
        defaults = METHODS[self.method]
        given |= {name: value for name, value in self.settings if value != getattr(defaults, name)}
        return f"TuneOptions({', '.join([repr(self.method), *(f'{k}={v!r}' for k, v in given.items())])})"

    def with_seed(self, seed: int) -> TuneOptions:
        """The same with another seed."""
        return TuneOptions(
            self.method, seed=seed, fixed=self.fixed, bounds=self.bounds, **self.settings.model_dump()
        )

    def identity(self) -> dict[str, Any]:
        """All that makes another run of it."""
        return {
            "method": self.method,
            "seed": self.seed,
            "fixed": self.fixed,
            "bounds": self.bounds,
            **self.settings.model_dump(exclude=set(_ENDS)),
        }


def _with(name: str, settings: Mapping[str, object]) -> Method[Any]:
    """A method with these of its options."""
    kind = type(METHODS[name])
    known = {key for method in METHODS.values() for key in type(method).model_fields}
    if unknown := settings.keys() - known:
        near = ", ".join(nearest(min(unknown), known))
        raise TypeError(f"no method has an option {min(unknown)!r}: is it {near}?")
    # What is off is no option of those that do not have it.
    given = {
        key: value
        for key, value in settings.items()
        if value is not None and (value is not False or key in kind.model_fields)
    }
    for key in given.keys() - kind.model_fields.keys():
        having = [other for other, method in METHODS.items() if key in type(method).model_fields]
        raise ValueError(f"{name} takes no {key}: {', '.join(having)} take it")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        if "ge" in first.get("ctx", {}):
            least = first["ctx"]["ge"]
            raise ValueError(f"{first['loc'][0]} must be at least {least}, not {first['input']}") from None
        raise ValueError(complaint(error)) from None
