"""Files of text by lines: plain, gzip and xz, told apart by content."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from typing import IO, cast

from hiero._core import FormatError

PathLike = str | os.PathLike[str]
# What reading a compressed file raises that is damaged or cut short.
DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


@contextlib.contextmanager
def open_source(path: PathLike) -> Iterator[IO[bytes]]:
    """Opens a plain, gzip or xz file for reading bytes.

    It is opened once, so that pipes (``/dev/stdin``) are read from their beginning.
    """
    with open(path, "rb") as file, unpacked(file) as source:
        yield source


@contextlib.contextmanager
def unpacked(file: io.BufferedReader) -> Iterator[IO[bytes]]:
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
    """Reads a whole file (plain, gzip or xz). Raises FormatError for a damaged compressed file."""
    with open_source(path) as file:
        try:
            return file.read()
        except DAMAGE as error:
            raise damaged(os.fspath(path), error) from None


def read_lines(path: PathLike) -> Iterator[str]:
    """The lines of a text file (plain, gzip, xz), without line ends.

    Raises FormatError naming the line that is not UTF-8, or a damaged compressed file.
    """
    with open_source(path) as file:
        try:
            for number, line in enumerate(file):
                try:
                    yield line_text(line, number)
                except UnicodeDecodeError:
                    raise FormatError(f"{os.fspath(path)}:{number + 1}: invalid UTF-8") from None
        except DAMAGE as error:
            raise damaged(os.fspath(path), error) from None


def count_lines(*paths: PathLike) -> int:
    """How many lines files (plain, gzip, xz) have together. Raises FormatError for damaged ones."""
    count = 0
    for path in paths:
        with open_source(path) as file:
            try:
                while block := file.read(1 << 20):
                    count += block.count(b"\n")
            except DAMAGE as error:
                raise damaged(os.fspath(path), error) from None
    return count


def line_text(line: bytes, number: int) -> str:
    """Line ``number``, from 0, of a file without its end, and without the byte order mark that some editors
    put before the first. Raises UnicodeDecodeError."""
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    return text.removeprefix("\ufeff") if number == 0 else text


def damaged(where: str, error: Exception) -> FormatError:
    """Makes the error to raise for one of ``DAMAGE``."""
    return FormatError(f"{where}: damaged or truncated compressed file: {error}")
