"""A record of the files that this program made, in the directories that it keeps. It replaces them by
renaming, never in place. Such a file may have a second name in another directory.

What a user made may be rewritten at any time, and is copied.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

# Of a model directory: what files it has. Of a training's working directory: what each step made.
MANIFEST = "manifest.json"
STEPS = "steps.json"


def is_own(path: str | os.PathLike[str]) -> bool:
    """Whether the record of a model or a training beside a file names it."""
    path = Path(path)
    return not path.is_symlink() and path.name in (*_manifest(path.parent), *_made(path.parent))


def link_or_copy(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """A second name for a file of our own; a copy of a user's, or on another disk."""
    if is_own(source):
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copyfile(source, target)


def _manifest(directory: Path) -> Iterable[str]:
    record = _record(directory / MANIFEST)
    return _names(record, "files")


def _made(directory: Path) -> Iterable[str]:
    for step in _record(directory / STEPS).values():
        yield from _names(step, "outputs")


def _names(record: object, key: str) -> Iterable[str]:
    names = record.get(key) if isinstance(record, dict) else None
    return names if isinstance(names, dict) else ()


def _record(path: Path) -> dict[str, object]:
    """Reads such a record; an empty one where there is no file, or one of another program."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
