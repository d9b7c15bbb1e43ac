"""What minimum risk training minimises (Smith and Eisner 2006; Li and Eisner 2009, section 7): R(p) - T H(p),
the expected loss less a temperature times the entropy of p(d) = exp(gamma theta . h(d)) / Z, summed over
sentences, whose derivations d are of forests or of k-best lists. ``hiero.tune.annealing`` minimises it.

A loss looks at what is expected of the whole set: words and n-gram matches. That of the paper is linear in
them (Tromble et al. 2008) and knows no brevity penalty, so that with one reference translations grow short;
that of BLEU itself is not, and is minimised by the linear loss that is like it nearby, anew at every step. A
word costs about 1 in all of them, as entropy would drown smaller losses.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hiero._core import Forest, ForestSource, minimum_risk
from hiero.base.parallel import ordered_map
from hiero.evaluate.metrics import Bleu, Hypotheses, Metric
from hiero.forest.decisions import best_part
from hiero.forest.losses import ORDER, LinearBleu, words_and_matches
from hiero.tune.pool import PoolArrays
from hiero.tune.pro import smoothed_bleu
from hiero.tune.protocol import Array

Space = Literal["forest", "nbest"]
# Edges that a sentence's annotated forest may have.
_MOST_EDGES = 100_000
_BLEU = 10  # statistics of Bleu
_K = 50  # derivations that tell how far features differ
# The brevity penalty turns on within so much of the reference's length: it is smooth, as BLEU's is not.
_SHARPNESS = 100.0


class RiskOptions(BaseModel):
    """What is minimised, and how temperature and gamma change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    space: Space = Field("forest", description="what derivations are of: forests or k-best lists")
    loss: Literal["bleu", "linear-bleu", "sentence-bleu"] = Field(
        "bleu",
        description="bleu is that of the whole set, linear-bleu the paper's, without brevity penalty, and"
        " sentence-bleu the mean of 1 - smoothed BLEU, of lists alone",
    )
    annealing: bool = Field(False, description="deterministic annealing: from hot to cold")
    temperature: float = Field(8.0, gt=0, description="of annealing's first step; halved with each")
    coldest: float = Field(0.05, gt=0, description="temperature below which it is 0")
    greatest_gamma: float = Field(8.0, ge=1, description="of annealing's last step; doubled with each")
    steps: int = Field(50, ge=1, description="of L-BFGS, at each temperature")
    edges: int = Field(
        3000, ge=1, description="of a forest, those of the best derivations, before it is annotated"
    )

    @model_validator(mode="after")
    def _of_lists(self) -> RiskOptions:
        if self.space == "forest" and self.loss == "sentence-bleu":
            raise ValueError("sentence-bleu is a loss of lists")
        return self


class Loss(Protocol):
    """Of expected counts, float64 (columns), summed over the set."""

    def value(self, counts: Array) -> float: ...

    def slopes(self, counts: Array) -> Array:
        """Its derivatives, float64 (columns)."""


@dataclass(frozen=True)
class LinearLoss:
    """A weighted sum, of ``weights``, float64 (columns)."""

    weights: Array

    def value(self, counts: Array) -> float:
        return float(np.einsum("i,i->", self.weights, counts))

    def slopes(self, counts: Array) -> Array:
        return self.weights


@dataclass(frozen=True)
class BleuLoss:
    """- W log BLEU of words and unclipped matches, (5), with a brevity penalty that turns on smoothly. Of the
    whole set W, a number of words, the effective reference length, and the number of sentences."""

    words: float
    reference_length: float
    sentences: int

    def value(self, counts: Array) -> float:
        totals, matches = self._by_order(counts)
        shortness = _SHARPNESS * (self.reference_length / max(counts[0], 1.0) - 1)
        brevity = np.logaddexp(0, shortness) / _SHARPNESS
        return float(self.words * (brevity - np.log(matches / totals).mean()))

    def slopes(self, counts: Array) -> Array:
        totals, matches = self._by_order(counts)
        length = max(counts[0], 1.0)
        shortness = _SHARPNESS * (self.reference_length / length - 1)
        brevity = -self.reference_length / (length**2 * (1 + np.exp(min(-shortness, 700.0))))
        brevity *= counts[0] > 1
        rising = np.where(totals > 1, 1 / totals, 0.0)
        return self.words * np.append(brevity + rising.mean(), -1 / (ORDER * matches))

    def _by_order(self, counts: Array) -> tuple[Array, Array]:
        """n-grams, one or more, and matches, next to nothing or more."""
        totals = counts[0] - self.sentences * np.arange(ORDER)
        return np.maximum(totals, 1.0), counts[1:] + 1e-3


@dataclass(frozen=True)
class Risk:
    """Expected counts and H summed over sentences, and the derivatives of R - T H in theta, float64
    (features), and in gamma."""

    counts: Array
    entropy: float
    theta: Array
    gamma: float


class RiskSpace(Protocol):
    """The derivations of all sentences, with counts. ``spread``, float64 (features), is how far each feature
    differs between the derivations of a sentence; steps are to be small by that measure, as where one
    derivation has all of the mass no gradient leads anywhere."""

    sentences: int
    spread: Array

    def counts(self, weights: Array, gamma: float) -> Array:
        """Expected."""

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Risk:
        """With a linear loss of these weights."""


class ForestRisk:
    """Derivations of forests whose edges have counts, float32 (edges, columns), those of a sentence from its
    offset on, int64 (sentences + 1); a sentence without derivations adds nothing."""

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
        none = np.zeros(self._counts.shape[1])
        problem = (self._source, self._counts, self._offsets, none, weights)
        return minimum_risk(*problem, gamma=gamma, gradient=False, threads=self._threads).counts

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Risk:
        problem = (self._source, self._counts, self._offsets, loss, weights)
        found = minimum_risk(*problem, gamma=gamma, temperature=temperature, threads=self._threads)
        return Risk(found.counts, found.entropy, found.gradient, found.gamma)


