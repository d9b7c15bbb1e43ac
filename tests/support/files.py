"""Reads and writes small files, and types for folders that several tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

# The type of the fixture ``shared_folder``: makes a folder with a name once for all workers that run tests.
SharedFolder = Callable[[str, Callable[[Path], None]], Path]


def head(path: Path, lines: int) -> list[str]:
    """Returns the first lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()[:lines]


def write(path: Path, lines: Sequence[str]) -> Path:
    """Writes lines to a file and returns its path."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path
