"""Spaces between tokens: what a tokeniser may not take apart, and signs that are joined to their neighbours.

A detokeniser puts spaces by rules, such as none before a comma. Where a sign stood without the spaces that
these rules would give it, as in he/she, word(s), m² or 10:30, its token has the mark ￭ on the sides without
space. So text comes back as it was. Words have no marks, as a word with a mark would be another word to a
model; and spaces beside commas, full stops and quotes go by the rules, as they are often left out or added
by mistake.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence

from hiero.text.normalisation import JOINERS, MARK
from hiero.text.schemes import is_wide

# Signs whose spaces go by the rules, except within numbers.
_BY_RULES = frozenset(".,:;!?%…'\"«»¿¡、。，！？：；「」『』（）")
_WITHIN_NUMBERS = frozenset(".,:")
# Signs that open and close. The rules count them, and are wrong where one is missing or is an apostrophe:
# then marks say both sides.
_QUOTES = frozenset("'\"")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+")
# Characters that may be part of a larger one; most text of most alphabets has none.
_CLUSTERS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1fff\u200c\u200d\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ua66f-\uabff"
    "\ud7b0-\ud7ff\ufb1e\ufe00-\ufe2f\U00010000-\U0010ffff]"
)


def gaps(text: str, words: Sequence[str]) -> list[bool] | None:
    """Tells for each word of a text but the first whether spaces precede it; None for a text that has other
    words, or the words in another order."""
    is_gap, place = [], 0
    for word in words:
        begin = place
        while text.startswith(" ", place):
            place += 1
        is_gap.append(place > begin)
        if not text.startswith(word, place):
            return None
        place += len(word)
    return is_gap[1:] if not text[place:].strip(" ") else None


def whole_words(text: str, words: list[str], is_gap: list[bool], name: str) -> tuple[list[str], list[bool]]:
    """Joins words that were taken apart between two letters of an alphabet, within a character as it is seen
    (a grapheme cluster: a letter with its accents, an emoji of several parts, a flag), or at a joiner, which
    belongs to the word. ``is_gap`` is what ``gaps`` tells; ``name`` is a word that stands for a protected
    part, and is not joined to letters. Returns the words, and the same for these."""
    inner = _inside_characters(text) if _CLUSTERS.search(text) else frozenset()
    joined, joined_gaps, place = words[:1], [], len(words[0])
    for word, gap in zip(words[1:], is_gap, strict=True):
        before = joined[-1]
        beside_joiner = word[0] in JOINERS or before[-1] in JOINERS
        in_letters = name not in (before, word) and _ends_in_letter(before) and _is_letter(word[0])
        if not gap and (place in inner or beside_joiner or in_letters):
            joined[-1] += word
        else:
            joined.append(word)
            joined_gaps.append(gap)
        place += len(word)
    return joined, joined_gaps


def _inside_characters(text: str) -> set[int]:
    """Returns the places within characters as they are seen, in a text whose spaces are not counted."""
    import regex  # imported late: few texts need it

    # Flags are pairs of letters; in a long run of them, \X would look back to its beginning each time.
    text = text.replace(" ", "")
    runs = [found.span() for found in _FLAGS.finditer(text)]
    text = _FLAGS.sub(lambda found: "a" * len(found[0]), text)
    begins = {found.start() for found in regex.finditer(r"\X", text)}
    for begin, end in runs:
        begins.difference_update(range(begin + 1, end, 2))
    return set(range(len(text))) - begins


def _is_letter(character: str) -> bool:
    """Tells whether a character is a letter of an alphabet, in which spaces separate words."""
    return character.isalpha() and not is_wide(character)


def _ends_in_letter(word: str) -> bool:
    """Tells whether a word ends in a letter of an alphabet, with or without accents and vowel signs."""
    last = next((c for c in reversed(word) if not unicodedata.category(c).startswith("M")), " ")
    return _is_letter(last)


def marked(
    words: Sequence[str],
    is_gap: Sequence[bool],
    rules: Callable[[], Sequence[bool]],
    is_part: Sequence[bool],
) -> list[str]:
    """Returns words with marks on signs and parts that have no space where a detokeniser would put one.
    ``is_gap`` is what ``gaps`` tells of the text, and ``rules`` computes what it would tell of the
    detokeniser's. ``is_part`` tells which words are protected parts that take marks."""
    touching = [False, *(not gap for gap in is_gap), False]
    signs = [_takes_marks(words, k, touching[k], touching[k + 1], part) for k, part in enumerate(is_part)]
    if not any(signs):
        return list(words)
    differs = [False, *(rule and not gap for gap, rule in zip(is_gap, rules(), strict=True)), False]
    # Signs that are no quotes; between two, the right one has the mark.
    plain = [False, *(sign and word not in _QUOTES for sign, word in zip(signs, words, strict=True)), False]
    out = []
    for k, word in enumerate(words):
        left = right = False
        if plain[k + 1]:
            left, right = differs[k], differs[k + 1] and not plain[k + 2]
        elif signs[k] and ((differs[k] and not plain[k]) or (differs[k + 1] and not plain[k + 2])):
            left, right = touching[k], touching[k + 1]
        out.append(f"{MARK if left else ''}{word}{MARK if right else ''}")
    return out


def _takes_marks(words: Sequence[str], place: int, left: bool, right: bool, is_part: bool) -> bool:
    """Tells whether a word is a part, or a sign whose spaces do not go by the rules. ``left`` and ``right``:
    it has no space on these sides."""
    word = words[place]
    if not left and not right:
        return False
    # Superscripts, fractions and circled numbers are signs: tokenisers split them off.
    if any(c.isalnum() and unicodedata.category(c) != "No" for c in word):
        return is_part or word[0] == "-"
    if word in _QUOTES or not _BY_RULES.issuperset(word):
        return True
    if word not in _WITHIN_NUMBERS or not left or not right:
        return False
    return words[place - 1][-1].isdigit() and words[place + 1][0].isdigit()


def unmarked(tokens: Sequence[str]) -> tuple[list[str], list[bool | None]]:
    """Returns tokens without marks, and for each but the first whether marks put a space before it: False
    where they join it to the one before, True beside a quote with a mark on its other side, and None where
    the rules decide."""
    words: list[str] = []
    said: list[bool | None] = [None]
    for token in tokens:
        left, right = len(token) > 1 and token[0] == MARK, len(token) > 1 and token[-1] == MARK
        word = token[left : len(token) - right] or token
        is_said = (left or right) and word in _QUOTES
        if left:
            said[-1] = False
        elif is_said and said[-1] is None:
            said[-1] = True
        words.append(word)
        said.append(False if right else True if is_said else None)
    return words, said[1:-1]


def with_spaces(words: Sequence[str], is_gap: Sequence[bool]) -> str:
    """Returns words as a text with a space before each word for which ``is_gap`` is true."""
    spaces = (" " if gap else "" for gap in is_gap)
    return "".join(itertools.chain(words[:1], *zip(spaces, words[1:], strict=True)))
