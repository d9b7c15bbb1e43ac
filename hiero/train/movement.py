"""Measures how far words move between the two languages of an aligned bitext: so long must phrases be.

The glue rule puts phrases one after another in the order of the source, so only a rule can move words. A
sentence pair is cut wherever all links before the cut, on both sides, are apart from all links behind it.
What is between two cuts cannot be translated piece by piece in order: a rule for it, and the initial phrase
that the rule comes from, must be as long as it is.

A wrong link makes a piece as long as it is wrong, and rules from long phrases with wrong links are bad ones.
So longer phrases must take in most of the words that shorter ones leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from hiero.base.lines import PathLike
from hiero.base.settings import Settings
from hiero.decode.settings import SPAN_LIMITS
from hiero.train.alignment import read_alignment

# The share of words with which a length is enough.
_ENOUGH = 0.95
# The share of the other words that a longer length must take in.
_MOST = 0.5


class Movement(Settings):
    """The words of an aligned bitext by the length of the piece that they are in: entry n - 1 of ``words``
    counts the source words of pieces whose longer side has n words. Words without a link at the ends of a
    piece are in none."""

    words: tuple[int, ...] = ()

    def share(self, length: int) -> float:
        """Returns the share of words that are in pieces of at most so many words; 1 without any words."""
        total = sum(self.words)
        return self._within(length) / total if total else 1.0

    def phrase_length(self) -> int:
        """Chooses the length of initial phrases: the least of ``SPAN_LIMITS``, unless more than 5 % of the
        words need longer phrases to be put in order by one rule, and a longer one takes in at least half of
        these words; from there on in the same way."""
        length = SPAN_LIMITS[0]
        for longer in SPAN_LIMITS[1:]:
            taken_in = self._within(longer) - self._within(length)
            left_out = sum(self.words) - self._within(length)
            if self.share(length) < _ENOUGH and taken_in >= _MOST * left_out:
                length = longer
        return length

    def _within(self, length: int) -> int:
        """Returns the number of words in pieces of at most so many words."""
        return sum(self.words[:length])

    def describe(self) -> str:
        """Returns the share of words by length of piece, in a line."""
        first, *rest = SPAN_LIMITS
        more = "".join(f", {100 * self.share(length):.1f} % within {length}" for length in rest)
        return f"{100 * self.share(first):.1f} % of words can be put in order within {first} words{more}"


def measure_movement(alignment: PathLike, pairs: int | None = None) -> Movement:
    """Measures how far words move in the first ``pairs`` lines of a file of links (default: in all). Raises
    FormatError for malformed links, OSError."""
    counts: list[int] = []
    for links in islice(read_alignment(alignment), pairs):
        for source, target in pieces(links):
            length = max(source, target)
            counts += [0] * (length - len(counts))
            counts[length - 1] += source
    return Movement(words=tuple(counts))


def pieces(links: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the lengths of the pieces of a sentence pair, as numbers of source and of target words, from the
    first to the last linked word of each. ``links`` are sorted."""
    # The first target word of any link from here on.
    rest = list(accumulate((target for _, target in reversed(links)), min))[::-1]
    begin, last = 0, -1
    for k, (source, target) in enumerate(links):
        last = max(last, target)
        is_end = k + 1 == len(links)
        if is_end or (links[k + 1][0] > source and rest[k + 1] > last):
            yield source - links[begin][0] + 1, last - rest[begin] + 1
            begin = k + 1
