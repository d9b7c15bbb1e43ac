"""The same characters cut into words in two ways: which words of one side hold those of the other.

Compared are characters without case and variants (NFKD and case folding; NFKC tells the same apart), but for
white space, control and format characters; brackets and quotes are one however they are written. Usage:

    words_of(["didn't", "he"], ["did", "n't", "he"])  # [0, 0, 1]
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from hiero._core import FormatError

# How the Penn treebank writes brackets.
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
# How Moses' tokenizer writes what its tables could not hold.
_MOSES = {
    "&apos;": "'",
    "&quot;": '"',
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&bar;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&#124;": "|",
}
_ESCAPES = {escape.casefold(): shown for escape, shown in (BRACKETS | _MOSES).items()}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)), re.IGNORECASE | re.ASCII)
# What is compared as one: an escape, Penn's slashes and asterisks behind a backslash, or any character.
_UNIT = re.compile(rf"{_ESCAPE.pattern}|\\[/*]|.", re.IGNORECASE | re.ASCII | re.DOTALL)
# A double quote is two single ones, as Penn writes it.
_QUOTES = {ord(c): "'" for c in "`´‘’‚‛‹›′"} | {ord(c): "''" for c in '"“”„‟«»'}
_LEFT_OUT = ("Zs", "Zl", "Zp", "Cc", "Cf")


def words_of(words: Sequence[str], tokens: Sequence[str]) -> list[int]:
    """For each of ``tokens`` the place of the word that has most of its characters, of several the last.

    Places never fall. A token without characters to compare goes with the one before it, or the first word.
    Raises FormatError where the characters of the sides differ, and without tokens.
    """
    text, place = _characters(words)
    other, owner = _characters(tokens)
    if text != other or not tokens:
        raise FormatError(_difference((words, text, place), (tokens, other, owner)))
    best: dict[int, tuple[int, int]] = {}
    for (token, word), count in Counter(zip(owner, place, strict=True)).items():
        best[token] = max(best.get(token, (0, 0)), (count, word))
    found: list[int] = []
    for token in range(len(tokens)):
        before = found[-1] if found else 0
        found.append(best.get(token, (0, before))[1])
    return found


def unescaped(word: str) -> str:
    """A word without the escapes of Moses, and with the brackets that Penn's stand for."""
    return _ESCAPE.sub(lambda found: _ESCAPES[found[0].casefold()], word)


def _characters(words: Sequence[str]) -> tuple[str, list[int]]:
    """Joins the characters of words that are compared; gives for each character the place of its word."""
    places = [place for place, word in enumerate(words) for _ in word]
    parts: list[str] = []
    found: list[int] = []
    # Of the whole text, as an escape may be cut too.
    for unit in _UNIT.finditer("".join(words)):
        part = _compared(unit[0])
        parts.append(part)
        found += [places[unit.start()]] * len(part)
    # What is left to this is the order of accents.
    return unicodedata.normalize("NFKD", "".join(parts)), found


@lru_cache(maxsize=1 << 14)
def _compared(unit: str) -> str:
    shown = unit[1:] if len(unit) == 2 else _ESCAPES.get(unit.casefold(), unit)
    folded = unicodedata.normalize("NFKD", shown.translate(_QUOTES)).casefold()
    text = unicodedata.normalize("NFKD", folded).translate(_QUOTES)
    return "".join(c for c in text if unicodedata.category(c) not in _LEFT_OUT)


_Side = tuple[Sequence[str], str, list[int]]


def _difference(parse: _Side, sentence: _Side) -> str:
    pairs = enumerate(zip(parse[1], sentence[1], strict=False))
    shorter = min(len(parse[1]), len(sentence[1]))
    place = next((place for place, (a, b) in pairs if a != b), shorter)
    return f"the parse has {_word_at(parse, place)} where the sentence has {_word_at(sentence, place)}"


def _word_at(side: _Side, place: int) -> str:
    words, _, places = side
    if place == len(places):
        return "no more words"
    return f'"{words[places[place]]}" (word {places[place] + 1})'