class ListRisk:
    """Hypotheses of k-best lists, each with counts, float64 (n, columns)."""

    def __init__(self, pool: PoolArrays, counts: Array) -> None:
        sizes = np.diff(pool.offsets)
        self.sentences = len(sizes)
        # Sentences without hypotheses have no distribution.
        self._starts = pool.offsets[:-1][sizes > 0]
        self._sizes = sizes[sizes > 0]
        self._features = pool.features
        self._counts = counts
        bounds = itertools.pairwise(pool.offsets.tolist())
        variances = [variance(pool.features[begin:end]) for begin, end in bounds if end > begin]
        self.spread = spread_of(variances, pool.features.shape[1])

    def _log_p(self, weights: Array, gamma: float) -> tuple[Array, Array]:
        """By hypothesis theta . h and log p."""
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

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Risk:
        model, log_p = self._log_p(weights, gamma)
        p = np.exp(log_p)
        value = np.einsum("ij,j->i", self._counts, loss) + temperature * log_p
        if len(self._starts):
            value = value - np.repeat(np.add.reduceat(p * value, self._starts), self._sizes)
        slope = np.asarray(self._features.T @ (p * value))
        counts = np.asarray(np.einsum("i,ij->j", p, self._counts))
        entropy = -float(np.einsum("i,i->", p, log_p))
        return Risk(counts, entropy, gamma * slope, float(np.einsum("i,i->", model, p * value)))


def variance(features: Any) -> Array:
    """Of each column of a sparse matrix, float64 (columns)."""
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(features.multiply(features).mean(axis=0), dtype=np.float64).ravel()
    return np.asarray(np.maximum(squares - np.square(mean), 0.0))


def spread_of(variances: Sequence[Array], features: int) -> Array:
    """By the variances of each feature within some sentences; 1 for features that are the same in all."""
    found = np.sqrt(np.sum(variances, axis=0) / len(variances)) if variances else np.zeros(features)
    return np.where(found > 0, found, 1.0)


class UnclippedBleu(Metric):
    """BLEU whose statistics, float64 (n, 14), end with the unclipped matches of each order."""

    name = Bleu.name

    def __init__(self, metric: Bleu) -> None:
        self._metric = metric
        self.segments = metric.segments
        self.checksum = metric.checksum

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        metric = self._metric
        return np.hstack(
            [metric.token_statistics(segments, hypotheses), metric.unclipped(segments, hypotheses)]
        )

    def score(self, statistics: npt.ArrayLike) -> Array:
        return self._metric.score(np.asarray(statistics)[..., :_BLEU])

    @property
    def signature(self) -> str:
        return self._metric.signature


def loss_of(options: RiskOptions, statistics: Array, sentences: int) -> Loss:
    """The loss that options ask for, by BLEU statistics of the set's translations, (10)."""
    if options.loss == "sentence-bleu":
        return LinearLoss(np.ones(1))
    if options.loss == "bleu":
        return BleuLoss(max(statistics[0], 1.0), statistics[1], sentences)
    usual = LinearBleu(1.0)
    known = LinearBleu.estimate(statistics) if (statistics[6:10] > 0).all() else usual
    return LinearLoss(-np.array(LinearBleu(1.0, known.precision, known.ratio).theta))


def list_problem(pool: PoolArrays, weights: Array, options: RiskOptions) -> tuple[ListRisk, Loss]:
    """Of a pool with statistics of ``UnclippedBleu``; the loss depends on what these weights choose."""
    statistics = pool.statistics[:, :_BLEU]
    if options.loss == "sentence-bleu":
        counts = 1 - smoothed_bleu(statistics)[:, None]
    else:
        counts = np.column_stack([statistics[:, 0], pool.statistics[:, _BLEU:]])
    chosen = pool.total(pool.winners(weights))[:_BLEU]
    return ListRisk(pool, counts), loss_of(options, chosen, pool.instances)


def forest_problem(
    unions: Sequence[Forest], metric: Bleu, weights: Array, options: RiskOptions, threads: int = 1
) -> tuple[ForestRisk, Loss]:
    """Of each sentence's union of forests; the loss depends on their best derivations."""

    def prepared(sentence: int) -> tuple[Forest, npt.NDArray[np.float32], Array, Array]:
        forest = unions[sentence]
        if forest.root < 0:
            nothing = metric.token_statistics([sentence], Hypotheses.of_tokens([[]]))[0]
            return forest, np.zeros((0, ORDER + 1), dtype=np.float32), nothing, np.zeros(len(weights))
        scores = forest.scores(weights)
        best = forest.kbest_arrays(_K, scores)
        statistics = metric.token_statistics(np.full(len(best), sentence), Hypotheses.of_list(forest, best))
        split, _ = best_part(forest, scores, forest.edge_count, ORDER, _MOST_EDGES)
        return (
            split,
            words_and_matches(split, metric.references[sentence]),
            statistics[0],
            variance(best.features),
        )

    found = list(ordered_map(prepared, range(len(unions)), threads))
    forests, counts, firsts, variances = zip(*found, strict=True)
    loss = loss_of(options, np.sum(firsts, axis=0), len(unions))
    offsets = np.cumsum([0, *map(len, counts)], dtype=np.int64)
    spread = spread_of(variances, len(weights))
    return ForestRisk(ForestSource(forests), np.concatenate(counts), offsets, spread, threads), loss
