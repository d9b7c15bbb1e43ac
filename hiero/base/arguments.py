"""Messages for wrong arguments: the expected type, the given value, and similar names."""

from __future__ import annotations

import difflib
import os
import reprlib
from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeVar

T = TypeVar("T")
Kinds = type[Any] | tuple[type[Any], ...]
# What has parts, but is one thing where several are expected.
_SINGLE = (str, bytes, bytearray, os.PathLike, Mapping, Set)


def described(value: object) -> str:
    """A value as messages name it: the string 'a', int 3, None."""
    if value is None:
        return "None"
    if isinstance(value, os.PathLike):
        return f"the path {reprlib.repr(os.fspath(value))}"
    kind, text = type(value).__name__, " ".join(reprlib.repr(value).split())
    if isinstance(value, str):
        return f"the string {text}"
    return text if kind in text else f"{kind} {text}"


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names that a wrong one may have been meant for: those that are like it, else all."""
    every = list(names)
    return difflib.get_close_matches(name, every) or every


def several(name: str, values: Iterable[T], kinds: Kinds, what: str) -> tuple[T, ...]:
    """The values of an argument that takes several of some kinds, ``what`` in words. Raises TypeError for a
    single one in their place, and for a value of another kind."""
    if isinstance(values, _SINGLE) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a list of {what}, not {described(values)}")
    found = tuple(values)
    for value in found:
        if not isinstance(value, kinds):
            raise TypeError(f"{name}: expected a list of {what}, not one with {described(value)}")
    return found


def by_name(name: str, values: Mapping[str, T]) -> dict[str, T]:
    """A copy of an argument that is a mapping by names. Raises TypeError for anything else."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name}: expected a mapping by names, not {described(values)}")
    return dict(values)
