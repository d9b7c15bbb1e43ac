"""Weights files: one ``Name value`` a line with ``#`` comment lines, or TOML (``Name = value``)."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from hiero._core import FormatError
from hiero.base.files import write_atomically

# What ASCII's white space separates: names may hold other kinds.
_FIELD = re.compile(r"\S+", re.ASCII)


def read_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """Reads a weights file; one whose name ends in ``.toml`` as TOML.

    Raises FormatError, naming file and line, for a malformed line, a name given twice or a value that
    is not finite; OSError for a file that cannot be read.
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
    """Writes ``Name value`` lines, values exact to the last bit, in the order of the mapping. Raises
    FormatError for names and values that could not be read again."""
    check_writable(weights)
    # NumPy's numbers say what they are where they are written as they are.
    numbers = {name: _finite(float(value), name, os.fspath(path)) for name, value in weights.items()}
    write_atomically(path, "".join(f"{name} {number!r}\n" for name, number in numbers.items()))


def check_writable(names: Iterable[str]) -> None:
    """Raises FormatError unless a weights file can hold weights of these names."""
    for name in names:
        if name.startswith("#") or not _FIELD.fullmatch(name):
            raise FormatError(f"feature {name!r}: a name has no white space and does not begin with #")
