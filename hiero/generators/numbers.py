"""Rules that convert numbers between two languages (the "number rules" of Chiang, Marton and Resnik 2008).

They cover digits, decimal marks, marks between thousands, percentages, ordinals, years, dates and times.

    >>> from hiero.features.sentence import Sentence
    >>> for rule in NumberRules(source="de", target="en").rules(Sentence(tokens=["1.234,5"])):
    ...     print(rule)
    [X] ||| 1.234,5 ||| 1,234.5 ||| NumberRule=1 ||| 0-0
    [X] ||| 1.234,5 ||| 1234.5 ||| NumberRule=1 ||| 0-0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from hiero._core import Rule
from hiero.base.settings import Settings
from hiero.features.sentence import Sentence
from hiero.generators.conventions import CONVENTIONS, Language
from hiero.generators.protocol import Label, phrase_rule
from hiero.generators.readings import Reader, Reading
from hiero.generators.templates import Piece, Word, join_pieces
from hiero.generators.writing import Writer
from hiero.text.joining import unmarked

_FEATURE = "NumberRule"


class NumberRules(Settings):
    """A generator of rules, with the feature ``NumberRule=1``, for numbers, dates and times.

    Everything in a sentence that can be read by the ``source`` convention, in any plausible way, is written
    in all forms of the ``target`` convention. A number that has the same form in both is copied.

    The language ``und`` is for texts of any language that has no convention of its own. What is read and has
    no letters is then also written as it was, with digits of its script.

    A tokeniser may have separated the marks (``3 . 5 %``), and may have put the mark ￭ on signs that have no
    spaces (``10 :￭ 30``). Targets are made with marks separated and joined, first in the same way as the
    source, and signs of the source have ￭ as in the source. With ``lowercase`` they are in lower case, for
    models of lowercased text.
    """

    kind: Literal["numbers"] = "numbers"
    source: Language
    target: Language
    label: Label = "X"
    lowercase: bool = False

    @property
    def name(self) -> str:
        return self.kind

    @property
    def features(self) -> Sequence[str]:
        return [_FEATURE]

    def rules(self, sentence: Sentence) -> list[Rule]:
        tokens = sentence.tokens
        words = _without_marks(tokens)
        rules: dict[tuple[tuple[str, ...], tuple[str, ...]], Rule] = {}
        meanings: set[tuple[object, ...]] = set()
        for reading in _reader(self.source).readings(words):
            span = slice(reading.begin, reading.end)
            source = tuple(tokens[span])
            as_marked = dict(zip(words[span], source, strict=True))
            meaning = (source, reading.kind, reading.loose, *reading.values.items())
            if meaning in meanings:
                continue
            meanings.add(meaning)
            for target in self._targets(reading, source):
                texts = tuple(as_marked.get(word.text, word.text) for word in target)
                if (source, texts) not in rules:
                    links = _links(reading.fields, [word.fields for word in target])
                    rules[source, texts] = phrase_rule(self.label, source, texts, _FEATURE, links)
        return list(rules.values())

    def _targets(self, reading: Reading, source: Sequence[str]) -> Iterator[list[Word]]:
        """Yields the words of all forms of a reading of source tokens, first those that are split alike."""
        if self.target == "und" and not any(c.isalpha() for token in source for c in token):
            yield list(map(Word, source, reading.fields))
        writer = _writer(self.target)
        if reading.loose:
            for pieces in writer.texts(reading, spaced=True):
                yield join_pieces(self._cased(pieces), split=True)
        is_split = reading.end - reading.begin > 1
        for pieces in writer.texts(reading):
            for split in (is_split, not is_split):
                yield join_pieces(self._cased(pieces), split)

    def _cased(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        return [Piece(field, text.lower()) for field, text in pieces] if self.lowercase else pieces


def _without_marks(tokens: Sequence[str]) -> list[str]:
    """Returns tokens, with signs without the marks of a tokeniser."""
    words, _ = unmarked(tokens)
    return [
        token if any(c.isalnum() for c in word) else word for token, word in zip(tokens, words, strict=True)
    ]


def _links(source: Sequence[frozenset[str]], target: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """Returns links between words with a common field, and between the marks that separate fields.

    If both sides have the same number of marks, they are linked in order. Otherwise a mark of the source has
    the links of the word before it, or of the first word.
    """
    links = {(s, t) for s, fields in enumerate(source) for t, other in enumerate(target) if fields & other}
    source_marks = [s for s, fields in enumerate(source) if not fields]
    target_marks = [t for t, fields in enumerate(target) if not fields]
    if len(source_marks) == len(target_marks):
        links.update(zip(source_marks, target_marks, strict=True))
    else:
        words = [s for s, fields in enumerate(source) if fields]
        for mark in source_marks:
            previous = max((word for word in words if word < mark), default=words[0])
            links.update([(mark, t) for word, t in links if word == previous])
    return sorted(links)


@cache
def _reader(language: Language) -> Reader:
    return Reader(CONVENTIONS[language])


@cache
def _writer(language: Language) -> Writer:
    return Writer(CONVENTIONS[language])
