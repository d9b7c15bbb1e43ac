"""The work of `hiero decode`: from input lines to records, and from records to outputs."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hiero import Decoder, Derivation, Error, Failure, Forest, FormatError, Sentence, Translation
from hiero.base.lines import count_lines
from hiero.base.memory import peak_megabytes
from hiero.base.parallel import spread_map
from hiero.base.text import one_line
from hiero.cli.base.progress import progress_line
from hiero.cli.base.warnings import warn
from hiero.cli.io.lines import Lines, SentenceParses
from hiero.cli.io.records import Record
from hiero.cli.io.sentences import Forcing, Prefixes, SentenceRules, Terms, no_derivation
from hiero.cli.io.sinks import Sinks
from hiero.cli.io.unknown_words import UnknownWords
from hiero.decode.decoder import Keep
from hiero.text import TextSide

# Chooses a derivation of a forest, given the weights that the forest was made with.
Choice = Callable[[Forest, Mapping[str, float]], Derivation | None]
Advance = Callable[[], object]
# Lines that go to a place of a cluster together.
_TOGETHER = 8


@dataclass(frozen=True)
class Line:
    """An input line: its number, its sentence with its name, and what is wrong with it, if anything."""

    number: int
    name: int | str | None
    sentence: Sentence
    error: str | None


@dataclass(frozen=True)
class Translator:
    """A decoder, and all that is known of the sentences that it translates.

    ``keep`` must be "forest" with ``nbest``, ``choose`` or ``confidence``; ``choose`` excludes ``forcing``
    and ``nbest``.
    """

    decoder: Decoder
    rules: SentenceRules
    parses: SentenceParses
    prefixes: Prefixes
    terms: Terms | None
    forcing: Forcing | None
    choose: Choice | None
    nbest: int | None
    unique: bool
    confidence: bool
    keep: Keep

    def record(self, line: Line) -> Record:
        """Translates a sentence. May be called from any thread.

        Raises FormatError if ``forcing`` or ``prefixes`` end before the sentence."""
        if self.terms is not None:
            line = replace(line, sentence=self.terms.mark(line.sentence))
        record = self._record(line)
        if not self.confidence:
            return record
        result = record.result
        if record.best and (self.forcing is not None or line.sentence.references):
            # All words of a reference are certain where nothing else is allowed.
            free = self._translate(line.number, replace(line.sentence, references=()))
            result = None if isinstance(free, Failure) else free
        return replace(record, confidence=result.confidence(record.best) if result and record.best else [])

    def _record(self, line: Line) -> Record:
        number, name, sentence = line.number, line.name, line.sentence
        sentence = self.prefixes.prefixed(number, sentence)
        if self.forcing is not None:
            sentence = self.forcing.forced(number, sentence)
        result = self._translate(number, sentence)
        if line.error is not None:
            return Record(number, name, error=line.error)
        if isinstance(result, Failure):
            return Record(number, name, error=one_line(result.error))
        forest: Forest | None = getattr(result, "forest", None)  # None unless it was kept
        if not result.source:
            return Record(number, name, result, forest, result.derivation)
        if not result.has_parse:
            return Record(number, name, result, forest, error=no_derivation(sentence, result))
        hypotheses, error = self._hypotheses(result, forest)
        if error is not None:
            return Record(number, name, result, forest, error=error)
        nbest = hypotheses if self.nbest is not None else []
        target = self.decoder.model.text.target
        if not sentence.is_raw:
            texts = [one.text for one in nbest or hypotheses[:1]]
        else:
            given = self._in_tokens(sentence)
            texts = [
                target.text(one.tokens, given.given_places(one, target)) for one in nbest or hypotheses[:1]
            ]
        return Record(number, name, result, forest, hypotheses[0], nbest, texts)

    def _in_tokens(self, sentence: Sentence) -> Sentence:
        """Returns a sentence with its marks in tokens, or as it is if it has none."""
        return sentence.with_tokens(self.decoder.model.text.source) if sentence.markup.phrases else sentence

    def check(self, sentences: int) -> None:
        """Raises FormatError for rules, parses, prefixes or references of more sentences than there were."""
        self.rules.check(sentences)
        self.parses.check(sentences)
        self.prefixes.check(sentences)
        if self.forcing is not None:
            self.forcing.check(sentences)

    def _translate(self, number: int, sentence: Sentence) -> Translation | Failure:
        try:
            return self.rules.attempt(self.decoder, number, self.parses.parsed(number, sentence), self.keep)
        except FormatError as error:
            return Failure(sentence, error)

    def _hypotheses(self, result: Translation, forest: Forest | None) -> tuple[list[Derivation], str | None]:
        """Returns the n-best list, or else the best or the chosen derivation; or none, and a message."""
        if self.choose is not None and forest is not None:
            try:
                chosen = self.choose(forest, result.weights)
            except (Error, ValueError) as error:  # in this sentence: the others are not affected
                return [], one_line(error)
            assert chosen is not None
            return [chosen], None
        nbest = [] if self.nbest is None else result.kbest(self.nbest, unique=self.unique)
        return nbest or [result.derivation], None


@dataclass(frozen=True)
class Translated:
    """The rest of a sentence that was translated: its parts for the sinks, and what is counted."""

    number: int
    error: str | None
    converted: Sequence[Any]
    source: Sequence[str] = ()
    unknown: Sequence[int] = ()
    hypotheses: int = 0
    lm_queries: int = 0
    optimal: bool = False


@dataclass(frozen=True)
class _Translate:
    """Translates a line and converts its record, on any thread or any place of a cluster."""

    translator: Translator
    converts: Sequence[Callable[[Record], Any]]

    def __call__(self, line: Line) -> Translated:
        record = self.translator.record(line)
        converted = [convert(record) for convert in self.converts]
        if (result := record.result) is None:
            return Translated(record.number, record.error, converted)
        counts = result.stats.hypotheses, result.stats.lm_queries, record.gap == 0
        return Translated(
            record.number, record.error, converted, result.source, list(result.unknown), *counts
        )


class Tally:
    """Counts of sentences, words and the work of the search. ``source`` is the text of the source."""

    def __init__(self, source: TextSide) -> None:
        self.sentences = self.hypotheses = self.lm_queries = self.failures = self.optimal = 0
        self._words = UnknownWords(source)

    def add(self, one: Translated) -> None:
        self.sentences += 1
        self.failures += one.error is not None
        self._words.add_words(one.source, one.unknown)
        self.hypotheses += one.hypotheses
        self.lm_queries += one.lm_queries
        self.optimal += one.optimal

    def report(self, loading: float, decoding: float) -> None:
        """Prints the counts on stderr, with the seconds that loading and decoding took."""
        words = self._words.words
        print(
            f"loading {loading:.2f} s, decoding {decoding:.2f} s\n"
            f"{self.sentences} sentences, {self.sentences / decoding:.1f} a second; "
            f"{words} words, {words / decoding:.1f} a second, {self._words.share} unknown\n"
            f"{self.hypotheses} hypotheses, {self.lm_queries} LM queries, "
            f"{self.optimal / max(1, self.sentences):.1%} of sentences proved optimal, "
            f"peak memory {peak_megabytes():.0f} MB",
            file=sys.stderr,
        )

    def warn(self, source: Path | None) -> None:
        """Warns if much of the text, a file or standard input, is unknown to the model."""
        if self._words.is_much:
            warn(f"{source or 'standard input'}: {self._words.describe()}")


def translate_lines(
    lines: Lines, translator: Translator, sinks: Sinks, threads: int, advance: Advance
) -> Tally:
    """Translates lines into sinks, in order, prints an error for each line that has none, and calls
    ``advance`` after each. Raises FormatError for inputs of more sentences than there are lines."""
    tally = Tally(translator.decoder.model.text.source)
    translate = _Translate(translator, [sink.convert for sink in sinks])
    for one in spread_map(translate, _noted(lines, translator.rules), threads, _TOGETHER):
        if one.error is not None:
            print(f"{lines.place(one.number)}: {one.error}", file=sys.stderr)
        for sink, part in zip(sinks, one.converted, strict=True):
            sink.write(part)
        tally.add(one)
        advance()
    for sink in sinks:
        sink.end()
    translator.check(tally.sentences)
    return tally


def _noted(lines: Lines, rules: SentenceRules) -> Iterator[Line]:
    for number, sentence in lines:
        rules.note(number, sentence)
        yield Line(number, lines.id_of(number, sentence), sentence, lines.invalid.get(number))


@contextlib.contextmanager
def showing_progress(source: Path | None, lines: Lines, quiet: bool) -> Iterator[Advance]:
    """Yields the function to call after each sentence, which shows the progress through a source file."""
    is_countable = source is not None and source.is_file()
    with progress_line(quiet or not is_countable) as progress:
        total = len(lines.places) or (0 if progress is None or source is None else count_lines(source))
        done = itertools.count(1)
        yield lambda: progress and progress("translate: sentences", next(done), total)
