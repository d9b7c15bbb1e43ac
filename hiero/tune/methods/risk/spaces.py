"""The derivations of all sentences with their counts, in forests or in k-best lists, and the objective over
them: R(p) - T H(p), the expected loss less a temperature times the entropy of p(d) = exp(gamma theta . h(d))
/ Z, summed over sentences (Smith and Eisner 2006; Li and Eisner 2009, section 7)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hiero._core import ForestSource, minimum_risk
from hiero.tune.pool.candidates import PoolArrays, column_variances
from hiero.tune.run.protocol import Array


@dataclass(frozen=True)
class Expectations:
    """Expected counts, float64 (columns), and the entropy H, summed over sentences, and the derivatives of
    R - T H in theta, float64 (features), and in gamma."""

    counts: Array
    entropy: float
    theta: Array
    gamma: float


class RiskSpace(Protocol):
    """The derivations of all sentences, with counts.

    ``spread``, float64 (features), is the standard deviation of each feature within a sentence's derivations,
    or 0. Steps must be small in this unit: where one derivation has all the mass, the gradient is 0.
    """

    sentences: int
    spread: Array

    def counts(self, weights: Array, gamma: float) -> Array:
        """Computes the expected counts, float64 (columns)."""

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        """Computes the objective's parts and derivatives, with a linear loss that has these weights."""


class ForestRisk:
    """The derivations of forests. Each edge has counts, float32 (edges, columns); those of sentence i are the
    rows ``offsets[i]`` to ``offsets[i + 1]``, int64 (sentences + 1). A sentence without derivations adds
    nothing."""

    def __init__(
        self,
        forests: ForestSource,
        counts: npt.NDArray[np.float32],
        offsets: npt.NDArray[np.int64],
        spread: Array,
        threads: int = 1,
    ) -> None:
        self.sentences = len(forests)
        self.spread = spread
        self._source = forests
        self._counts = counts
        self._offsets = offsets
        self._threads = threads

    def counts(self, weights: Array, gamma: float) -> Array:
        no_loss = np.zeros(self._counts.shape[1])
        arguments = (self._source, self._counts, self._offsets, no_loss, weights)
        return minimum_risk(*arguments, gamma=gamma, gradient=False, threads=self._threads).counts

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        arguments = (self._source, self._counts, self._offsets, loss, weights)
        risk = minimum_risk(*arguments, gamma=gamma, temperature=temperature, threads=self._threads)
        return Expectations(risk.counts, risk.entropy, risk.gradient, risk.gamma)


class ListRisk:
    """The hypotheses of k-best lists, each with counts, float64 (n, columns)."""

    def __init__(self, pool: PoolArrays, counts: Array) -> None:
        sizes = np.diff(pool.offsets)
        self.sentences = len(sizes)
        # Sentences without hypotheses have no distribution and are left out.
        self._starts = pool.offsets[:-1][sizes > 0]
        self._sizes = sizes[sizes > 0]
        self._features = pool.features
        self._counts = counts
        bounds = itertools.pairwise(pool.offsets.tolist())
        variances = [column_variances(pool.features[begin:end]) for begin, end in bounds if end > begin]
        self.spread = mean_deviation(variances, pool.features.shape[1])

    def _log_p(self, weights: Array, gamma: float) -> tuple[Array, Array]:
        """Computes theta . h and log p of every hypothesis, (n) each."""
        model = np.asarray(self._features @ weights)
        if len(self._starts) == 0:
            return model, model
        scores = gamma * model
        shifted = scores - np.repeat(np.maximum.reduceat(scores, self._starts), self._sizes)
        z = np.add.reduceat(np.exp(shifted), self._starts)
        return model, shifted - np.repeat(np.log(z), self._sizes)

    def counts(self, weights: Array, gamma: float) -> Array:
        _, log_p = self._log_p(weights, gamma)
        return np.asarray(np.einsum("i,ij->j", np.exp(log_p), self._counts))

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        model, log_p = self._log_p(weights, gamma)
        p = np.exp(log_p)
        value = np.einsum("ij,j->i", self._counts, loss) + temperature * log_p
        if len(self._starts):
            value = value - np.repeat(np.add.reduceat(p * value, self._starts), self._sizes)
        slope = np.asarray(self._features.T @ (p * value))
        counts = np.asarray(np.einsum("i,ij->j", p, self._counts))
        entropy = -float(np.einsum("i,i->", p, log_p))
        return Expectations(counts, entropy, gamma * slope, float(np.einsum("i,i->", model, p * value)))


def mean_deviation(variances: Sequence[Array], features: int) -> Array:
    """Returns the root of the mean of variances, each float64 (features), of some sentences; 0 without
    any."""
    return np.sqrt(np.sum(variances, axis=0) / len(variances)) if variances else np.zeros(features)
