"""Tells files that this program wrote from files of the user.

This program never changes a file in place: it writes a new one and renames it. So a file that it wrote may be
shared with another directory by a hard link. Files of the user may change at any time and must be copied.
Models and trainings keep a record of the files that they wrote in their directories.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

# Records: the files of a model directory, and the outputs of each step of a training.
MANIFEST = "manifest.json"
STEPS = "steps.json"


def was_written_here(path: str | os.PathLike[str]) -> bool:
    """Returns whether a record of a model or training in the same directory lists the file."""
    path = Path(path)
    return not path.is_symlink() and path.name in (*_model_files(path.parent), *_step_outputs(path.parent))


def link_or_copy(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Makes a hard link to a file of this program. Copies files of the user, or to another disk."""
    if was_written_here(source):
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copyfile(source, target)


def _model_files(directory: Path) -> Iterable[str]:
    return _names(_read_record(directory / MANIFEST), "files")


def _step_outputs(directory: Path) -> Iterable[str]:
    for step in _read_record(directory / STEPS).values():
        yield from _names(step, "outputs")


def _names(record: object, key: str) -> Iterable[str]:
    names = record.get(key) if isinstance(record, dict) else None
    return names if isinstance(names, dict) else ()


def _read_record(path: Path) -> dict[str, object]:
    """Reads a record. Returns an empty one if there is no file, or a file of another program."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
