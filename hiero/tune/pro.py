"""Pairwise ranked optimisation (Hopkins and May 2011): learn to tell better hypotheses from worse ones.

Of each sentence 5000 pairs are drawn, those kept whose sentence BLEU differs by at least 0.05, and of these
the 50 that differ most; a logistic regression on differences of features then ranks them. With plain BLEU+1
translations grow short, which ``smoothed_bleu`` repairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import scipy.special
from pydantic import Field

from hiero._core import bleu
from hiero.base.settings import Settings
from hiero.tune.pool import PoolArrays
from hiero.tune.protocol import Array

# What smoothing adds to statistics: to the reference's length, and to totals and matches of n > 1.
_MORE = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
# Where fixed features count for less, the others' weights would be endless.
_LEAST_UNIT = 1e-3


class ProOptions(Settings):
    """Sampling as published (Hopkins and May 2011, section 4), and the optimiser's settings."""

    samples: int = Field(5000, ge=1, description="pairs that are drawn of a sentence's hypotheses")
    kept: int = Field(50, ge=1, description="of them those that differ most")
    threshold: float = Field(0.05, ge=0, le=1, description="sentence BLEU, of 1, that pairs differ by")
    variance: float = Field(1.0, gt=0, description="of the Gaussian prior of weights")
    # Section 3.3 of the paper.
    interpolation: float = Field(
        0.1, gt=0, le=1, description="how far weights move from the previous ones to the new ones"
    )


def smoothed_bleu(statistics: Array) -> Array:
    """Sentence BLEU, from 0 to 1, of rows (..., 10): BLEU+1, which adds one to matches and n-grams for n > 1
    (Lin and Och 2004), with the smoothed brevity penalty of Nakov et al. (2012), which adds one to the
    reference's length. Nothing is left of a translation without any match."""
    return np.asarray(bleu(statistics + _MORE))


def sample_pairs(pool: PoolArrays, quality: Array, seed: int, options: ProOptions) -> tuple[Array, Array]:
    """Rows of better and worse hypotheses, int64 (pairs) each; ``quality`` is of every hypothesis."""
    better, worse = [], []
    bounds = pool.offsets.tolist()
    for sentence, (begin, end) in enumerate(itertools.pairwise(bounds)):
        if end - begin < 2:
            continue
        # By sentence, so that a sentence's pairs do not depend on how long the others' lists are.
        rng = np.random.default_rng([seed, sentence])
        first, second = rng.integers(begin, end, (2, options.samples))
        difference = quality[first] - quality[second]
        apart = np.flatnonzero(np.abs(difference) >= options.threshold)
        kept = apart[np.argsort(-np.abs(difference[apart]), kind="stable")[: options.kept]]
        swapped = difference[kept] < 0
        better.append(np.where(swapped, second[kept], first[kept]))
        worse.append(np.where(swapped, first[kept], second[kept]))
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *better]), np.concatenate([empty, *worse])


def pro(
    pool: PoolArrays,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: int,
    options: ProOptions | None = None,
) -> Array:
    """New weights, float64 (features); the old ones where no pair tells anything.

    The classifier's weights are brought to the length of the old ones (by the sum of absolute weights)
    before both are interpolated. What fixed features score is one feature more for the classifier, whose
    weight, at least a little above zero, then says what all are to be divided by. ``bounds`` are
    (features, 2). Statistics are BLEU's.
    """
    chosen = options if options is not None else ProOptions()
    better, worse = sample_pairs(pool, smoothed_bleu(pool.statistics), seed, chosen)
    if len(better) == 0:
        return start.copy()
    differences = scipy.sparse.csr_array(pool.features[better] - pool.features[worse])
    columns = np.array(list(free))
    fixed = np.setdiff1d(np.arange(len(start)), columns)
    length = np.abs(start[fixed]).sum()
    if length > 0:
        known = scipy.sparse.csr_array((differences[:, fixed] @ (start[fixed] / length))[:, None])
        *others, unit = _classify(
            scipy.sparse.csr_array(scipy.sparse.hstack([differences[:, columns], known])),
            np.append(start[columns], length),
            chosen.variance,
            last_least=_LEAST_UNIT,
        )
        scaled = np.array(others) * (length / unit)
    else:
        found = _classify(differences[:, columns], start[columns], chosen.variance)
        length, target = np.abs(found).sum(), np.abs(start[columns]).sum()
        if length == 0:
            return start.copy()
        scaled = found * (target / length if target > 0 else 1 / length)
    weights = start.copy()
    weights[columns] = (1 - chosen.interpolation) * start[columns] + chosen.interpolation * scaled
    return np.clip(weights, bounds[:, 0], bounds[:, 1])


def _classify(differences: Any, start: Array, variance: float, last_least: float | None = None) -> Array:
    """The weights that minimise the mean of log(1 + exp(-w . x)) + |w|^2 / (2 variance n), the last of them
    at least ``last_least``."""
    import scipy.optimize  # here, as it takes long to start

    count = differences.shape[0]
    transposed = scipy.sparse.csr_array(differences.T)

    def objective(weights: Array) -> tuple[float, Array]:
        margins = differences @ weights
        loss = np.logaddexp(0, -margins).sum() / count + np.square(weights).sum() / (2 * variance * count)
        slopes = -scipy.special.expit(-margins)
        return float(loss), (transposed @ slopes + weights / variance) / count

    options = {"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-9}
    bounds = [(None, None)] * (len(start) - 1) + [(last_least, None)]
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x)
