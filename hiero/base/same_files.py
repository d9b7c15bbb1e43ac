"""Files that are given twice by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hiero._core import FormatError
from hiero.base.files import sha256
from hiero.base.lines import PathLike


def same_files(paths: Iterable[PathLike]) -> Iterator[str]:
    """Yields a message for each file that has the content of an earlier one. Only files of the same size are
    read; empty ones are not compared. Raises OSError."""
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
                yield f"{name}: {'is given twice' if name == other else f'has the same content as {other}'}"
            first.setdefault(digest, path)


def check_different(paths: Iterable[PathLike]) -> None:
    """Raises FormatError if two files have the same content, OSError."""
    for message in same_files(paths):
        raise FormatError(f"{message}, where different files are expected")
