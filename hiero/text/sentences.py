"""Sentences of a text, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# The end of a sentence: marks, closing quotes and brackets, before a blank and what may begin a sentence; in
# scripts without blanks before anything.
_END = re.compile(r"""[.!?…؟۔]+["'»”’)\]]*(?=\s+["'«“‘(\[¿¡]*[^\W\d_a-zà-öø-ÿ])|[。！？]+[」』”’）]*(?=\S)""")
_WORD = re.compile(r"[\w.]+$")


def split_text(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yields pairs of a sentence, which may be empty, and the white space behind it: together, the text."""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        begin = len(line) - len(line.lstrip())
        if begin:
            yield "", line[:begin]
        for match in _END.finditer(line):
            if match[0].startswith(".") and _is_abbreviated(line[begin : match.start()], language):
                continue
            sentence = line[begin : match.end()]
            space = re.match(r"\s*", line[match.end() :])
            assert space is not None
            yield sentence, space[0]
            begin = match.end() + space.end()
        if rest := line[begin:]:
            yield rest.rstrip(), rest[len(rest.rstrip()) :]


def _is_abbreviated(before: str, language: str) -> bool:
    """Tells whether a dot belongs to the word before it, as in "Mr." and "J."."""
    word = _WORD.search(before)
    return word is not None and (word[0] in _abbreviations(language) or len(word[0]) == 1)


@cache
def _abbreviations(language: str) -> frozenset[str]:
    from sacremoses.corpus import NonbreakingPrefixes

    return frozenset(NonbreakingPrefixes().words(language) if language.isalpha() else ())
