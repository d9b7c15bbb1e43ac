"""Losses for training on forests: linear BLEU, and the pseudo-document in which BLEU is measured.

BLEU counts of the core are rows float64 (10), which add up over sentences; ``BleuColumns`` names their
columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hiero._core import Forest, bleu, bleu_counts

__all__ = ["BleuDocument", "LinearBleu", "bleu", "bleu_counts", "totals_and_matches"]

Array = npt.NDArray[np.float64]
Tokens = Sequence[str]
ORDER = 4
COLUMNS = 2 * ORDER  # of totals_and_matches


class BleuColumns:
    """Columns of a row of BLEU counts, as ``bleu_counts`` and ``hiero.evaluate.Bleu`` return it.

    >>> counts = bleu_counts(["a", "b"], [["a", "c", "b"]])
    >>> float(counts[BleuColumns.REFERENCE_LENGTH]), counts[BleuColumns.MATCHES].tolist()
    (3.0, [2.0, 0.0, 0.0, 0.0])
    """

    LENGTH = 0
    # The effective reference length.
    REFERENCE_LENGTH = 1
    # The n-grams of the translation and those that match, clipped, for n = 1 to 4.
    TOTALS = slice(2, 2 + ORDER)
    MATCHES = slice(2 + ORDER, 2 + 2 * ORDER)
    WIDTH = 2 + 2 * ORDER


@dataclass(frozen=True)
class LinearBleu:
    """Linear BLEU: an approximation of the loss of corpus BLEU.

    L(y) = -(theta_0 |y| + sum over n-grams w of y of theta_n [w in a reference]), n = 1 to 4 (Tromble et al.
    2008; Li and Eisner 2009, equation 8).
    theta_0 = -1/T and theta_n = 1/(4 T p r^(n-1)) for T candidate words, unigram precision p and ratio r of
    the precisions of successive orders.

    >>> loss = LinearBleu(words=10, precision=0.8, ratio=0.5)
    >>> tuple(round(theta, 4) for theta in loss.theta)
    (-0.1, 0.0312, 0.0625, 0.125, 0.25)
    """

    words: float
    precision: float = 0.85
    ratio: float = 0.7

    def __post_init__(self) -> None:
        if not (self.words > 0 and 0 < self.precision <= 1 and self.ratio > 0):
            raise ValueError(f"{self}: expected words > 0, 0 < precision <= 1 and ratio > 0")
        try:
            finite = all(map(math.isfinite, self.theta))
        except ArithmeticError:
            finite = False
        if not finite:
            raise ValueError(f"{self}: theta would not be finite")

    @classmethod
    def estimate(cls, counts: npt.ArrayLike) -> LinearBleu:
        """Estimates the parameters from BLEU counts of translations: r is the third root of p_4 / p_1.

        Raises ValueError if there is no match of some order.
        """
        values = np.asarray(counts, dtype=np.float64)
        totals, matches = values[BleuColumns.TOTALS], values[BleuColumns.MATCHES]
        if values.shape != (BleuColumns.WIDTH,) or not (matches > 0).all():
            raise ValueError("linear BLEU: expected 10 counts with matches of every order")
        precisions = matches / totals
        ratio = float((precisions[3] / precisions[0]) ** (1 / 3))
        return cls(float(values[BleuColumns.LENGTH]), float(precisions[0]), ratio)

    @property
    def theta(self) -> tuple[float, ...]:
        """The coefficients theta_0 to theta_4."""
        by_order = (1 / (ORDER * self.words * self.precision * self.ratio**n) for n in range(ORDER))
        return (-1 / self.words, *by_order)

    def losses(self, forest: Forest, references: Sequence[Tokens]) -> Array:
        """Returns the loss of every edge, float64 (edges). The loss of a string is the sum over a derivation.

        Raises ValueError if the forest is not annotated with 4-grams (``annotate_ngrams(4)``).
        """
        return np.asarray(totals_and_matches(forest, references) @ self.costs)

    @property
    def costs(self) -> Array:
        """The factors of ``totals_and_matches`` in the loss, float64 (8)."""
        words, *matches = self.theta
        return -np.array([words, *[0.0] * (ORDER - 1), *matches])


def totals_and_matches(forest: Forest, references: Sequence[Tokens]) -> npt.NDArray[np.float32]:
    """Returns the n-grams that arise at each edge and those that match, unclipped, for n = 1 to 4.

    The result is float32 (edges, 8): four totals, then four numbers of matches.
    Raises ValueError if the forest is not annotated with 4-grams.
    """
    if forest.ngram_order != ORDER:
        raise ValueError(f"BLEU counts {ORDER}-grams: annotate the forest with n = {ORDER}")
    return np.hstack(forest.ngram_matches(references)).astype(np.float32)


def _initial_counts() -> Array:
    return np.array([4.0, 4.0, 4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0])


@dataclass(frozen=True)
class BleuDocument:
    """The pseudo-document O of Chiang et al. (2008), section 2.2: decayed counts of the previous sentences.

    It starts with a few words, all of which match, so that no precision is 0. ``source`` is O_f, a number of
    source words.
    """

    counts: Array = field(default_factory=_initial_counts)
    source: float = 4.0

    def after_sentence(self, counts: npt.ArrayLike, source: int) -> BleuDocument:
        """Returns the document after a sentence with these counts and source words: O <- 0.9 (O + c)."""
        return BleuDocument(0.9 * (self.counts + np.asarray(counts)), 0.9 * (self.source + source))

    def b(self, counts: npt.ArrayLike, source: int) -> float:
        """Returns B(e) = (O_f + |f|) BLEU(O + c(e))."""
        return float((self.source + source) * bleu(self.counts + np.asarray(counts)))
