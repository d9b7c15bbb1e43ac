"""Sentences of a text, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# The end of a sentence: a run of marks, closing quotes and brackets, before a blank and what may begin one,
# and in scripts without blanks before anything; but after what is quoted, Japanese may go on with hiragana.
# Runs are looked at once: the time grows with the text alone.
_END = re.compile(
    r"""(?<![.!?…؟۔।॥։])[.!?…؟۔।॥։]++["'»”’)\]]*+(?=\s++["'«“‘(\[¿¡]*+[^\W\d_a-zà-öø-ÿ])"""
    r"""|(?<![。！？])[。！？]++(?:(?=[^\s」』”’）])|[」』”’）]++(?=[^\s\u3041-\u309f]))"""
)
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[\w.]+$")
_LETTERS = re.compile(r"\w(?:\.\w)*+")  # as in J. and U.S.
_LONGEST_ABBREVIATION = 20  # characters


def split_text(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yields pairs of a sentence, which may be empty, and the white space behind it: together, the text."""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        begin = len(line) - len(line.lstrip())
        if begin:
            yield "", line[:begin]
        for match in _END.finditer(line):
            first = max(begin, match.start() - _LONGEST_ABBREVIATION)
            if match[0].startswith(".") and _is_abbreviated(line[first : match.start()], language):
                continue
            space = _SPACE.match(line, match.end())
            assert space is not None
            yield line[begin : match.end()], space[0]
            begin = space.end()
        if rest := line[begin:]:
            yield rest.rstrip(), rest[len(rest.rstrip()) :]


def _is_abbreviated(before: str, language: str) -> bool:
    """Tells whether a dot belongs to the word before it, as in "Mr." and "J."."""
    word = _WORD.search(before)
    if word is None:
        return False
    return word[0] in _abbreviations(language) or _LETTERS.fullmatch(word[0]) is not None


@cache
def _abbreviations(language: str) -> frozenset[str]:
    from sacremoses.corpus import NonbreakingPrefixes

    return frozenset(NonbreakingPrefixes().words(language) if language.isalpha() else ())
