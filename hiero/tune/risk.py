"""The objective of minimum risk training (Smith and Eisner 2006; Li and Eisner 2009, section 7): R(p) - T
H(p), the expected loss less a temperature times the entropy of p(d) = exp(gamma theta . h(d)) / Z, summed
over sentences, whose derivations d are of forests or of k-best lists. ``hiero.tune.annealing`` minimises it.

A loss looks at what is expected of the whole set: n-grams and their matches. That of the paper is linear in
them (Tromble et al. 2008) and knows no brevity penalty, so that with one reference translations grow short;
that of BLEU itself is not, and is minimised by the linear loss that is like it nearby, anew at every step.
All are measured in words, as entropy would drown smaller losses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, model_validator

from hiero._core import Forest, ForestSource, minimum_risk
from hiero.base.parallel import ordered_map
from hiero.base.settings import Settings, refuse_idle
from hiero.evaluate.metrics import Bleu, Hypotheses
from hiero.forest.decisions import best_part
from hiero.forest.losses import COLUMNS, ORDER, LinearBleu, totals_and_matches
from hiero.tune.pool import PoolArrays
from hiero.tune.pro import smoothed_bleu
from hiero.tune.protocol import Array

Space = Literal["forest", "nbest"]
# Edges that a sentence's annotated forest may have.
_MOST_EDGES = 100_000
_BLEU = 10  # statistics of Bleu
_K = 50  # derivations that tell how far features differ
# By which they differ at least, as a share of how large they are: less is rounding.
_ROUNDING = 1e-6
# The brevity penalty turns on within so much of the reference's length: it is smooth, as BLEU's is not.
_SHARPNESS = 100.0


class RiskOptions(Settings):
    """Settings of the objective, and of how temperature and gamma change."""

    model_config = ConfigDict(allow_inf_nan=False)

    space: Space = Field("forest", description="what derivations are of: forests or k-best lists")
    loss: Literal["bleu", "linear-bleu", "sentence-bleu"] = Field(
        "bleu",
        description="bleu is that of the whole set, linear-bleu the paper's, without brevity penalty, and"
        " sentence-bleu the mean of 1 - smoothed BLEU, of lists alone",
    )
    annealing: bool = Field(False, description="deterministic annealing: from hot to cold")
    temperature: float = Field(8.0, gt=0, description="of annealing's first step; halved with each")
    coldest: float = Field(0.05, gt=0, description="temperature below which it is 0")
    greatest_gamma: float = Field(8.0, ge=1, description="that annealing doubles gamma to, or less")
    steps: int = Field(50, ge=1, description="of L-BFGS, at each temperature")
    edges: int = Field(
        3000, ge=1, description="of a forest, those of the best derivations, before it is annotated"
    )
    k: int = Field(100, ge=1, description="distinct translations a sentence")

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if self.space == "forest" and self.loss == "sentence-bleu":
            raise ValueError("sentence-bleu is a loss of lists")
        if self.annealing and self.temperature < self.coldest:
            raise ValueError(f"temperature: {self.temperature:g} is below the coldest, {self.coldest:g}")
        for name, of in idle(self.space, self.annealing).items():
            refuse_idle(self, (name,), f"is of {of}")
        return self


def idle(space: str, annealing: bool) -> dict[str, str]:
    """Options that would do nothing, and what they are of."""
    found = {"k": "lists"} if space == "forest" else {"edges": "forests"}
    if not annealing:
        found |= dict.fromkeys(("temperature", "coldest", "greatest_gamma"), "annealing")
    return found


class Loss(Protocol):
    """A loss of expected counts, float64 (columns), summed over the set."""

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
    """- W log BLEU of n-grams and unclipped matches by order, (8), with a brevity penalty that turns on
    smoothly. Of the whole set W, a number of words, and the effective reference length."""

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
        """n-grams, one or more, and matches, next to nothing or more."""
        return np.maximum(counts[:ORDER], 1.0), counts[ORDER:] + 1e-3


@dataclass(frozen=True)
class Expectations:
    """Expected counts and H summed over sentences, and the derivatives of R - T H in theta, float64
    (features), and in gamma."""

    counts: Array
    entropy: float
    theta: Array
    gamma: float


class RiskSpace(Protocol):
    """The derivations of all sentences, with counts. ``spread``, float64 (features), is how far each feature
    differs between the derivations of a sentence, 0 where it does not; steps are to be small by that measure,
    as where one derivation has all of the mass no gradient leads anywhere."""

    sentences: int
    spread: Array

    def counts(self, weights: Array, gamma: float) -> Array:
        """Expected."""

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
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

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        problem = (self._source, self._counts, self._offsets, loss, weights)
        found = minimum_risk(*problem, gamma=gamma, temperature=temperature, threads=self._threads)
        return Expectations(found.counts, found.entropy, found.gradient, found.gamma)


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
        variances = [column_variances(pool.features[begin:end]) for begin, end in bounds if end > begin]
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


def column_variances(features: Any) -> Array:
    """Computes the variance of each column of a sparse matrix, float64 (columns); 0 where it does not vary
    but by rounding."""
    used = np.unique(features.indices)
    values = np.asarray(features[:, used].todense(), dtype=np.float64)
    found = np.zeros(features.shape[1])
    # From the first row, so that what is the same in all has exactly 0.
    varying = (values - values[0]).var(axis=0)
    found[used] = np.where(varying > np.square(_ROUNDING * np.abs(values).max(axis=0)), varying, 0.0)
    return found


def spread_of(variances: Sequence[Array], features: int) -> Array:
    """By the variances of each feature within some sentences."""
    return np.sqrt(np.sum(variances, axis=0) / len(variances)) if variances else np.zeros(features)


class UnclippedBleu(Bleu):
    """BLEU whose statistics, float64 (n, 14), end with the unclipped matches of each order."""

    def __init__(self, metric: Bleu) -> None:
        vars(self).update(vars(metric))  # the references are counted once

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return np.hstack(
            [super().token_statistics(segments, hypotheses), self.unclipped(segments, hypotheses)]
        )


def loss_of(options: RiskOptions, statistics: Array, sentences: int) -> Loss:
    """The loss that options ask for, by BLEU statistics of the set's translations, (10)."""
    if options.loss == "sentence-bleu":
        return LinearLoss(np.array([statistics[1] / max(sentences, 1)]))
    if options.loss == "bleu":
        return BleuLoss(max(statistics[0], 1.0), statistics[1])
    usual = LinearBleu(1.0)
    known = LinearBleu.estimate(statistics) if (statistics[6:10] > 0).all() else usual
    return LinearLoss(LinearBleu(1.0, known.precision, known.ratio).costs)


