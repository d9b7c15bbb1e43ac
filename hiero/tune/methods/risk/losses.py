"""Losses of minimum risk training, as functions of the counts that are expected of the whole set.

The counts are n-grams and their unclipped matches, float64 (8), or for a loss of lists one column. The loss
of Li and Eisner (2009) is linear in them (Tromble et al. 2008) and has no brevity penalty, so that
translations grow short with one reference. BLEU is not linear; it is minimised by its tangent, a linear loss,
computed anew at every step. All losses are measured in words: a smaller loss would vanish beside the entropy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hiero.forest.losses import ORDER, BleuColumns, LinearBleu
from hiero.tune.methods.risk.options import RiskOptions
from hiero.tune.run.protocol import Array

# The smooth brevity penalty turns on within about 1 / 100 of the reference length.
_SHARPNESS = 100.0


class Loss(Protocol):
    """A loss of expected counts, float64 (columns), summed over the set."""

    def value(self, counts: Array) -> float: ...

    def slopes(self, counts: Array) -> Array:
        """Computes the derivatives in the counts, float64 (columns)."""


@dataclass(frozen=True)
class LinearLoss:
    """A sum of the counts with these weights, float64 (columns)."""

    weights: Array

    def value(self, counts: Array) -> float:
        return float(np.einsum("i,i->", self.weights, counts))

    def slopes(self, counts: Array) -> Array:
        return self.weights


@dataclass(frozen=True)
class BleuLoss:
    """- W log BLEU of n-grams and unclipped matches by order, (8), with a smooth brevity penalty. W,
    ``words``, is a number of words, and ``reference_length`` the effective one of the whole set."""

    words: float
    reference_length: float

    def value(self, counts: Array) -> float:
        totals, matches = self._by_order(counts)
        shortness = _SHARPNESS * (self.reference_length / totals[0] - 1)
        brevity = np.logaddexp(0, shortness) / _SHARPNESS
        return float(self.words * (brevity - np.log(matches / totals).mean()))

    def slopes(self, counts: Array) -> Array:
        totals, matches = self._by_order(counts)
        rising = 1 / (ORDER * totals)
        shortness = _SHARPNESS * (self.reference_length / totals[0] - 1)
        rising[0] -= self.reference_length / (totals[0] ** 2 * (1 + np.exp(min(-shortness, 700.0))))
        rising[counts[:ORDER] <= 1] = 0.0
        return self.words * np.append(rising, -1 / (ORDER * matches))

    def _by_order(self, counts: Array) -> tuple[Array, Array]:
        """Returns n-grams, at least 1, and matches, slightly more than 0, by order."""
        return np.maximum(counts[:ORDER], 1.0), counts[ORDER:] + 1e-3


def loss_for(options: RiskOptions, statistics: Array, sentences: int) -> Loss:
    """Returns the loss that the options name. ``statistics`` are BLEU statistics of the set's translations,
    (10)."""
    reference_length = float(statistics[BleuColumns.REFERENCE_LENGTH])
    if options.loss == "sentence-bleu":
        return LinearLoss(np.array([reference_length / max(sentences, 1)]))
    if options.loss == "bleu":
        return BleuLoss(max(float(statistics[BleuColumns.LENGTH]), 1.0), reference_length)
    estimate = LinearBleu(1.0)
    if (statistics[BleuColumns.MATCHES] > 0).all():
        estimate = LinearBleu.estimate(statistics)
    return LinearLoss(LinearBleu(1.0, estimate.precision, estimate.ratio).costs)
