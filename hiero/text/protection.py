"""Parts of text that are one token and pass through translation as they are: addresses, tags, and patterns of
one's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hiero.text.normalisation import JOINERS

# White space within a protected token, such as that of a tag. Normalised text has no such character.
_INNER_SPACE = "\u00a0"
# Names that are reserved in language models are no tags.
_TAG = r"</?(?!(?:s|unk|UNK)>)[A-Za-z][A-Za-z0-9:_.-]{0,40}(?:[\s\u00a0][^<>]{0,400})?/?>"
# Characters of addresses; brackets only in pairs, as an address often stands in brackets itself.
_OF_ADDRESS = r"[!#-'*-;=?-\[\]-z|~]"
_IN_BRACKETS = rf"\({_OF_ADDRESS}*\)"
_ADDRESS = (
    rf"(?:(?:https?|ftps?)://|www\.)(?:{_OF_ADDRESS}|{_IN_BRACKETS})*(?:[A-Za-z0-9/=_~#&$+-]|{_IN_BRACKETS})"
)
_MAIL = r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_BUILT_IN = (_TAG, _ADDRESS, rf"(?<![A-Za-z0-9_.+-]){_MAIL}")


class Protection:
    """The patterns of protected parts: tags, addresses of web pages, e-mail addresses, and ``patterns``,
    regular expressions of Python. Raises ValueError for a pattern that is no regular expression, or matches
    nothing.

    >>> Protection().spans("see www.a.org/b_c, or <b>me@a.org</b>.")
    [(4, 17), (22, 25), (25, 33), (33, 37)]
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        for pattern in patterns:
            try:
                compiled = re.compile(pattern)
            except re.error as error:
                raise ValueError(f"protected pattern {pattern!r}: {error}") from None
            if compiled.match(""):
                raise ValueError(f"protected pattern {pattern!r} matches the empty string")
        # Patterns of one's own come first: of two that begin at one place, the first one is taken.
        self._pattern = re.compile("|".join(f"(?:{pattern})" for pattern in (*patterns, *_BUILT_IN)))
        self._may_match = None if patterns else re.compile("[@<]|://|www")

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns the begin and end of each protected part of a text, from left to right, as positions of
        characters."""
        if self._may_match is not None and not self._may_match.search(text):
            return []
        spans = (found.span() for found in self._pattern.finditer(text))
        return [(begin, end) for begin, end in spans if end > begin and _is_whole(text, begin, end)]

    def matches(self, token: str) -> bool:
        """Returns whether a token is a protected part."""
        if self._may_match is not None and not self._may_match.search(token):
            return False
        return self._pattern.fullmatch(token) is not None


def _is_whole(text: str, begin: int, end: int) -> bool:
    """Tells whether a part of a text begins and ends with whole characters as they are seen, without a joiner
    on either side."""
    return not any(_is_inner(text, place) for place in (begin, end) if 0 < place < len(text))


def _is_inner(text: str, place: int) -> bool:
    """Tells whether a place is within a character as it is seen (a grapheme cluster), or beside a joiner."""
    pair = text[place - 1 : place + 1]
    if pair.isascii():
        return False
    import regex  # imported late: few texts need it

    return regex.fullmatch(r"\X", pair) is not None or not frozenset(JOINERS).isdisjoint(pair)


@lru_cache(maxsize=64)
def protection(patterns: tuple[str, ...]) -> Protection:
    """Returns the protection by these patterns, which is compiled once."""
    return Protection(patterns)


def as_token(part: str) -> str:
    """Returns a protected part as a token, which has no plain spaces."""
    return part.replace(" ", _INNER_SPACE)


def as_text(token: str) -> str:
    """Returns a protected token as it was in the text."""
    return token.replace(_INNER_SPACE, " ")
