"""Scripts of text: which letters are Latin, Cyrillic, Arabic and so on."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping

import numpy as np

# Scripts that Japanese mixes in one sentence.
_JAPANESE = frozenset({"Cjk", "Hiragana", "Katakana"})
# The share of the letters of a text that makes a script one of the text's.
_SHARE = 0.2
# A line with fewer letters of other scripts may be just a name.
_FEW_LETTERS = 8
# The characters that are counted at a time.
_AT_ONCE = 1 << 16


class _ScriptsOfCharacters(dict[str, str]):
    """The script of each character, the empty text for what is no letter.

    The first word of a letter's name in Unicode is its script: "CYRILLIC SMALL LETTER A". Letters that only
    look different, such as the wide ones in Japanese text, are those that they stand for.
    """

    def __missing__(self, character: str) -> str:
        letter = unicodedata.normalize("NFKC", character)[:1]
        name = unicodedata.name(letter, "") if letter.isalpha() else ""
        self[character] = name.partition(" ")[0].partition("-")[0].capitalize()
        return self[character]


_SCRIPTS = _ScriptsOfCharacters()


def count_scripts(characters: Mapping[str, int]) -> Counter[str]:
    """Returns the number of letters by their script, from the number of each character of a text.

    >>> sorted(count_scripts(Counter("Ｗｏｒd 10, слово")).items())
    [('Cyrillic', 5), ('Latin', 4)]
    """
    counts: Counter[str] = Counter()
    for character, count in characters.items():
        counts[_SCRIPTS[character]] += count
    del counts[""]
    return counts


class CharacterCounts:
    """Numbers of the characters of a text, which is counted many lines at a time: several times as fast as by
    a ``Counter``."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)  # by code point
        self._lines: list[str] = []  # that are not counted yet
        self._waiting = 0  # the number of their characters

    def add(self, line: str) -> None:
        """Adds a line."""
        self._lines.append(line)
        self._waiting += len(line)
        if self._waiting >= _AT_ONCE:
            self._count_lines()

    def counts(self) -> dict[str, int]:
        """Returns the number of each character of all lines."""
        self._count_lines()
        return {chr(code): int(self._counts[code]) for code in np.flatnonzero(self._counts)}

    def _count_lines(self) -> None:
        codes = np.frombuffer("".join(self._lines).encode("utf-32-le"), "<u4")
        counts = np.bincount(codes, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        self._lines.clear()
        self._waiting = 0


class MainScripts:
    """The scripts that at least a fifth of the letters of a text are in; those of Japanese are together where
    Hiragana is one of them. ``characters`` has the number of each character of the text."""

    def __init__(self, characters: Mapping[str, int]) -> None:
        letters = count_scripts(characters)
        scripts = frozenset(script for script, n in letters.items() if n >= _SHARE * letters.total())
        self.scripts = scripts | _JAPANESE if "Hiragana" in scripts else scripts
        self._others = frozenset(c for c in characters if _SCRIPTS[c] and _SCRIPTS[c] not in self.scripts)

    def other_script(self, line: str) -> str:
        """Returns the script of most of the other letters of a line of the text, if more than half of its
        letters are in other scripts; else an empty text, also for lines with a few such letters only."""
        if self._others.isdisjoint(line):
            return ""
        counts = count_scripts(Counter(line))
        others = {script: n for script, n in counts.items() if script not in self.scripts}
        if sum(others.values()) < max(_FEW_LETTERS, counts.total() // 2 + 1):
            return ""
        return max(others, key=lambda script: (others[script], script))
