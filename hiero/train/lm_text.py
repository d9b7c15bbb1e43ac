"""The text for a language model, in blocks of checked lines.

Lines are tokenised sentences. They are passed on unchanged, with a newline at the end; empty lines are
skipped. The words ``<s>``, ``</s>`` and ``<unk>`` have a special meaning in KenLM, and its models treat
``<UNK>`` as ``<unk>``. If a text contains them, they are errors or are removed.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from hiero._core import FormatError
from hiero.base.lines import DAMAGE, damage_error, open_source

RESERVED = (b"<s>", b"</s>", b"<unk>", b"<UNK>")
# Words are separated by the same characters as in KenLM.
_RESERVED_WORD = re.compile(rb"(?<![^\0\t\n\r ])(?:%s)(?![^\0\t\n\r ])" % b"|".join(RESERVED))
_BLANKS = b"\0\t\n\v\f\r "
_BLOCK = 1 << 20


@dataclass
class LineCounts:
    """Counts of the lines read so far."""

    sentences: int = 0
    reserved_words: int = 0


def checked_blocks(
    path: str | os.PathLike[str], counts: LineCounts, *, skip_reserved: bool
) -> Iterator[bytes]:
    """Yields the lines of a plain, gzip or xz file in blocks of about a megabyte.

    Raises FormatError, naming file and line, for invalid UTF-8 and for reserved words that are not skipped;
    OSError for a file that cannot be read.
    """
    with open_source(path) as file:
        number = 0
        while lines := _read(file, path):
            read = len(lines)
            _check_utf8(lines, path, number)
            if number == 0:
                lines[0] = lines[0].removeprefix(BOM_UTF8)
            if not lines[-1].endswith(b"\n"):
                lines[-1] += b"\n"
            block = b"".join(lines)
            if any(word in block for word in RESERVED):
                lines = _remove_reserved(lines, path, number, counts, skip_reserved)
            lines = [line for line in lines if line.strip(_BLANKS)]
            counts.sentences += len(lines)
            number += read
            yield b"".join(lines)


def _read(file: IO[bytes], path: str | os.PathLike[str]) -> list[bytes]:
    try:
        return file.readlines(_BLOCK)
    except DAMAGE as error:
        raise damage_error(os.fspath(path), error) from None


def _check_utf8(lines: list[bytes], path: str | os.PathLike[str], before: int) -> None:
    try:
        b"".join(lines).decode()
    except UnicodeDecodeError:
        for number, line in enumerate(lines, before + 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                raise FormatError(f"{os.fspath(path)}:{number}: invalid UTF-8") from None


def _remove_reserved(
    lines: list[bytes], path: str | os.PathLike[str], before: int, counts: LineCounts, skip: bool
) -> list[bytes]:
    cleaned = []
    for number, line in enumerate(lines, before + 1):
        word = _RESERVED_WORD.search(line)
        if word and not skip:
            raise FormatError(
                f"{os.fspath(path)}:{number}: "
                f"{word[0].decode()} may not occur in the text of a language model"
            )
        cleaned_line, removed = _RESERVED_WORD.subn(b"", line)
        counts.reserved_words += removed
        cleaned.append(cleaned_line)
    return cleaned
