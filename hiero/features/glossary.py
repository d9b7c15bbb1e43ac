"""Glossaries: terms, each with the translations that it must or may have.

A file has a line for each translation of a term: the term, a tab, its translation, and optionally the
nonterminal label of its rule and how case is compared, ``any`` or ``exact``. Lines that begin with ``#`` are
comments.

    Versicherungsnehmer<TAB>policy holder
    Versicherungsnehmer<TAB>insured person
    SIE<TAB>SIE<TAB><TAB>exact
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from hiero._core import FormatError
from hiero.base.arguments import checked_tuple, similar_names
from hiero.base.lines import read_lines
from hiero.features.markup import Markup, Mode, Phrase, character_places
from hiero.features.sentence import Sentence
from hiero.text import TextProcessing, TextSide

Case = Literal["any", "exact"]


@dataclass(frozen=True)
class Term:
    """A term and its translations, all of raw text. ``case`` "exact" means that the term, and its translation
    when it is looked for, are written as here; "any" ignores case. ``label`` is the nonterminal label
    of its rules; "": the labels of words that are copied. Raises TypeError for targets that are no list."""

    source: str
    targets: tuple[str, ...]
    label: str = ""
    case: Case = "any"

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", checked_tuple("targets", self.targets, str, "texts"))


@dataclass(frozen=True)
class Found:
    """A term in a sentence: its first word and the word after its last."""

    begin: int
    end: int
    term: Term


@dataclass(frozen=True, eq=False)
class Glossary:
    """Terms, in the order of a file.

    >>> glossary = Glossary([Term("rotes Haus", ("red house",))])
    >>> len(glossary.find("ein Rotes Haus".split(), TextSide()))
    1
    """

    terms: Sequence[Term]
    path: str = "glossary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Glossary:
        """Reads a file. Raises OSError, and FormatError for a line that is no translation of a term."""
        targets: dict[tuple[str, str, Case], dict[str, None]] = {}
        for number, line in enumerate(read_lines(path), start=1):
            if line.startswith("#") or not line.strip():
                continue
            source, target, label, case = _fields(line, f"{os.fspath(path)}:{number}")
            targets.setdefault((source, label, case), {})[target] = None
        terms = [
            Term(source, tuple(translations), label, case)
            for (source, label, case), translations in targets.items()
        ]
        return cls(terms, os.fspath(path))

    def check(self, text: TextProcessing, labels: Sequence[str]) -> None:
        """Raises FormatError for a term or a translation that has no words in the text of a model, and for a
        label that is none of ``labels``, which its phrases may have."""
        for term in self.terms:
            where = f"{self.path}: term {term.source!r}"
            if not text.source.words(term.source):
                raise FormatError(f"{where} has no words")
            if empty := [target for target in term.targets if not text.target.words(target)]:
                raise FormatError(f"{where}: its translation {empty[0]!r} has no words")
            if term.label and term.label not in labels:
                known = ", ".join(similar_names(term.label, labels))
                raise FormatError(f"{where}: the model has no label {term.label} (labels: {known})")

    def find(self, words: Sequence[str], side: TextSide) -> list[Found]:
        """Finds the terms in words of a text, as ``side.words`` makes them; from left to right, and of those
        that begin with the same word the longest."""
        index = _index(self, side)
        bare = side.bare(words)
        lower = [word.casefold() for word in bare]
        found = []
        begin = 0
        while begin < len(bare):
            here = index.longest(bare, lower, begin)
            if here is None:
                begin += 1
            else:
                found.append(here)
                begin = here.end
        return found

    def marked(self, sentence: Sentence, side: TextSide, mode: Mode = "exclusive") -> Sentence:
        """Returns the sentence with its terms as marked phrases. ``side`` is the source text of the model.

        Phrases that are marked already stay, and no term is marked within or across one. Lattices have no
        marks."""
        if sentence.lattice is not None:
            return sentence
        words = side.words(sentence.text) if sentence.text is not None else sentence.tokens
        found = self.find(words, side)
        if not found:
            return sentence
        if sentence.text is not None:
            places = character_places(sentence.text, words, side)
        else:
            places = [(place, place + 1) for place in range(len(words))]
        phrases = list(sentence.markup.phrases)
        for one in found:
            begin, end = places[one.begin][0], places[one.end - 1][1]
            if all(end <= phrase.begin or phrase.end <= begin for phrase in sentence.markup.phrases):
                phrases.append(Phrase(begin, end, one.term.targets, mode=mode, label=one.term.label))
        markup = sentence.markup
        return replace(sentence, markup=Markup(phrases, markup.zones, markup.walls))

    def count(
        self, source: str, hypothesis: str, source_side: TextSide, target_side: TextSide
    ) -> tuple[int, int]:
        """Counts the terms of a source text, and those of them that a translation has as they are asked for.

        A term that occurs twice must have two of its translations there, and no word there is of two terms:
        those with the fewest translations choose first, and the exact ones of these."""
        found = self.find(source_side.words(source), source_side)
        if not found:
            return 0, 0
        words: list[str | None] = [*target_side.bare(target_side.words(hypothesis))]
        right = 0
        for one in sorted(found, key=lambda one: (len(one.term.targets), one.term.case != "exact")):
            phrases = {
                tuple(_cased(target_side.bare(target_side.words(target)), one.term))
                for target in one.term.targets
            }
            text = [None if word is None else _cased([word], one.term)[0] for word in words]
            place = _first_occurrence(text, phrases)
            if place is not None:
                words[place[0] : place[1]] = [None] * (place[1] - place[0])
                right += 1
        return len(found), right


class _Index:
    """Terms by their words in a text of one side."""

    def __init__(self, glossary: Glossary, side: TextSide) -> None:
        self._terms: dict[Case, dict[tuple[str, ...], Term]] = {"any": {}, "exact": {}}
        for term in glossary.terms:
            words = tuple(_cased(side.bare(side.words(term.source)), term))
            if not words:
                raise FormatError(f"{glossary.path}: term {term.source!r} has no words")
            known = self._terms[term.case].get(words)
            if known is not None:
                # Terms that are written otherwise and have the same words, or rules of several labels.
                label = known.label if known.label == term.label else ""
                term = Term(
                    known.source, tuple(dict.fromkeys(known.targets + term.targets)), label, term.case
                )
            self._terms[term.case][words] = term
        self._lengths = sorted(
            {len(words) for terms in self._terms.values() for words in terms}, reverse=True
        )

    def longest(self, words: Sequence[str], lower: Sequence[str], begin: int) -> Found | None:
        for length in self._lengths:
            end = begin + length
            if end > len(words):
                continue
            exact = self._terms["exact"].get(tuple(words[begin:end]))
            if (term := exact or self._terms["any"].get(tuple(lower[begin:end]))) is not None:
                return Found(begin, end, term)
        return None


@lru_cache(maxsize=8)
def _index(glossary: Glossary, side: TextSide) -> _Index:
    return _Index(glossary, side)


def _fields(line: str, where: str) -> tuple[str, str, str, Case]:
    fields = [part.strip() for part in line.split("\t")]
    if not 2 <= len(fields) <= 4 or not fields[0] or not fields[1]:
        raise FormatError(
            f"{where}: expected a term, a tab and its translation, and at most a label and any or exact"
        )
    label, case = (*fields[2:], "", "")[:2]
    choice = next((one for one in get_args(Case) if one == (case or "any")), None)
    if choice is None:
        raise FormatError(f"{where}: case {case!r}: expected any or exact")
    return fields[0], fields[1], label, choice


def _cased(words: Iterable[str], term: Term) -> list[str]:
    return [word if term.case == "exact" else word.casefold() for word in words]


def _first_occurrence(
    words: Sequence[str | None], phrases: Iterable[tuple[str, ...]]
) -> tuple[int, int] | None:
    """Finds the first occurrence of a phrase, the longest first: its first word and the word after its
    last. None if there is none."""
    for phrase in sorted((phrase for phrase in phrases if phrase), key=lambda one: (-len(one), one)):
        for begin in range(len(words) - len(phrase) + 1):
            if tuple(words[begin : begin + len(phrase)]) == phrase:
                return begin, begin + len(phrase)
    return None
