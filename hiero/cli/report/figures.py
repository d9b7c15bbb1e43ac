"""Figures of a test set that explain its scores: lengths, n-gram precisions, and scores of parts of it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiero.base.lines import read_lines
from hiero.base.text import split
from hiero.cli.report.evaluation import Evaluation
from hiero.evaluate.breakdown import Bins, f1, scores_by_bin, word_matches
from hiero.evaluate.metric import Array
from hiero.evaluate.tokens import IntArray
from hiero.forest.losses import BleuColumns
from hiero.text import TextProcessing

# Words of a source sentence.
LENGTHS = Bins(0, 11, 21, 31, 41, 61)
# How often a word is in the training text.
FREQUENCIES = Bins(0, 1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True)
class BleuParts:
    """The parts of BLEU of a system: the length of translations over that of references, the brevity penalty,
    which is a factor of BLEU, and the share of n-grams that match, n = 1 to 4."""

    length_ratio: float
    brevity_penalty: float
    precisions: Sequence[float]

    @classmethod
    def of(cls, totals: Array) -> BleuParts:
        """Computes them from the sum of BLEU's statistics, (10)."""
        length, references = totals[[BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]].tolist()
        matches, counts = totals[BleuColumns.MATCHES], totals[BleuColumns.TOTALS]
        ratio = length / references
        penalty = math.exp(min(1 - 1 / ratio, 0)) if ratio else 0.0
        return cls(ratio, penalty, (matches / np.maximum(counts, 1)).tolist())


@dataclass(frozen=True)
class WordAccuracy:
    """The share of words that are translated right, by their frequency in the training text.

    ``words`` counts the words of references in each of the bins ``FREQUENCIES``, and ``f1`` has the harmonic
    mean of precision and recall in each, by system; None for a bin without words.
    """

    words: Sequence[int]
    f1: Mapping[str, Sequence[float | None]]

    @property
    def untrained(self) -> float:
        """The share of reference words that are not in the training text."""
        return self.words[0] / max(sum(self.words), 1)


@dataclass(frozen=True)
class SetFigures:
    """Figures of a test set. ``lengths`` has the number of words of each source sentence, ``sentences`` the
    number of sentences in each of the bins ``LENGTHS``, and ``by_length`` their BLEU by system. ``words`` is
    None if the training text was deleted."""

    lengths: IntArray
    parts: Mapping[str, BleuParts]
    sentences: Sequence[int]
    by_length: Mapping[str, Sequence[float | None]]
    words: WordAccuracy | None


@dataclass(frozen=True)
class SetWords:
    """The words of a test set as the model has them: of each source sentence, of each reference of each
    segment, and of each translation by system."""

    source: Sequence[Sequence[str]]
    references: Sequence[Sequence[Sequence[str]]]
    translations: Mapping[str, Sequence[Sequence[str]]]

    @classmethod
    def of(cls, evaluation: Evaluation, text: TextProcessing) -> SetWords:
        """Splits texts into words. An empty reference counts as missing."""
        source, target = text.source.tokens, text.target.tokens
        return cls(
            [source(line) for line in evaluation.source],
            [[target(line) for line in segment if line.strip()] for segment in evaluation.references],
            {name: [target(line) for line in lines] for name, lines in evaluation.translations.items()},
        )

    def target_words(self) -> set[str]:
        """Returns the different words of references and translations."""
        texts = itertools.chain(*self.references, *self.translations.values())
        return {word for words in texts for word in words}


def set_figures(evaluation: Evaluation, words: SetWords, frequencies: Mapping[str, int] | None) -> SetFigures:
    """Computes the figures of a test set from its words and from their frequencies in the training text, None
    if that was deleted."""
    lengths = np.array([len(line) for line in words.source], dtype=np.int32)
    bins = LENGTHS.of(lengths)
    return SetFigures(
        lengths=lengths,
        parts={name: BleuParts.of(rows.sum(axis=0)) for name, rows in evaluation.statistics.items()},
        sentences=np.bincount(bins, minlength=len(LENGTHS)).tolist(),
        by_length={
            name: scores_by_bin(evaluation.bleu, rows, bins, len(LENGTHS))
            for name, rows in evaluation.statistics.items()
        },
        words=None if frequencies is None else _word_accuracy(words, frequencies),
    )


def _word_accuracy(words: SetWords, frequencies: Mapping[str, int]) -> WordAccuracy:
    known = sorted(words.target_words())
    numbers = FREQUENCIES.of([frequencies.get(word, 0) for word in known]).tolist()
    bins = dict(zip(known, numbers, strict=True))
    counts = {
        name: word_matches(words.references, lines, bins.__getitem__, len(FREQUENCIES))
        for name, lines in words.translations.items()
    }
    expected = next(iter(counts.values()))[:, 2].tolist()
    return WordAccuracy(expected, {name: f1(matches) for name, matches in counts.items()})


def training_frequencies(corpus: Path, sets: Iterable[SetWords]) -> dict[str, int] | None:
    """Counts in the tokenised training text ``corpus`` the words of the target side of sets; None if the text
    was deleted. Other words are not counted, as they may take much memory. Raises FormatError, OSError."""
    if not corpus.exists():
        return None
    wanted = {word for one in sets for word in one.target_words()}
    counts: Counter[str] = Counter()
    for line in read_lines(corpus):
        counts.update(filter(wanted.__contains__, split(line)))
    return dict(counts)
