"""Weights files: one line ``Name value`` for each feature and ``#`` comment lines; or TOML."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from hiero._core import FormatError
from hiero.base.files import write_atomically

# Only ASCII white space separates fields. Names may contain other white space.
_FIELD = re.compile(r"\S+", re.ASCII)


def read_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """Reads a weights file. A file whose name ends in ``.toml`` is read as TOML.

    Raises FormatError, naming file and line, for a malformed line, a repeated name or a value that is not
    finite; OSError for a file that cannot be read.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{path}:{line}: invalid UTF-8") from None
    return _parse_toml(path, text) if path.suffix == ".toml" else _parse_lines(path, text)


def _parse_lines(path: Path, text: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        fields = _FIELD.findall(line)
        if not fields or line.startswith("#"):
            continue
        if len(fields) != 2:
            raise FormatError(f'{path}:{number}: expected "Name value", found {line.strip()!r}')
        name, value = fields
        if name in weights:
            raise FormatError(f"{path}:{number}: a second weight for {name}")
        weights[name] = _finite(value, name, f"{path}:{number}")
    return weights


def _parse_toml(path: Path, text: str) -> dict[str, float]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: {error}") from None
    return {name: _finite(value, name, str(path)) for name, value in table.items()}


def _finite(value: object, name: str, where: str) -> float:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise FormatError(f"{where}: weight of {name}: expected a number, found {value!r}")
    try:
        number = float(value)
    except ValueError:
        raise FormatError(f"{where}: weight of {name}: expected a number, found {value!r}") from None
    if not math.isfinite(number):
        raise FormatError(f"{where}: weight of {name} is not finite")
    return number


def write_weights(path: str | os.PathLike[str], weights: Mapping[str, float]) -> None:
    """Writes lines ``Name value`` in the order of the mapping. Values are exact to the last bit.

    Raises FormatError for names and values that could not be read again.
    """
    check_writable(weights)
    # The repr of a NumPy number contains its type.
    numbers = {name: _finite(float(value), name, os.fspath(path)) for name, value in weights.items()}
    write_atomically(path, "".join(f"{name} {number!r}\n" for name, number in numbers.items()))


def check_writable(names: Iterable[str]) -> None:
    """Raises FormatError for a feature name that a weights file cannot contain."""
    for name in names:
        if name.startswith("#") or not _FIELD.fullmatch(name):
            raise FormatError(f"feature {name!r}: a name has no white space and does not begin with #")
