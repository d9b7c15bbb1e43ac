"""JSON that this program writes and reads again, and what pydantic says of values from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from hiero._core import FormatError

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


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    place, message = first_error(error)
    where = ".".join(map(str, place))
    return f"{where}: {message}" if where else message


def first_error(error: ValidationError) -> tuple[tuple[int | str, ...], str]:
    """The names of the field, from the outermost, and what is wrong there."""
    first = error.errors(include_url=False)[0]
    return first["loc"], first["msg"].removeprefix("Value error, ")  # of an exception of our own
