"""Messages for wrong arguments: the expected type, the given value, and similar names."""

from __future__ import annotations

import difflib
import os
import reprlib
from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeVar

T = TypeVar("T")
Kinds = type[Any] | tuple[type[Any], ...]
# Types that can be iterated but stand for one value where a list of values is expected.
_SINGLE = (str, bytes, bytearray, os.PathLike, Mapping, Set)


def describe(value: object) -> str:
    """Describes a value in an error message: the string 'a', int 3, None."""
    if value is None:
        return "None"
    if isinstance(value, os.PathLike):
        return f"the path {reprlib.repr(os.fspath(value))}"
    kind, text = type(value).__name__, " ".join(reprlib.repr(value).split())
    if isinstance(value, str):
        return f"the string {text}"
    return text if kind in text else f"{kind} {text}"


def similar_names(name: str, names: Iterable[str]) -> list[str]:
    """Returns the names that are similar to an unknown one, or all names if none is similar."""
    candidates = list(names)
    return difflib.get_close_matches(name, candidates) or candidates


def checked_tuple(name: str, values: Iterable[T], kinds: Kinds, what: str) -> tuple[T, ...]:
    """Returns the values of an argument as a tuple. ``what`` describes the expected values in messages.

    Raises TypeError for a single value instead of a list, and for a value that is not one of ``kinds``.
    """
    if isinstance(values, _SINGLE) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a list of {what}, not {describe(values)}")
    items = tuple(values)
    for value in items:
        if not isinstance(value, kinds):
            raise TypeError(f"{name}: expected a list of {what}, not one with {describe(value)}")
    return items


def checked_dict(name: str, values: Mapping[str, T]) -> dict[str, T]:
    """Returns a copy of an argument that maps names to values. Raises TypeError if it is not a mapping."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name}: expected a mapping by names, not {describe(values)}")
    return dict(values)
