"""Small files, and folders that several tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

# Makes a folder by a name once for all workers that run tests: the fixture ``made_once``.
MadeOnce = Callable[[str, Callable[[Path], None]], Path]


def head(path: Path, lines: int) -> list[str]:
    """Returns the first lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()[:lines]


def write(path: Path, lines: Sequence[str]) -> Path:
    """Writes a line each, and returns the path."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path
