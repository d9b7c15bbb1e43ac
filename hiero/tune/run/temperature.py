"""The temperature of the confidence of words, and how well that is calibrated.

The probabilities that a forest gives to words are those of the model, whose scores have no scale of their
own: tuning for a metric may make them as large as it likes. So scores are divided by one number, the
temperature, which is chosen where the confidence of words is nearest to whether they are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hiero._core import Translation
from hiero.tune.run.model_decoder import ModelDecoder
from hiero.tune.run.protocol import Array

# The temperatures to choose among, from 0.5 to 16.
TEMPERATURES = tuple(2.0 ** (k / 2) for k in range(-2, 9))
_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Words of about the same confidence: how many, their mean confidence, and the share that is right."""

    words: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """A temperature, the mean squared difference of confidence and right at it (Brier 1950), and the bins.

    The bins have the words with a confidence below 0.1, below 0.2 and so on that there are. Words that were
    unknown and copied are left out.
    """

    temperature: float
    squared_error: float
    bins: Sequence[Bin]

    @property
    def words(self) -> int:
        return sum(one.words for one in self.bins)

    @property
    def error(self) -> float:
        """The expected calibration error: how far confidence is from the share right, over all words."""
        return sum(one.words * abs(one.confidence - one.right) for one in self.bins) / self.words


def right_words(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> Array:
    """Returns for each word how far it is right, from 0 to 1.

    It is the number of times that the reference with the most of this word has it, over the number of times
    that the translation has it.
    """
    most: Counter[str] = Counter()
    for reference in references:
        most |= Counter(reference)
    own = Counter(tokens)
    return np.array([min(1.0, most[token] / own[token]) for token in tokens])


def choose_temperature(
    decoder: ModelDecoder, references: Sequence[Sequence[str]], weights: Array
) -> Calibration | None:
    """Chooses among ``TEMPERATURES`` the one with the smallest squared error on a set with references.

    ``references`` are lines of tokens, by sentence. Returns None where no known word is translated.
    """
    sums = np.zeros((len(TEMPERATURES), _BINS, 4))
    translations = decoder.translations(weights, _words)
    for words, lines in zip(translations, references, strict=True):
        if words is not None:
            right = right_words(words.tokens, [line.split() for line in lines])
            sums += _compare(words.confidence[:, words.known], right[words.known])
    if not sums[0, :, 0].any():
        return None
    errors = sums[:, :, 3].sum(axis=1) / sums[0, :, 0].sum()
    best = int(errors.argmin())
    bins = [Bin(int(n), of / n, right / n) for n, of, right, _ in sums[best].tolist() if n]
    return Calibration(TEMPERATURES[best], float(errors[best]), bins)


@dataclass(frozen=True)
class _Words:
    """The words of a translation: which are known, and their confidence, (temperatures, words)."""

    tokens: Sequence[str]
    known: npt.NDArray[np.bool_]
    confidence: Array


def _words(_: int, result: Translation | None) -> _Words | None:
    """Returns the words of a translation, if there is one. On a cluster this is done where it is made."""
    if result is None or not result.has_parse:
        return None
    tokens, unknown = result.tokens, set(result.unknown)
    known = np.ones(len(tokens), dtype=bool)
    known[[target for source, target in result.alignment if source in unknown]] = False
    scores = result.forest.scores(result.weights)
    distributions = (result.forest.distribution(scores / temperature) for temperature in TEMPERATURES)
    return _Words(tokens, known, np.array([p.word_posteriors(tokens) for p in distributions]))


def _compare(confidence: Array, right: Array) -> Array:
    """Sums words, confidence, right, and their squared difference: (temperatures, bins, 4)."""
    sums = np.zeros((len(confidence), _BINS, 4))
    for of_bins, sure in zip(sums, confidence, strict=True):
        bins = np.minimum((sure * _BINS).astype(int), _BINS - 1)
        for column, values in enumerate((np.ones_like(right), sure, right, (sure - right) ** 2)):
            of_bins[:, column] = np.bincount(bins, values, _BINS)
    return sums
