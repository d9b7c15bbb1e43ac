"""Input of `hiero decode` for single sentences: additional rules, and references to force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hiero import Decoder, Derivation, Failure, Forest, FormatError, Rule, Sentence, Translation
from hiero.base.lines import read_lines
from hiero.base.text import TextSide, split
from hiero.decode.decoder import Keep
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.nist_xml import SegmentSet


class Forcing:
    """References by sentence, as tokens, one of which a derivation is to arrive at."""

    def __init__(
        self,
        files: Sequence[Path],
        segments: SegmentSet | None,
        tokens: bool,
        target: TextSide,
        weights: Mapping[str, float],
    ) -> None:
        """Raises FormatError for files that do not fit together, or the set that is translated."""
        self._weights = weights
        found = EvaluationSet.read(files, segments, complete=False)
        if (segments is None) != (found.source is None):
            raise FormatError(f"{files[0]}: source and references are to be text both, or both NIST's files")
        self._file = files[0]
        tokens_of = split if tokens else target.tokens
        # A blank line is a missing reference; where all are blank, what is asked for is an empty translation.
        self._references = [
            [tokens_of(line) for line in segment if line.strip()] or [[]] for segment in found.references
        ]

    def forest(self, number: int, translation: Translation) -> Forest:
        """The derivations of sentence ``number`` that yield a reference, of those that were kept.

        Raises FormatError for a sentence beyond the last reference."""
        if number >= len(self._references):
            raise FormatError(f"{self._file}: {len(self._references)} segments, where the source has more")
        return translation.forest.constrain(self._references[number])

    def failure(self, number: int) -> str:
        """Says of sentence ``number`` that none was kept."""
        if self._references[number] == [[]]:
            return "its references are blank, and no derivation that was kept yields nothing"
        return "no derivation that was kept yields a reference"

    def kbest(self, forest: Forest, k: int, unique: bool) -> list[Derivation]:
        """The best of such a forest."""
        weights = {name: self._weights.get(name, 0.0) for name in forest.feature_names}
        return forest.kbest(k, weights, unique)

    def check(self, sentences: int) -> None:
        """Raises FormatError if there are fewer sentences than references."""
        if sentences < len(self._references):
            raise FormatError(
                f"{self._file}: {len(self._references)} segments, where the source has {sentences}"
            )


class SentenceRules:
    """Rules by the number of their sentence, from 0, and the weights of what features only they have."""

    def __init__(self, path: Path | None = None) -> None:
        """Opens a file of lines ``number ||| rule``, the rule as in rule tables. Raises FormatError."""
        self.path = path
        self._rules: dict[int, list[Rule]] = {}
        self.weights: dict[str, float] = {}
        # Of features that some sentence's rules have.
        self._met: set[str] = set()
        for line_number, line in enumerate([] if path is None else read_lines(path), start=1):
            where = f"{path}:{line_number}"
            number, bar, text = line.partition(" ||| ")
            if not (bar and number.isascii() and number.isdecimal()):
                raise FormatError(f"{where}: expected the number of a sentence, from 0, ||| and a rule")
            try:
                rule = Rule(text)
            except FormatError as error:
                raise FormatError(f"{where}: {error}") from None
            self._rules.setdefault(int(number), []).append(rule)

    def take_weights(
        self, given: Mapping[str, float], model_features: Sequence[str], records: bool
    ) -> dict[str, float]:
        """Keeps the weights of features that the rules have and the model has not, and returns the others.

        Raises FormatError unless all of these features have one. What features the sentences' records bring
        is not known yet: where there are ``records``, all that the model has not may be theirs."""
        own = {name for rules in self._rules.values() for rule in rules for name in rule.features}
        own.difference_update(model_features)
        if missing := sorted(own.difference(given)):
            names = ", ".join(missing)
            raise FormatError(
                f"{self.path}: features that the model has not need weights, "
                f"by --weights or --set-weight: {names}"
            )
        if records:
            own = set(given).difference(model_features)
        self.weights = {name: weight for name, weight in given.items() if name in own}
        return {name: weight for name, weight in given.items() if name not in own}

    def attempt(self, decoder: Decoder, number: int, sentence: Sentence, keep: Keep) -> Translation | Failure:
        """Sentence ``number`` with these rules and its own."""
        rules = [*sentence.rules, *self._rules.get(number, ())]
        if not rules:
            return decoder.attempt(sentence, keep=keep)
        named = {name for rule in rules for name in rule.features}
        self._met |= named
        own = {name: weight for name, weight in self.weights.items() if name in named}
        return decoder.attempt(Sentence.of(sentence, rules=rules), keep=keep, weights=own or None)

    def check(self, sentences: int) -> None:
        """Raises FormatError for rules of a sentence beyond the last, and weights of no rule's features."""
        last = max(self._rules, default=-1)
        if last >= sentences:
            raise FormatError(
                f"{self.path}: rules of sentence {last}, where the source has {sentences}, from 0"
            )
        if unmet := sorted(self.weights.keys() - self._met):
            names = ", ".join(unmet)
            raise FormatError(
                f"weights of {names}: the model has no such features, nor had the rules of a sentence"
            )
