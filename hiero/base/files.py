"""Files that are either there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

# What writing to an open file raises, without its name.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def temporary_name(path: Path) -> Path:
    """A hidden name beside ``path``, by which ``working_directory`` knows what a killed process left."""
    return path.with_name(f".{path.name}.hiero-{os.getpid()}-{secrets.token_hex(4)}")


def sync(path: str | os.PathLike[str]) -> None:
    """Waits until a file, or the names in a folder, are on the disk: what is only written or renamed outlives
    no power failure. Folders that cannot be opened, or of file systems that sync none, are left alone.
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
    """A temporary file beside ``path`` to write to; it takes the name if the block ends well.

    An OSError of the temporary file, or of a full disk, names ``path``.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise OSError(f"{path}: not a regular file")  # a device or pipe must not be replaced
    # Not tempfile's, which makes files private: the umask says who may read them.
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
    """Writes UTF-8 text with ``\\n`` line ends, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
