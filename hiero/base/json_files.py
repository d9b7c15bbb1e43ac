"""JSON that this program writes and reads again, and what pydantic says of values from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hiero._core import FormatError
from hiero.base.arguments import nearest

M = TypeVar("M", bound=BaseModel)


def read_json(path: Path, kind: type[M]) -> M:
    """A model of pydantic from a file that this program wrote. Raises FormatError for a damaged one."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise FormatError(f"{path}: damaged: {complaint(error)}") from None


def json_number(value: object) -> object:
    """A NumPy number or a read-only mapping as JSON has it, for ``json.dumps(default=...)``. Raises TypeError
    for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value: {value!r}")


def complaint(error: ValidationError, kind: type[BaseModel] | None = None) -> str:
    """The first thing that is wrong, and where; of a setting that ``kind`` has not, also what is near."""
    place, message = first_error(error, kind)
    where = ".".join(map(str, place))
    return f"{where}: {message}" if where else message


def first_error(
    error: ValidationError, kind: type[BaseModel] | None = None
) -> tuple[tuple[int | str, ...], str]:
    """The names of the field, from the outermost, and what is wrong there."""
    first = _first(error)
    place, message = first["loc"], first["msg"]
    if first["type"] == "value_error":  # an exception of our own
        message = message.removeprefix("Value error, ")
    elif first["type"] == "extra_forbidden":
        for part in place[:-1]:
            field = None if kind is None else kind.model_fields.get(str(part))
            kind = field.annotation if field is not None and is_model(field.annotation) else None
        message = _no_such_name(str(place[-1]), kind)
    return place, message


def is_of_type(error: ValidationError) -> bool:
    """Whether what ``complaint`` tells of is a value of a wrong type, or one that is not there."""
    return str(_first(error)["type"]).endswith(("_type", "missing"))


def _first(error: ValidationError) -> ErrorDetails:
    """A name that there is not, if there is such: others may be missing for it."""
    found = error.errors(include_url=False)
    return next((each for each in found if each["type"] == "extra_forbidden"), found[0])


def _no_such_name(name: str, kind: type[BaseModel] | None) -> str:
    """Says that a model has no field of this name and suggests similar names, also from nested models."""
    if kind is None:
        return "no such name"
    known = _names_of(kind)
    return f"no such name: is it {', '.join(known[each] for each in nearest(name, known))}?"


def _names_of(kind: type[BaseModel]) -> dict[str, str]:
    """The names of fields, and of those within them where they stand."""
    found: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        found[name] = name
        if is_model(field.annotation):
            for inner, path in _names_of(field.annotation).items():
                found.setdefault(inner, f"{name}.{path}")
    return found


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    """Whether a field's type is a model itself."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)
