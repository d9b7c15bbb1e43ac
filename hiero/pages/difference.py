"""The difference of two translations, word by word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from hiero.pages.markup import escape_html

SAME, DELETED, INSERTED = 0, -1, 1
# A part of a text that is the same in both, or that only one of them has.
Run = tuple[int, str]

# Characters of scripts without spaces between words, each of which counts as a word: those of Thai, Lao and
# Khmer, kana, and Chinese characters.
_ALONE = "\u0e00-\u0eff\u1780-\u17ff\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_WORDS = re.compile(rf"\s*(?:[{_ALONE}]|[^\s{_ALONE}]+)")


def word_difference(before: str, after: str) -> list[Run]:
    """Returns the runs of words that are the same, deleted and inserted, in the order of the text.

    The runs that are not deleted make the text ``after``, but for white space at its ends, and those that are
    not inserted the text ``before``, but for all white space.
    """
    old, new = _words(before), _words(after)
    # White space before a word does not make it another word.
    plain_old, plain_new = [word.strip() for word in old], [word.strip() for word in new]
    matcher = difflib.SequenceMatcher(None, plain_old, plain_new, autojunk=False)
    runs: list[Run] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            runs.append((SAME, "".join(new[k:m])))
            continue
        runs += [
            (sign, "".join(words)) for sign, words in ((DELETED, old[i:j]), (INSERTED, new[k:m])) if words
        ]
    return runs


def _words(text: str) -> list[str]:
    """Returns words with the white space before them. The first word of a line of words with spaces has a
    space, too, as it may come to stand behind another word."""
    words = _WORDS.findall(text)
    if words and not re.match(rf"[{_ALONE}]", words[0].strip()):
        words[0] = f" {words[0].strip()}"
    return words


def difference_html(runs: Sequence[Run]) -> str:
    """Returns runs as markup: what is deleted in a ``del`` element, what is inserted in an ``ins`` element,
    without the white space before."""
    parts = []
    for kind, text in runs:
        content = text.lstrip()
        space = text[: len(text) - len(content)]
        tag = {DELETED: "del", INSERTED: "ins"}.get(kind)
        marked = f"<{tag}>{escape_html(content)}</{tag}>" if tag else escape_html(content)
        parts.append(f"{escape_html(space)}{marked}")
    return "".join(parts).strip()
