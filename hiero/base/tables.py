"""Rule tables as files: packing text, opening packed tables, writing them back as text."""

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
# A nonterminal without an index; its label may have commas.
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
    """Packs a text grammar (plain, gzip, xz) into the table ``output``, which appears when whole.

    A packed table is packed again, with its own owner and span limit where none are given. ``owner`` names
    the table ("": the loader does), ``span_limit`` bounds the source words its rules may cover (0: the
    decoder's limit). ``memory`` bounds the bytes of rules being sorted; the result is the same for any.
    ``filter_for`` names a text of sentences in tokens, one a line: only rules are kept whose source side can
    match one of them, words in order, each nonterminal standing for a word or more, all of it within the
    span limit unless the rule's label is ``goal``, of which the decoder lets rules span any length.
    ``progress`` is called with the number of lines read.
    Raises FormatError naming file and line, ValueError for an owner that is not UTF-8, or OSError.
    """
    try:
        owner.encode()
    except UnicodeEncodeError:  # of bytes of a command line
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
    """Writes a table's rules as text, sorted by source side."""
    _core.unpack(table, write)


def search(
    table: RuleTable, found: Callable[[str], object], *, prefix: str | None = None, target: str | None = None
) -> None:
    """Calls ``found`` with the rules, as text in the table's order, whose source side begins with the symbols
    of ``prefix``, and whose target side is ``target``, where these are given.

    Sides are written as in rule text; nonterminals without a number are numbered as they come. All rules are
    looked through.
    """
    source = None if prefix is None else f"{_numbered(prefix)} ".encode()
    side = None if target is None else _numbered(target).encode()
    wanted = b" ||| " + (source or side or b"")  # for a quick look
    rest = b""

    def look(block: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if wanted not in line:
                continue
            _, left, right, _ = line.split(b" ||| ", 3)
            if (source is None or (left + b" ").startswith(source)) and (side is None or right == side):
                found(line.decode())

    unpack(table, look)


def _numbered(side: str) -> str:
    symbols, count = split(side), itertools.count(1)
    return " ".join(f"{s[:-1]},{next(count)}]" if _UNNUMBERED.fullmatch(s) else s for s in symbols)


class _WholeStream:
    """A stream that a thread writes: where the thread fails, reading does, instead of coming to an end."""

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
    """A table's rules as a file to read from, which a thread writes."""
    reader, writer = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))

    def write() -> None:
        # A reader that has had enough closes its end.
        with contextlib.suppress(BrokenPipeError), writer:
            unpack(table, writer.write)

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        with reader:
            yield cast(IO[bytes], _WholeStream(reader, written))


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as packed tables do."""
    if not os.path.isfile(path) and not os.path.isdir(path) and os.path.exists(path):
        return False  # a pipe can be read once, and a packed table must be mapped
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def load_table(path: str | os.PathLike[str]) -> RuleTable:
    """Opens a packed table; a text grammar is packed to a temporary file first.

    Raises OSError for a file that cannot be read and FormatError for a malformed one.
    """
    if is_packed(path) or Path(path).suffix == ".hrt":
        return RuleTable.open(os.fspath(path))
    with tempfile.TemporaryDirectory(prefix="hiero-") as directory:
        packed = Path(directory) / "rules.hrt"
        pack(path, packed)
        return RuleTable.open(str(packed), os.fspath(path))  # stays mapped when the file is gone
