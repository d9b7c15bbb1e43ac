"""Lines of text made to tokens, in blocks, by several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hiero.base.parallel import in_blocks
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
        return (tokenise.line(line) for line in lines)
    return chain.from_iterable(process_map(tokenise, in_blocks(lines, _LINES_AT_ONCE), processes))


@dataclass(frozen=True)
class _Tokenise:
    """Makes tokens of a block of lines."""

    sides: Sequence[TextSide]
    tokens: Callable[[TextSide, str], Tokens]

    def __call__(self, lines: Sequence[Sequence[str]]) -> list[list[Tokens]]:
        return [self.line(line) for line in lines]

    def line(self, texts: Sequence[str]) -> list[Tokens]:
        return [self.tokens(side, text) for side, text in zip(self.sides, texts, strict=True)]
