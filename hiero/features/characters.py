"""Alignment of two tokenisations of the same characters: which words of one cover the tokens of the other.

Characters are compared without case and variants (NFKD and case folding). White space, control and format
characters are ignored. Different forms of brackets and quotes are equal. Usage:

    covering_words(["didn't", "he"], ["did", "n't", "he"])  # [0, 0, 1]
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from hiero._core import FormatError

# Escapes for brackets in the Penn treebank.
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
# Escapes in the output of the Moses tokenizer.
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
_ESCAPES = {escape.casefold(): character for escape, character in (BRACKETS | _MOSES).items()}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)), re.IGNORECASE | re.ASCII)
# A unit of comparison: an escape, a slash or asterisk after a backslash (Penn treebank), or any character.
_UNIT = re.compile(rf"{_ESCAPE.pattern}|\\[/*]|.", re.IGNORECASE | re.ASCII | re.DOTALL)
# A double quote equals two single ones, as in the Penn treebank.
_QUOTES = {ord(c): "'" for c in "`´‘’‚‛‹›′"} | {ord(c): "''" for c in '"“”„‟«»'}
_IGNORED = ("Zs", "Zl", "Zp", "Cc", "Cf")


def covering_words(words: Sequence[str], tokens: Sequence[str]) -> list[int]:
    """Returns for every token the index of the word that has most of its characters, the last of several.

    Indices never decrease. A token without characters to compare belongs to the same word as the token
    before it, or to the first word.
    Raises FormatError if words and tokens have different characters, and if there are no tokens.
    """
    text, word_indices = _characters(words)
    token_text, token_indices = _characters(tokens)
    if text != token_text or not tokens:
        raise FormatError(_difference((words, text, word_indices), (tokens, token_text, token_indices)))
    best: dict[int, tuple[int, int]] = {}
    for (token, word), count in Counter(zip(token_indices, word_indices, strict=True)).items():
        best[token] = max(best.get(token, (0, 0)), (count, word))
    indices: list[int] = []
    for token in range(len(tokens)):
        previous = indices[-1] if indices else 0
        indices.append(best.get(token, (0, previous))[1])
    return indices


def unescape(word: str) -> str:
    """Replaces the escapes of Moses and the bracket escapes of the Penn treebank in a word."""
    return _ESCAPE.sub(lambda match: _ESCAPES[match[0].casefold()], word)


def _characters(words: Sequence[str]) -> tuple[str, list[int]]:
    """Returns the characters of words to compare, and for each character the index of its word."""
    owners = [index for index, word in enumerate(words) for _ in word]
    parts: list[str] = []
    indices: list[int] = []
    # The words are joined first, because a tokenizer may split an escape.
    for unit in _UNIT.finditer("".join(words)):
        part = _normalised(unit[0])
        parts.append(part)
        indices += [owners[unit.start()]] * len(part)
    # Normalising the whole text sorts accents that come from different units.
    return unicodedata.normalize("NFKD", "".join(parts)), indices


@lru_cache(maxsize=1 << 14)
def _normalised(unit: str) -> str:
    character = unit[1:] if len(unit) == 2 else _ESCAPES.get(unit.casefold(), unit)
    folded = unicodedata.normalize("NFKD", character.translate(_QUOTES)).casefold()
    text = unicodedata.normalize("NFKD", folded).translate(_QUOTES)
    return "".join(c for c in text if unicodedata.category(c) not in _IGNORED)


# Words, their characters, and for each character the index of its word.
_Side = tuple[Sequence[str], str, list[int]]


def _difference(parse: _Side, sentence: _Side) -> str:
    pairs = enumerate(zip(parse[1], sentence[1], strict=False))
    shorter = min(len(parse[1]), len(sentence[1]))
    index = next((index for index, (a, b) in pairs if a != b), shorter)
    return f"the parse has {_word_at(parse, index)} where the sentence has {_word_at(sentence, index)}"


def _word_at(side: _Side, index: int) -> str:
    words, _, indices = side
    if index == len(indices):
        return "no more words"
    return f'"{words[indices[index]]}" (word {indices[index] + 1})'
