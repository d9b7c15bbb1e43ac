"""Files of rule tables: packing text, opening packed tables, writing them as text, searching."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, cast

from hiero import _core
from hiero._core import RuleTable
from hiero.base.lines import open_source
from hiero.base.text import split

DEFAULT_MEMORY = 320 << 20
_MAGIC = b"HIERORT\n"
# A nonterminal without an index. Its label may contain commas.
_UNNUMBERED = re.compile(r"\[(?!.*,[0-9]+\])[^\[\]]+\]")


def pack(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    owner: str = "",
    span_limit: int = 0,
    memory: int = DEFAULT_MEMORY,
    filter_for: str | os.PathLike[str] | None = None,
    goal: str = "S",
    progress: Callable[[int], object] | None = None,
) -> None:
    """Packs a text grammar (plain, gzip, xz) or another packed table into the table ``output``.

    - ``source``: the grammar. A packed table keeps its owner and span limit unless others are given.
    - ``output``: the packed table. The file appears only when it is complete.
    - ``owner``: the name of the table in a model. If it is empty, the model names the table.
    - ``span_limit``: the maximum number of source words that a rule may cover; 0 for the decoder's limit.
    - ``memory``: the maximum number of bytes for sorting. It does not change the result.
    - ``filter_for``: a file of tokenised sentences, one per line. Only rules whose source side can match one
      of them are packed: its words occur in order, each nonterminal covers at least one word, and the
      rule covers at most ``span_limit`` words. Rules with the label ``goal`` may cover any number.
    - ``goal``: the label of rules that the decoder allows to cover any number of words.
    - ``progress``: called with the number of lines read.

    Raises FormatError naming file and line, ValueError for an owner that is not UTF-8, or OSError.
    """
    try:
        owner.encode()
    except UnicodeEncodeError:  # invalid bytes on the command line
        raise ValueError(f"owner {owner!r}: not UTF-8") from None
    with contextlib.ExitStack() as stack:
        if is_packed(source):
            table = RuleTable.open(os.fspath(source))
            owner, span_limit = owner or table.owner, span_limit or table.span_limit
            file = stack.enter_context(_as_text(table))
        else:
            file = stack.enter_context(open_source(source))
        sentences = None
        if filter_for is not None:
            sentences = (stack.enter_context(open_source(filter_for)), os.fspath(filter_for))
        name, target = os.fspath(source), os.fspath(output)
        _core.pack(file, name, target, owner, span_limit, memory, sentences, goal, progress)


def unpack(table: RuleTable, write: Callable[[bytes], object]) -> None:
    """Writes the rules of a table as text, sorted by source side."""
    _core.unpack(table, write)


def search(
    table: RuleTable, output: Callable[[str], object], *, prefix: str | None = None, target: str | None = None
) -> None:
    """Calls ``output`` with the text of every rule that matches, in the order of the table.

    If ``prefix`` is given, the source side must begin with its symbols. If ``target`` is given, the target
    side must be equal to it. Both are written as in rule text; nonterminals without an index are numbered
    from left to right. The search reads the complete table.
    """
    source = None if prefix is None else f"{_numbered(prefix)} ".encode()
    side = None if target is None else _numbered(target).encode()
    wanted = b" ||| " + (source or side or b"")  # a substring test is faster than splitting the line
    rest = b""

    def look(block: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if wanted not in line:
                continue
            _, left, right, _ = line.split(b" ||| ", 3)
            if (source is None or (left + b" ").startswith(source)) and (side is None or right == side):
                output(line.decode())

    unpack(table, look)


def _numbered(side: str) -> str:
    symbols, count = split(side), itertools.count(1)
    return " ".join(f"{s[:-1]},{next(count)}]" if _UNNUMBERED.fullmatch(s) else s for s in symbols)


class _CheckedStream:
    """A stream that another thread writes. If that thread fails, reading raises its exception at the end."""

    def __init__(self, stream: IO[bytes], written: Future[None]) -> None:
        self._stream = stream
        self._written = written

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        if not data:
            self._written.result()
        return data


@contextlib.contextmanager
def _as_text(table: RuleTable) -> Iterator[IO[bytes]]:
    """Yields a stream of the rules of a table as text, written by a thread."""
    reader, writer = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))

    def write() -> None:
        # The reader may close its end early.
        with contextlib.suppress(BrokenPipeError), writer:
            unpack(table, writer.write)

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        with reader:
            yield cast(IO[bytes], _CheckedStream(reader, written))


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file begins like a packed table."""
    if not os.path.isfile(path) and not os.path.isdir(path) and os.path.exists(path):
        return False  # a pipe can be read only once, and a packed table must be mapped
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def load_table(path: str | os.PathLike[str]) -> RuleTable:
    """Opens a packed table. A text grammar is packed into a temporary file first.

    Raises OSError for a file that cannot be read and FormatError for a malformed one.
    """
    if is_packed(path) or Path(path).suffix == ".hrt":
        return RuleTable.open(os.fspath(path))
    with tempfile.TemporaryDirectory(prefix="hiero-") as directory:
        packed = Path(directory) / "rules.hrt"
        pack(path, packed)
        return RuleTable.open(str(packed), os.fspath(path))  # stays mapped after the file is deleted
