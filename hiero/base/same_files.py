"""Files that are given twice by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hiero._core import FormatError
from hiero.base.files import sha256
from hiero.base.lines import PathLike


def check_different(paths: Iterable[PathLike]) -> None:
    """Raises FormatError if two files have the same content. Only files of the same size are read; empty ones
    are not compared. Raises OSError."""
    by_size: dict[int, list[PathLike]] = {}
    for path in paths:
        if size := os.stat(path).st_size:
            by_size.setdefault(size, []).append(path)
    for group in by_size.values():
        first: dict[str, PathLike] = {}
        for path in group if len(group) > 1 else ():
            digest = sha256(Path(path))
            if digest in first:
                name, other = os.fspath(path), os.fspath(first[digest])
                again = "is given twice" if name == other else f"has the same content as {other}"
                raise FormatError(f"{name}: {again}, where different files are expected")
            first[digest] = path
