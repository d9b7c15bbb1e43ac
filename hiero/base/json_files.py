"""JSON files of this program, and short messages for pydantic's validation errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hiero._core import FormatError
from hiero.base.arguments import similar_names

M = TypeVar("M", bound=BaseModel)


def read_json(path: Path, kind: type[M]) -> M:
    """Reads a pydantic model from a file that this program wrote. Raises FormatError if it is damaged."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise FormatError(f"{path}: damaged: {validation_message(error)}") from None


def json_number(value: object) -> object:
    """Converts a NumPy number or a read-only mapping for ``json.dumps(default=json_number)``.

    Raises TypeError for other types.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value: {value!r}")


def validation_message(error: ValidationError, kind: type[BaseModel] | None = None) -> str:
    """Returns the first error with its place. For an unknown setting of ``kind``, suggests similar names."""
    place, message = first_error(error, kind)
    where = ".".join(map(str, place))
    return f"{where}: {message}" if where else message


def first_error(
    error: ValidationError, kind: type[BaseModel] | None = None
) -> tuple[tuple[int | str, ...], str]:
    """Returns the place of the first error, as field names from the outside in, and its message."""
    first = _first(error)
    place, message = first["loc"], first["msg"]
    if first["type"] == "value_error":  # raised by a validator of this package
        message = message.removeprefix("Value error, ")
    elif first["type"] == "extra_forbidden":
        for part in place[:-1]:
            field = None if kind is None else kind.model_fields.get(str(part))
            kind = field.annotation if field is not None and is_model(field.annotation) else None
        message = _no_such_name(str(place[-1]), kind)
    return place, message


def is_type_error(error: ValidationError) -> bool:
    """Returns whether the first error is a value of a wrong type or a missing value."""
    return str(_first(error)["type"]).endswith(("_type", "missing"))


def _first(error: ValidationError) -> ErrorDetails:
    """Returns the first unknown name, or else the first error. A misspelt name also causes missing ones."""
    errors = error.errors(include_url=False)
    return next((detail for detail in errors if detail["type"] == "extra_forbidden"), errors[0])


def _no_such_name(name: str, kind: type[BaseModel] | None) -> str:
    """Returns the message for an unknown field name. It suggests similar names, also of nested models."""
    if kind is None:
        return "no such name"
    paths = _field_paths(kind)
    return f"no such name: is it {', '.join(paths[match] for match in similar_names(name, paths))}?"


def _field_paths(kind: type[BaseModel]) -> dict[str, str]:
    """Maps the names of fields, also of nested models, to their paths, such as ``order`` to ``lm.order``."""
    paths: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        paths[name] = name
        if is_model(field.annotation):
            for inner, path in _field_paths(field.annotation).items():
                paths.setdefault(inner, f"{name}.{path}")
    return paths


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    """Returns whether a field's type is a pydantic model."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)
