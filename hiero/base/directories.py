"""Directories that one process works in, that are made aside, and that take another's place in one step."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hiero import _core
from hiero._core import FormatError
from hiero.base.files import sync, temporary_name, write_atomically
from hiero.base.json_files import json_number

# What ``temporary_name``, ``temporary_folder`` and the core's output files make, with the process's number.
_LEFTOVER = re.compile(r"\.(.+)\.hiero-\d+-[a-z0-9_]+")


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """A hidden folder beside ``path``, removed in the end; it has such a name too.

    First those of its kind are removed that killed processes left; a living one holds its own.
    """
    for other in path.parent.iterdir():
        match = _LEFTOVER.fullmatch(other.name)
        if match is not None and match[1] == path.name and other.is_dir() and not other.is_symlink():
            with contextlib.suppress(OSError), exclusive(other):
                shutil.rmtree(other)
    with contextlib.ExitStack() as stack:
        folder, held = _held_folder(path)
        stack.callback(os.close, held)
        stack.callback(shutil.rmtree, folder)
        yield folder


def _held_folder(path: Path) -> tuple[Path, int]:
    """A new folder for ``temporary_folder``, and the open file by which this process holds it."""
    while True:
        folder = temporary_name(path)
        folder.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            held = os.open(folder, os.O_RDONLY)
            with contextlib.suppress(OSError):  # where there are no locks, nothing is removed either
                fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                return folder, held
            os.close(held)
        # Another process took it for what a killed one left, before it was held.


def publish(made: Path, path: Path) -> None:
    """Gives a directory the name ``path`` when all of it is on the disk; what had the name takes the other.

    There is no moment, not even of a power failure, without the old directory or the new one under the name.
    Raises OSError naming ``path``, with both as they were, where the file system cannot exchange directories.
    """
    for folder, _, files in os.walk(made):
        for name in files:
            sync(os.path.join(folder, name))
        sync(folder)
    try:
        os.rename(made, path)  # of a free name or an empty directory
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise OSError(error.errno, f"on another disk than {made.parent}", str(path)) from None
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        _exchange(made, path)
    sync(path.parent)


def _exchange(made: Path, path: Path) -> None:
    try:
        _core.exchange(str(made), str(path))
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise OSError(error.errno, error.strerror, str(path)) from None
        hint = "cannot be replaced in one step on this file system; move the old one away first"
        raise OSError(error.errno, hint, str(path)) from None


@contextlib.contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Holds a directory for this process alone. Raises OSError where another one holds it."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(error.errno, "another process is at work here", str(directory)) from None
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def working_directory(directory: Path, record: str, first: str) -> Iterator[Path]:
    """A directory, made if need be, that this process alone works in; the path of its ``record``.

    A new one gets a record with the text ``first``. What an interrupted process left half-made under a
    temporary name is removed. Raises FileExistsError for a directory that holds files but
    no record, which stays as it is, and OSError where another process is at work.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with exclusive(directory):
        path = directory / record
        if not path.exists():
            # All that a process can have left that was killed before it had a record.
            left = (_LEFTOVER.fullmatch(other.name) for other in directory.iterdir())
            if not all(name is not None and name[1] == record for name in left):
                raise FileExistsError(errno.EEXIST, f"exists and has no {record}", str(directory))
            write_atomically(path, first)
        for other in directory.glob(".*"):
            if not _LEFTOVER.fullmatch(other.name):
                continue
            if other.is_dir() and not other.is_symlink():
                shutil.rmtree(other)
            else:
                other.unlink()
        yield path


@contextlib.contextmanager
def run_directory(
    directory: Path, record: str, settings: Mapping[str, Any], begun: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """A ``working_directory`` of a run with these settings, which its ``record`` holds as JSON.

    Raises FormatError where the directory holds another run, which has ``begun`` to make what is worth
    keeping, and as ``working_directory`` does.
    """
    text = json.dumps(settings, indent=1, ensure_ascii=False, default=json_number) + "\n"
    with working_directory(directory, record, text) as path:
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            found = None
        if found != json.loads(text):
            if begun():
                where = ", ".join([record, *differing(found, json.loads(text))])
                raise FormatError(f"{directory}: holds another run, see {where}; choose another directory")
            write_atomically(path, text)
        yield


def differing(found: Any, expected: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Names of settings, as JSON has them, that are not as expected."""
    if not isinstance(found, dict):
        return
    for name in sorted(found.keys() | expected.keys()):
        one, other = found.get(name), expected.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differing(one, other, f"{within}{name}.")
        elif one != other:
            yield f"{within}{name}"
