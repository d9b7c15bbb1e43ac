"""Parts of text that are one token and pass through translation as they are: tags, addresses, and patterns of
one's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hiero.text.normalisation import JOINERS

# White space within a protected token, such as that of a tag. Normalised text has no such character.
_INNER_SPACE = "\u00a0"
# Names that are reserved in language models cannot be tokens.
_RESERVED = ("<s>", "</s>", "<unk>", "<UNK>")
# Attributes may have > between quotes.
_TAG = r"</?[A-Za-z][A-Za-z0-9:_.-]{0,40}(?:\s(?:[^<>\"']|\"[^\"<]{0,400}\"|'[^'<]{0,400}'){0,400})?/?>"
# Letters of alphabets in which a space separates an address from its sentence.
_LETTERS = r"A-Za-z0-9\u00c0-\u024f\u0370-\u052f\u0531-\u0587\u05d0-\u05ea\u0620-\u064a\u0900-\u0dff"
# Characters of addresses; brackets only in pairs, as an address often stands in brackets itself.
_OF_ADDRESS = rf"[!#-'*-;=?-\[\]-z|~{_LETTERS}]"
_IN_BRACKETS = rf"\({_OF_ADDRESS}*\)"
_ADDRESS = (
    r"(?i:(?:https?|ftps?)://|www\.)"
    rf"(?:{_OF_ADDRESS}|{_IN_BRACKETS})*(?:[{_LETTERS}/=_~#&$+-]|{_IN_BRACKETS})"
)
_MAIL = rf"(?<![{_LETTERS}_.+-])[{_LETTERS}_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{{2,}}"
_IS_ADDRESS = re.compile(f"{_ADDRESS}|{_MAIL}")
_BUILT_IN = [re.compile(pattern) for pattern in (_TAG, _ADDRESS, _MAIL)]
_MAY_MATCH = re.compile("[@<]|://|www", re.IGNORECASE)


class Protection:
    """The patterns of protected parts: tags, addresses of web pages, e-mail addresses, and ``patterns``,
    regular expressions of Python. These are looked for in text whose entities, Unicode forms and spaces are
    normalised already. Raises ValueError for a pattern that is no regular expression, or matches the empty
    string.

    >>> Protection().spans("see www.a.org/b_c, or <b>me@a.org</b>.")
    [(4, 17), (22, 25), (25, 33), (33, 37)]
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._own = [_compiled(pattern) for pattern in patterns]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns the begin and end of each protected part of a text, from left to right, as positions of
        characters. Of two patterns that match at one place, the first one of one's own is taken."""
        patterns = [*self._own, *(_BUILT_IN if _MAY_MATCH.search(text) else ())]
        found = [pattern.search(text) for pattern in patterns]
        spans: list[tuple[int, int]] = []
        place = 0
        while True:
            for k, match in enumerate(found):
                if match is not None and match.start() < place:
                    found[k] = patterns[k].search(text, place)
            first = min((match for match in found if match is not None), key=_begin, default=None)
            if first is None:
                return spans
            begin, end = _without_spaces(text, *first.span())
            if begin < end and _is_whole(text, begin, end) and text[begin:end] not in _RESERVED:
                spans.append((begin, end))
            place = max(end, first.start() + 1)

    def may_match(self, text: str) -> bool:
        """Returns False for a text without protected parts, as is found out fast, or else True."""
        return bool(self._own) or _INNER_SPACE in text or _MAY_MATCH.search(text) is not None

    def matches(self, token: str) -> bool:
        """Returns whether a token is a protected part. A pattern that looks at its neighbours does not see
        them."""
        if _INNER_SPACE in token:
            return True
        built_in = _BUILT_IN if _MAY_MATCH.search(token) else ()
        return token not in _RESERVED and any(pattern.fullmatch(token) for pattern in (*self._own, *built_in))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"protected pattern {pattern!r}: {error}") from None
    if compiled.match(""):
        raise ValueError(f"protected pattern {pattern!r} matches the empty string")
    return compiled


def _begin(match: re.Match[str]) -> int:
    return match.start()


def _without_spaces(text: str, begin: int, end: int) -> tuple[int, int]:
    """Returns a span without spaces at its edges."""
    part = text[begin:end]
    return begin + len(part) - len(part.lstrip()), begin + len(part.rstrip())


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


def is_address(part: str) -> bool:
    """Returns whether a protected part is an address. Those stand alone in any language: what was joined to
    one, such as a particle, is not joined to it in a translation."""
    return _IS_ADDRESS.fullmatch(part) is not None


def as_token(part: str) -> str:
    """Returns a protected part as a token, which has no plain spaces."""
    return part.replace(" ", _INNER_SPACE)


def as_text(token: str) -> str:
    """Returns a protected token as it was in the text."""
    return token.replace(_INNER_SPACE, " ")