def list_problem(pool: PoolArrays, weights: Array, options: RiskOptions) -> tuple[ListRisk, Loss]:
    """Makes the problem of a pool with statistics of ``UnclippedBleu``; the loss depends on what these
    weights choose."""
    statistics = pool.statistics[:, :_BLEU]
    if options.loss == "sentence-bleu":
        counts = 1 - smoothed_bleu(statistics)[:, None]
    else:
        counts = np.hstack([statistics[:, 2 : 2 + ORDER], pool.statistics[:, _BLEU:]])
    chosen = pool.total(pool.winners(weights))[:_BLEU]
    return ListRisk(pool, counts), loss_of(options, chosen, pool.instances)


@dataclass(frozen=True)
class Example:
    """A sentence's forest, annotated with 4-grams; n-grams and matches by edge, float32 (edges, 8); BLEU
    statistics of the best derivation, float64 (10), of none those of an empty translation; and the variance
    of each feature within the best derivations, float64 (features), or of none float64 (0)."""

    forest: Forest
    counts: npt.NDArray[np.float32]
    statistics: Array
    variances: Array


def example(
    forest: Forest,
    scores: Array,
    metric: Bleu,
    sentence: int,
    featured: Callable[[Forest, Array], Forest] = lambda forest, _: forest,
) -> Example:
    """Makes the example of a forest with these scores of edges, of which half are left out, and half again,
    where those of the best derivations are too many when annotated. ``featured`` puts other features on it.
    Raises ForestError where the best derivations alone are too many."""
    if forest.root < 0:
        nothing = metric.token_statistics([sentence], Hypotheses.of_tokens([[]]))[0]
        none = np.zeros((0, COLUMNS), dtype=np.float32)
        return Example(forest, none, nothing, np.zeros(0))
    split, origins = best_part(forest, scores, forest.edge_count, ORDER, _MOST_EDGES)
    own = featured(split, scores[origins])
    best = own.kbest_arrays(_K, scores[origins])
    statistics = metric.token_statistics(np.full(len(best), sentence), Hypotheses.of_list(own, best))
    counts = totals_and_matches(own, metric.references[sentence])
    return Example(own, counts, statistics[0], column_variances(best.features))


def forest_problem(
    unions: Sequence[Forest], metric: Bleu, weights: Array, options: RiskOptions, threads: int = 1
) -> tuple[ForestRisk, Loss]:
    """Makes the problem of each sentence's union of forests; the loss depends on their best derivations."""

    def prepared(sentence: int) -> Example:
        forest = unions[sentence]
        scores = forest.scores(weights) if forest.root >= 0 else np.zeros(0)
        return example(forest, scores, metric, sentence)

    found = list(ordered_map(prepared, range(len(unions)), threads))
    statistics = np.sum([one.statistics for one in found], axis=0)
    counts = [one.counts for one in found]
    offsets = np.cumsum([0, *map(len, counts)], dtype=np.int64)
    spread = spread_of([one.variances for one in found if len(one.counts)], len(weights))
    source = ForestSource([one.forest for one in found])
    space = ForestRisk(source, np.concatenate(counts), offsets, spread, threads)
    return space, loss_of(options, statistics, len(unions))
