"""Scripts of text: which letters are Latin, Cyrillic, Arabic and so on."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping

# Scripts that Japanese mixes in one sentence.
_JAPANESE = frozenset({"Cjk", "Hiragana", "Katakana"})
# The share of the letters of a text that makes a script one of the text's.
_SHARE = 0.2
# A line with fewer letters of other scripts may be just a name.
_FEW_LETTERS = 8


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
