"""Rules for names and terms in a dictionary (the "name rules" of Chiang, Marton and Resnik 2008).

The file has one line for each translation, ``source phrase TAB target phrase``, plain or compressed. Tokens
are separated by blanks and have the same case as in the model. Lines that begin with ``#`` are comments:

    # persons
    anna schmidt<TAB>Anna Schmidt
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hiero._core import FormatError, Rule
from hiero.base.lines import read_lines
from hiero.base.settings import Settings
from hiero.base.text import split
from hiero.features.sentence import Sentence
from hiero.generators.protocol import Label, phrase_rule

_FEATURE = "NameRule"
Tokens = tuple[str, ...]


class NameRules(Settings):
    """A generator of rules, with the feature ``NameRule=1``, for phrases of a dictionary.

    It makes one rule for each translation of each phrase in a sentence. The ``dictionary`` is read when it is
    first needed, and when a model is saved or loaded. If both sides of an entry have the same number of
    tokens, they are linked in order; otherwise all tokens are linked to each other.
    """

    kind: Literal["names"] = "names"
    dictionary: Path
    label: Label = "X"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def features(self) -> Sequence[str]:
        return [_FEATURE]

    @cached_property
    def phrases(self) -> dict[Tokens, list[Tokens]]:
        """The translations of each source phrase.

        Raises OSError, and FormatError for a line that is not an entry.
        """
        phrases: dict[Tokens, dict[Tokens, None]] = {}
        for number, line in enumerate(read_lines(self.dictionary), start=1):
            if line.startswith("#") or not line.strip():
                continue
            sides = [tuple(split(side)) for side in line.split("\t")]
            if len(sides) != 2 or not all(sides):
                raise FormatError(
                    f"{self.dictionary}:{number}: expected a source phrase, a tab and a target phrase"
                )
            phrases.setdefault(sides[0], {})[sides[1]] = None
        return {source: list(targets) for source, targets in phrases.items()}

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(source) for source in self.phrases})

    def rules(self, sentence: Sentence) -> list[Rule]:
        tokens = tuple(sentence.tokens)
        spans = (
            tokens[begin : begin + length]
            for length in self._lengths
            for begin in range(len(tokens) - length + 1)
        )
        return [
            self._rule(source, target)
            for source in dict.fromkeys(spans)
            for target in self.phrases.get(source, ())
        ]

    def _rule(self, source: Sequence[str], target: Sequence[str]) -> Rule:
        if len(source) == len(target):
            links = [(i, i) for i in range(len(source))]
        else:
            links = [(s, t) for s in range(len(source)) for t in range(len(target))]
        return phrase_rule(self.label, source, target, _FEATURE, links)

    def with_dictionary(self, dictionary: Path) -> NameRules:
        """Returns the generator for the dictionary at another path."""
        return NameRules(dictionary=dictionary, label=self.label)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles only the settings."""
        return type(self).model_validate, (self.model_dump(),)
