"""Lines of text files: plain, gzip or xz, recognised by content."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from typing import IO, cast

from hiero._core import FormatError

PathLike = str | os.PathLike[str]
# Exceptions raised when a compressed file is damaged or cut short.
DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


@contextlib.contextmanager
def open_source(path: PathLike) -> Iterator[IO[bytes]]:
    """Opens a plain, gzip or xz file for reading bytes.

    The file is opened only once, so pipes such as ``/dev/stdin`` work.
    """
    with open(path, "rb") as file, decompressed(file) as source:
        yield source


@contextlib.contextmanager
def decompressed(file: io.BufferedReader) -> Iterator[IO[bytes]]:
    """Yields a stream of the decompressed content of an open plain, gzip or xz file."""
    start = file.peek(6)
    if start.startswith(b"\x1f\x8b"):
        with gzip.open(file, "rb") as unzipped:
            yield cast(IO[bytes], unzipped)
    elif start.startswith(b"\xfd7zXZ\x00"):
        with lzma.open(file, "rb") as decompressed:
            yield decompressed
    else:
        yield file


def read_bytes(path: PathLike) -> bytes:
    """Reads the content of a file (plain, gzip or xz). Raises FormatError for a damaged compressed file."""
    with open_source(path) as file:
        try:
            return file.read()
        except DAMAGE as error:
            raise damage_error(os.fspath(path), error) from None


def read_lines(path: PathLike) -> Iterator[str]:
    """Yields the lines of a text file (plain, gzip or xz) without line ends.

    Raises FormatError, naming the line, for invalid UTF-8; also for a damaged compressed file.
    """
    with open_source(path) as file:
        try:
            for number, line in enumerate(file):
                try:
                    yield line_text(line, number)
                except UnicodeDecodeError:
                    raise FormatError(f"{os.fspath(path)}:{number + 1}: invalid UTF-8") from None
        except DAMAGE as error:
            raise damage_error(os.fspath(path), error) from None


def count_lines(*paths: PathLike) -> int:
    """Returns the total number of lines of files (plain, gzip, xz), also of a last one without an end. Raises
    FormatError for damaged files."""
    count = 0
    for path in paths:
        with open_source(path) as file:
            last = b"\n"
            try:
                while block := file.read(1 << 20):
                    count += block.count(b"\n")
                    last = block[-1:]
                count += last != b"\n"
            except DAMAGE as error:
                raise damage_error(os.fspath(path), error) from None
    return count


def line_text(line: bytes, number: int) -> str:
    """Decodes line ``number`` of a file, counted from 0, and removes its line end.

    A byte order mark at the beginning of the file is removed. Raises UnicodeDecodeError.
    """
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    return text.removeprefix("\ufeff") if number == 0 else text


def damage_error(where: str, error: Exception) -> FormatError:
    """Returns the error to raise for an exception in ``DAMAGE``."""
    return FormatError(f"{where}: damaged or truncated compressed file: {error}")


def check_read_twice(path: PathLike) -> None:
    """Raises OSError for a file that cannot be read, or only once, like a pipe."""
    kind = os.stat(path).st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise OSError(errno.ESPIPE, "not a regular file, and is to be read twice", os.fspath(path))
    with open(path, "rb"):
        pass
