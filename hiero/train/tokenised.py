"""Lines of text made to tokens, in blocks, by several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hiero.base.processes import process_map
from hiero.text import TextSide

Tokens = list[str]
# Lines that a process takes at a time.
_LINES_AT_ONCE = 1000


def tokenised(
    sides: Sequence[TextSide],
    lines: Iterable[Sequence[str]],
    processes: int,
    tokens: Callable[[TextSide, str], Tokens] = TextSide.tokens,
) -> Iterator[Sequence[Tokens]]:
    """Yields the tokens of lines, each of which has a text for every side. Raises what reading lines raises,
    in its turn. ``tokens`` may be another method of a side that makes tokens."""
    tokenise = _Tokenise(sides, tokens)
    if all(side.scheme == "none" for side in sides):  # reading the lines takes longer
        return chain.from_iterable(map(tokenise, _blocks(lines)))
    return chain.from_iterable(process_map(tokenise, _blocks(lines), processes))


def _blocks(lines: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    block: list[Sequence[str]] = []
    try:
        for line in lines:
            block.append(line)
            if len(block) == _LINES_AT_ONCE:
                yield block
                block = []
    except Exception:
        yield block  # lines before one that cannot be read are looked at first
        raise
    yield block


@dataclass(frozen=True)
class _Tokenise:
    """Makes tokens of a block of lines."""

    sides: Sequence[TextSide]
    tokens: Callable[[TextSide, str], Tokens]

    def __call__(self, lines: Sequence[Sequence[str]]) -> list[list[Tokens]]:
        return [
            [self.tokens(side, text) for side, text in zip(self.sides, line, strict=True)] for line in lines
        ]
