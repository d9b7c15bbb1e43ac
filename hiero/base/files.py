"""Files that appear only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

# Errors of writing to an open file. They do not name the file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def temporary_name(path: Path) -> Path:
    """Returns a hidden name beside ``path``. ``working_directory`` removes files that keep such a name."""
    return path.with_name(f".{path.name}.hiero-{os.getpid()}-{secrets.token_hex(4)}")


def sync(path: str | os.PathLike[str]) -> None:
    """Waits until a file, or the list of files in a folder, is on the disk and survives a power failure.

    Does nothing for folders that cannot be opened, or if the file system cannot sync folders.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        if os.path.isdir(path):
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not (os.path.isdir(path) and error.errno in (errno.EINVAL, errno.ENOTSUP)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary file beside ``path`` to write to. It replaces ``path`` if the block succeeds.

    An OSError about the temporary file, or about a full disk, names ``path``.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise OSError(f"{path}: not a regular file")  # a device or pipe must not be replaced
    # The module tempfile would make the file private. Here the umask decides who may read it.
    name = temporary_name(path)
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield name
        sync(name)
        os.replace(name, path)
        sync(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            name.unlink()
        if isinstance(error, OSError) and (
            error.filename == str(name) or (error.filename is None and error.errno in _FULL)
        ):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Writes UTF-8 text with ``\\n`` line ends. The file appears only when it is complete."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
