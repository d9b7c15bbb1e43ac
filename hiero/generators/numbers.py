"""Rules for numbers, as the conventions of two languages write them (the "number rules" of Chiang, Marton
and Resnik 2008): digits, decimal marks, marks between thousands, per cent, ordinals, years, dates and times.

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
from hiero.generators.templates import Piece, Word, words
from hiero.generators.writing import Writer

_FEATURE = "NumberRule"


class NumberRules(Settings):
    """A generator of rules with ``NumberRule=1`` for what reads as a number or date in the ``source``
    convention, in all plausible ways, with all that the ``target`` convention has for it; a number that both
    write alike becomes itself.

    Tokenisers may have cut off marks (``3 . 5 %``). Targets come cut as the source is and the other way. With
    ``lowercase`` they are in lower case, as models are whose text is.
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
        made: dict[tuple[tuple[str, ...], tuple[str, ...]], Rule] = {}
        written: set[tuple[object, ...]] = set()
        for reading in _reader(self.source).readings(tokens):
            source = tuple(tokens[reading.begin : reading.end])
            meaning = (source, reading.kind, reading.loose, *reading.values.items())
            if meaning in written:
                continue
            written.add(meaning)
            for target in self._targets(reading):
                texts = tuple(word.text for word in target)
                if (source, texts) not in made:
                    links = _links(reading.fields, [word.fields for word in target])
                    made[source, texts] = phrase_rule(self.label, source, texts, _FEATURE, links)
        return list(made.values())

    def _targets(self, reading: Reading) -> Iterator[list[Word]]:
        """Words for each way to write a reading, cut like it first."""
        writer = _writer(self.target)
        if reading.loose:
            for pieces in writer.texts(reading, apart=True):
                yield words(self._cased(pieces), cut=True)
        is_cut = reading.end - reading.begin > 1
        for pieces in writer.texts(reading):
            for cut in (is_cut, not is_cut):
                yield words(self._cased(pieces), cut)

    def _cased(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        return [Piece(field, text.lower()) for field, text in pieces] if self.lowercase else pieces


def _links(source: Sequence[frozenset[str]], target: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """Between words of the same field; marks between fields go with each other if both sides have as many,
    else with the word before them, or behind."""
    links = {(s, t) for s, own in enumerate(source) for t, other in enumerate(target) if own & other}
    marks = [s for s, own in enumerate(source) if not own]
    others = [t for t, other in enumerate(target) if not other]
    if len(marks) == len(others):
        links.update(zip(marks, others, strict=True))
    else:
        linked = [s for s, own in enumerate(source) if own]
        for s in marks:
            nearest = max((other for other in linked if other < s), default=linked[0])
            links.update([(s, t) for other, t in links if other == nearest])
    return sorted(links)


@cache
def _reader(language: Language) -> Reader:
    return Reader(CONVENTIONS[language])


@cache
def _writer(language: Language) -> Writer:
    return Writer(CONVENTIONS[language])
