"""Rules and references for single sentences in `hiero decode`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiero import Decoder, Failure, FormatError, Rule, Sentence, Translation
from hiero.base.lines import read_lines
from hiero.base.text import split
from hiero.decode.decoder import Keep
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.nist_xml import SegmentSet
from hiero.features.glossary import Glossary
from hiero.features.markup import Mode
from hiero.features.sentence import features_of_other_sentences, sentence_features
from hiero.text import TextSide


class Forcing:
    """Forced decoding: references by sentence, one of which a derivation must yield."""

    def __init__(
        self, files: Sequence[Path], segments: SegmentSet | None, tokens: bool, target: TextSide
    ) -> None:
        """Reads references of raw text, or of ``tokens``; ``target`` makes tokens of text. Raises FormatError
        for files that do not fit each other or the set that is translated."""
        test_set = EvaluationSet.read(files, segments, complete=False)
        if (segments is None) != (test_set.source is None):
            raise FormatError(f"{files[0]}: source and references must both be text, or both NIST's files")
        self._file = files[0]
        tokens_of = split if tokens else target.tokens
        # A blank line is a missing reference. If all are blank, the translation must be empty.
        self._references = [
            [tokens_of(line) for line in segment if line.strip()] or [[]] for segment in test_set.references
        ]

    def forced(self, number: int, sentence: Sentence) -> Sentence:
        """Returns sentence ``number`` with its references.

        Raises FormatError for a sentence beyond the last reference."""
        if number >= len(self._references):
            raise FormatError(f"{self._file}: {len(self._references)} segments, where the source has more")
        return Sentence.from_source(sentence, references=self._references[number])

    def check(self, sentences: int) -> None:
        """Raises FormatError if there are fewer sentences than references."""
        if sentences < len(self._references):
            raise FormatError(
                f"{self._file}: {len(self._references)} segments, where the source has {sentences}"
            )


class Prefixes:
    """Beginnings of translations, from a file, by the number of their sentence, from 0."""

    def __init__(self, path: Path | None = None, tokens: bool = False) -> None:
        """Reads a file with a prefix on every line, of raw text or of ``tokens``; blank: none. The last word
        may be unfinished, unless a blank follows. Raises FormatError."""
        self._path = path
        self._prefixes = [] if path is None else list(read_lines(path))
        self._tokens = tokens

    def prefixed(self, number: int, sentence: Sentence) -> Sentence:
        """Returns sentence ``number`` with its prefix; a sentence whose line is blank is unchanged. Raises
        FormatError for a sentence beyond the last line."""
        if self._path is None:
            return sentence
        if number >= len(self._prefixes):
            raise FormatError(f"{self._path}: {len(self._prefixes)} lines, where the source has more")
        prefix = self._prefixes[number]
        if not prefix.strip():
            return sentence
        words = split(prefix) if self._tokens else prefix
        return Sentence.from_source(sentence, prefix=words)

    def check(self, sentences: int) -> None:
        """Raises FormatError if there are fewer sentences than lines."""
        if sentences < len(self._prefixes):
            raise FormatError(f"{self._path}: {len(self._prefixes)} lines, where the source has {sentences}")


def no_derivation(sentence: Sentence, result: Translation) -> str:
    """Returns the message for a sentence without a derivation that obeys what is said of its translation."""
    if not sentence.is_constrained:
        return "no derivation covers the sentence"
    if not sentence.references:
        message = "no derivation obeys what is said of the translation"
    elif list(sentence.references) == [()]:
        message = "its references are blank, and no derivation yields nothing"
    else:
        message = "no derivation yields a reference"
    source = " ".join(result.source[position] for position in result.uncovered_source)
    return f"{message}; no rule that agrees translates: {source}" if source else message


@dataclass(frozen=True)
class Terms:
    """A glossary, whose terms are marked in sentences, and the text of the model's source."""

    glossary: Glossary
    side: TextSide
    mode: Mode

    def mark(self, sentence: Sentence) -> Sentence:
        """Returns the sentence with its terms as marked phrases."""
        return self.glossary.marked(sentence, self.side, self.mode)


class SentenceRules:
    """Rules for single sentences, by the number of the sentence, from 0.

    They may have features that the model has not, whose weights are kept here.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Reads a file of lines ``number ||| rule``, with rules as in rule tables. Raises FormatError."""
        self.path = path
        self._rules: dict[int, list[Rule]] = {}
        self.weights: dict[str, float] = {}
        # Features of what the sentences so far brought.
        self._seen: set[str] = set()
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
        self, weights: Mapping[str, float], model_features: Sequence[str], may_have_rules: bool
    ) -> dict[str, float]:
        """Keeps the weights of features that the rules have and the model has not, and returns the others.

        Raises FormatError unless all of these features have a weight. With ``may_have_rules``,
        sentences may bring rules with further features: the weights of all that are not the model's are
        kept."""
        features = {name for rules in self._rules.values() for rule in rules for name in rule.features}
        features.difference_update(model_features)
        if missing := sorted(features.difference(weights)):
            names = ", ".join(missing)
            raise FormatError(
                f"{self.path}: features that the model has not need weights, "
                f"by --weights or --set-weight: {names}"
            )
        if may_have_rules:
            features = set(weights).difference(model_features)
        others = features_of_other_sentences(weights, model_features)
        features |= others
        self._seen |= others
        self.weights = {name: weight for name, weight in weights.items() if name in features}
        return {name: weight for name, weight in weights.items() if name not in features}

    def note(self, number: int, sentence: Sentence) -> None:
        """Notes the features of the rules of sentence ``number``, for ``check``."""
        self._seen |= sentence_features(sentence)
        for rule in self._rules.get(number, ()):
            self._seen.update(rule.features)

    def attempt(self, decoder: Decoder, number: int, sentence: Sentence, keep: Keep) -> Translation | Failure:
        """Translates sentence ``number`` with its rules from the file and from its record."""
        if own := self._rules.get(number):
            sentence = Sentence.from_source(sentence, rules=[*sentence.rules, *own])
        features = sentence_features(sentence)
        weights = {name: weight for name, weight in self.weights.items() if name in features}
        return decoder.attempt(sentence, keep=keep, weights=weights or None)

    def check(self, sentences: int) -> None:
        """Raises FormatError for rules of a sentence beyond the last, and for weights of unknown features."""
        last = max(self._rules, default=-1)
        if last >= sentences:
            raise FormatError(
                f"{self.path}: rules of sentence {last}, where the source has {sentences}, from 0"
            )
        if unseen := sorted(self.weights.keys() - self._seen):
            names = ", ".join(unseen)
            raise FormatError(
                f"weights of {names}: the model has no such features, nor had the rules of a sentence"
            )
