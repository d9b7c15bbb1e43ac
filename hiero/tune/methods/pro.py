"""Pairwise ranked optimisation (Hopkins and May 2011): a classifier that tells better hypotheses from worse
ones.

5000 pairs of hypotheses of each sentence are drawn. Of the pairs whose sentence BLEU differs by at least
0.05, the 50 that differ most are kept, and a logistic regression is trained on their differences of features.
With plain BLEU+1 translations grow short; ``smoothed_bleu`` avoids that.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import scipy.special
from pydantic import Field

from hiero.base.settings import Settings
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.tune.methods.kinds import ListMethod
from hiero.tune.methods.length import LengthSearch, list_lines
from hiero.tune.methods.sentence_bleu import smoothed_bleu
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import Iterations, Patience, TuningState
from hiero.tune.run.protocol import Array

# The least weight of the fixed features' score: the other weights are divided by it.
_LEAST_UNIT = 1e-3


class ProOptions(Settings):
    """Settings of sampling, as published (Hopkins and May 2011, section 4), and of the classifier."""

    samples: int = Field(5000, ge=1, description="pairs drawn from the hypotheses of each sentence")
    kept: int = Field(50, ge=1, description="pairs kept of each sentence, those that differ most")
    threshold: float = Field(
        0.05, ge=0, le=1, description="least difference of sentence BLEU, from 0 to 1, within a pair"
    )
    variance: float = Field(1.0, gt=0, description="variance of the Gaussian prior of weights")
    # Section 3.3 of the paper.
    interpolation: float = Field(
        0.1, gt=0, le=1, description="share of the way that weights move to those of the classifier"
    )


class Pro(ProOptions, LengthSearch, ListMethod):
    """PRO as a tuning method."""

    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    # An iteration moves weights a tenth of the way only.
    iterations: Iterations = 30
    patience: Patience = 10

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
        pool = accumulated.arrays()
        weights = pro(pool, state.weights, limits=state.limits, seed=state.seed, options=self)
        return self.with_best_length(weights, list_lines(pool), state)


def sample_pairs(pool: PoolArrays, quality: Array, seed: int, options: ProOptions) -> tuple[Array, Array]:
    """Returns the rows of better and of worse hypotheses, int64 (pairs) each. ``quality`` is the sentence
    BLEU of every hypothesis, (n)."""
    better, worse = [], []
    bounds = pool.offsets.tolist()
    for sentence, (begin, end) in enumerate(itertools.pairwise(bounds)):
        if end - begin < 2:
            continue
        # A generator for each sentence: its pairs must not depend on the lengths of other lists.
        rng = np.random.default_rng([seed, sentence])
        first, second = rng.integers(begin, end, (2, options.samples))
        difference = quality[first] - quality[second]
        apart = np.flatnonzero(np.abs(difference) >= options.threshold)
        most = apart[np.argsort(-np.abs(difference[apart]), kind="stable")[: options.kept]]
        swapped = difference[most] < 0
        better.append(np.where(swapped, second[most], first[most]))
        worse.append(np.where(swapped, first[most], second[most]))
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *better]), np.concatenate([empty, *worse])


def pro(
    pool: PoolArrays,
    start: Array,
    *,
    limits: Limits,
    seed: int,
    options: ProOptions | None = None,
) -> Array:
    """Returns new weights, float64 (features), or the start if there is no pair to learn from.

    The classifier's weights are scaled to the sum of absolute weights of the start before both are
    interpolated. The score of fixed features is one more feature of the classifier; its weight, which is at
    least a little above 0, is the number that all others are divided by. The pool's statistics are those of
    BLEU.
    """
    chosen = options if options is not None else ProOptions()
    better, worse = sample_pairs(pool, smoothed_bleu(pool.statistics), seed, chosen)
    if len(better) == 0:
        return start.copy()
    differences = scipy.sparse.csr_array(pool.features[better] - pool.features[worse])
    columns = np.array(list(limits.free))
    fixed = np.setdiff1d(np.arange(len(start)), columns)
    length = np.abs(start[fixed]).sum()
    if length > 0:
        fixed_score = scipy.sparse.csr_array((differences[:, fixed] @ (start[fixed] / length))[:, None])
        *others, unit = _classify(
            scipy.sparse.csr_array(scipy.sparse.hstack([differences[:, columns], fixed_score])),
            np.append(start[columns], length),
            chosen.variance,
            last_least=_LEAST_UNIT,
        )
        scaled = np.array(others) * (length / unit)
    else:
        learnt = _classify(differences[:, columns], start[columns], chosen.variance)
        length, target = np.abs(learnt).sum(), np.abs(start[columns]).sum()
        if length == 0:
            return start.copy()
        scaled = learnt * (target / length if target > 0 else 1 / length)
    weights = start.copy()
    weights[columns] = (1 - chosen.interpolation) * start[columns] + chosen.interpolation * scaled
    return limits.clip(weights)


def _classify(differences: Any, start: Array, variance: float, last_least: float | None = None) -> Array:
    """Minimises the mean of log(1 + exp(-w . x)) + |w|^2 / (2 variance n) over n differences x; the last
    weight is at least ``last_least``."""
    import scipy.optimize  # here, as importing it is slow

    count = differences.shape[0]
    transposed = scipy.sparse.csr_array(differences.T)

    def objective(weights: Array) -> tuple[float, Array]:
        margins = differences @ weights
        loss = np.logaddexp(0, -margins).sum() / count + np.square(weights).sum() / (2 * variance * count)
        slopes = -scipy.special.expit(-margins)
        return float(loss), (transposed @ slopes + weights / variance) / count

    options = {"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-9}
    bounds = [(None, None)] * (len(start) - 1) + [(last_least, None)]
    result = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(result.x)
