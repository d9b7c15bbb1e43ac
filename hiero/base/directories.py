"""Directories that one process works in, or that replace an older one in a single step."""

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

# Names made by ``temporary_name`` and by the output files of the core. They contain a process number.
_LEFTOVER = re.compile(r"\.(.+)\.hiero-\d+-[a-z0-9_]+")


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yields a new hidden folder beside ``path`` and removes it at the end. Its name is temporary, too.

    First removes the temporary folders of ``path`` that killed processes left behind. Folders of running
    processes are locked and stay.
    """
    for other in path.parent.iterdir():
        match = _LEFTOVER.fullmatch(other.name)
        if match is not None and match[1] == path.name and other.is_dir() and not other.is_symlink():
            with contextlib.suppress(OSError), exclusive(other):
                shutil.rmtree(other)
    with contextlib.ExitStack() as stack:
        folder, lock = _locked_folder(path)
        stack.callback(os.close, lock)
        # Processes elsewhere may still write into it after an error. What is left is removed the next time.
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def _locked_folder(path: Path) -> tuple[Path, int]:
    """Makes a folder for ``temporary_folder``. Returns it with the descriptor that holds its lock."""
    while True:
        folder = temporary_name(path)
        folder.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            with contextlib.suppress(OSError):  # without locks, no process removes the folder of another
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)
        # Another process removed the folder before it was locked: try again.


def publish(staging: Path, path: Path) -> None:
    """Writes a directory to disk and renames it to ``path``. An old file or directory there takes its name.

    At every moment, even if the power fails, ``path`` is either the old directory or the new one.
    Raises OSError naming ``path``, and changes nothing, if the file system cannot exchange directories.
    """
    for folder, _, files in os.walk(staging):
        for name in files:
            sync(os.path.join(folder, name))
        sync(folder)
    try:
        os.rename(staging, path)  # succeeds if the name is free or is an empty directory
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise OSError(error.errno, f"on another disk than {staging.parent}", str(path)) from None
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        _exchange(staging, path)
    sync(path.parent)


def _exchange(staging: Path, path: Path) -> None:
    try:
        _core.exchange(str(staging), str(path))
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise OSError(error.errno, error.strerror, str(path)) from None
        hint = "cannot be replaced in one step on this file system; move the old one away first"
        raise OSError(error.errno, hint, str(path)) from None


@contextlib.contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Locks a directory for this process. Raises OSError if another process holds the lock."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(error.errno, "another process is using this directory", str(directory)) from None
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def working_directory(directory: Path, record: str, first: str) -> Iterator[Path]:
    """Yields the path of the file ``record`` in a directory that is locked for this process.

    Makes the directory if it does not exist; a new record gets the text ``first``. Removes the temporary
    files that interrupted processes left behind. Raises FileExistsError, and changes nothing, if the
    directory contains files but no record; OSError if another process is using it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with exclusive(directory):
        check_working_directory(directory, record)
        path = directory / record
        if not path.exists():
            write_atomically(path, first)
        for other in directory.glob(".*"):
            if not _LEFTOVER.fullmatch(other.name):
                continue
            if other.is_dir() and not other.is_symlink():
                shutil.rmtree(other)
            else:
                other.unlink()
        yield path


def check_working_directory(directory: Path, record: str) -> None:
    """Raises FileExistsError if the directory contains files but no record."""
    if not directory.exists() or (directory / record).exists():
        return
    # Only a temporary file of the record may be left by a process that was killed early.
    left = (_LEFTOVER.fullmatch(other.name) for other in directory.iterdir())
    if not all(name is not None and name[1] == record for name in left):
        raise FileExistsError(errno.EEXIST, f"exists and has no {record}", str(directory))


@contextlib.contextmanager
def run_directory(
    directory: Path, record: str, settings: Mapping[str, Any], has_results: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """Locks the ``working_directory`` of a run. Its ``record`` holds the settings of the run as JSON.

    Raises FormatError if the directory holds a run with other settings and ``has_results()`` says that the
    results of that run are worth keeping. Raises the errors of ``working_directory``, too.
    """
    text = json.dumps(settings, indent=1, ensure_ascii=False, default=json_number) + "\n"
    with working_directory(directory, record, text) as path:
        try:
            recorded = json.loads(path.read_bytes())
        except ValueError:
            recorded = None
        if recorded != json.loads(text):
            if has_results():
                where = ", ".join([record, *changed_settings(recorded, json.loads(text))])
                raise FormatError(
                    f"{directory}: holds another run, see {where}; choose another directory or remove it"
                )
            write_atomically(path, text)
        yield


def changed_settings(recorded: Any, expected: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yields the names of settings, read from JSON, that differ from the expected ones."""
    if not isinstance(recorded, dict):
        return
    for name in sorted(recorded.keys() | expected.keys()):
        old, new = recorded.get(name), expected.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from changed_settings(old, new, f"{prefix}{name}.")
        elif old != new:
            yield f"{prefix}{name}"
