"""Batch MIRA (Cherry and Foster 2012): online large-margin updates over a fixed pool of hypotheses.

In each sentence, hope = argmax h . w + B and fear = argmax h . w - B. Weights w move along h_hope - h_fear by
min(C, loss / |h_hope - h_fear|^2), where the loss is B(hope) - B(fear) less the difference of their scores. B
is BLEU of a hypothesis together with a decaying background of the hopes before, times the reference length of
both (Chiang et al. 2008, section 2.2, with reference words in place of source words).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hiero._core import bleu
from hiero.base.settings import Settings
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.forest.losses import BleuColumns
from hiero.tune.methods.kinds import ListMethod
from hiero.tune.methods.length import LengthSearch, list_lines
from hiero.tune.methods.mira.averaged_weights import AveragedWeights
from hiero.tune.pool.candidates import PoolArrays, column_variances
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import TuningState
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.protocol import Array

# The ``feature_variance`` of lists on ja-en, with 100 hypotheses of a sentence and logarithms to base 100, to
# which the published C belongs.
_PUBLISHED_VARIANCE = 4.1


class MiraOptions(Settings):
    """Settings of batch MIRA, with defaults as published (Cherry and Foster 2012, section 4). ``mira_batch``
    takes ``c`` as it is; the method fits it to the scale of features."""

    passes: int = Field(60, ge=1, description="passes over the pool")
    c: float = Field(
        0.01,
        gt=0,
        description="largest step of an update, for features of the scale of logarithms to base 100",
    )
    decay: float = Field(0.999, ge=0, le=1, description="factor of the background after every sentence")


class MiraBatch(MiraOptions, LengthSearch, ListMethod):
    """Batch MIRA as a tuning method."""

    metric: ClassVar[type[Metric] | None] = Bleu

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
        pool = accumulated.arrays()
        options = self.model_copy(update={"c": self.c * _PUBLISHED_VARIANCE / feature_variance(pool)})
        chosen = mira_batch(
            pool, state.metric, state.weights, limits=state.limits, seed=state.seed, options=options
        )
        return self.with_best_length(chosen.weights, list_lines(pool), state)


@dataclass(frozen=True)
class MiraResult:
    """The averaged weights after the best pass, and BLEU of the pool by those of each pass."""

    weights: Array
    scores: list[float]


def background_bleu(statistics: Array, background: Array) -> Array:
    """Computes B of rows (k, 10) with background counts (10); 0 if an order has no match at all."""
    counts = statistics + background
    return np.asarray(bleu(counts) * counts[:, BleuColumns.REFERENCE_LENGTH])


def mira_batch(
    pool: PoolArrays,
    metric: Metric,
    start: Array,
    *,
    limits: Limits,
    seed: int,
    options: MiraOptions | None = None,
) -> MiraResult:
    """Goes through the pool several times, in random orders, and returns the weights averaged over all
    updates up to the end of the pass that has the best BLEU; the start if the pool is empty. The pool's
    statistics are those of ``metric``, which is BLEU."""
    chosen = options if options is not None else MiraOptions()
    rng = np.random.default_rng(seed)
    sentences = _sentences(pool)
    if not sentences:
        return MiraResult(start.copy(), [])
    weights = AveragedWeights(start.copy())
    background = np.ones(BleuColumns.WIDTH)
    best, best_score, scores = start.copy(), -np.inf, []
    for _ in range(chosen.passes):
        for sentence in rng.permutation(list(sentences)).tolist():
            features, statistics = sentences[sentence]
            model = features @ weights.current
            quality = background_bleu(statistics, background)
            hope, fear = int((model + quality).argmax()), int((model - quality).argmax())
            if hope == fear:
                weights.skip()
                continue
            loss = (quality[hope] - quality[fear]) - (model[hope] - model[fear])
            _update(weights, features, hope, fear, loss, limits, chosen.c)
            background = chosen.decay * (background + statistics[hope])
        average = limits.clip_free(weights.average(), start)
        scores.append(float(maximised_score(metric, pool.total(pool.winners(average)))))
        if scores[-1] > best_score:
            best, best_score = average, scores[-1]
    return MiraResult(best, scores)


def feature_variance(pool: PoolArrays) -> float:
    """Returns how far features are from their mean within a sentence: the sum of their variances, as a mean
    over the sentences with several candidates; 1 if nothing varies.

    If all features are multiplied by s, weights by which hypotheses have the same scores are divided by s,
    and so are steps: the variance is multiplied by the square of s, and C must be divided by it.
    """
    variances = [
        float(column_variances(features).sum())
        for features, _ in _sentences(pool).values()
        if features.shape[0] > 1
    ]
    mean = sum(variances) / len(variances) if variances else 0.0
    return mean or 1.0


def _sentences(pool: PoolArrays) -> dict[int, tuple[Any, Array]]:
    """Returns features and statistics of the candidates of each instance that has any."""
    bounds = enumerate(itertools.pairwise(pool.offsets.tolist()))
    return {
        instance: (pool.features[begin:end], pool.statistics[begin:end])
        for instance, (begin, end) in bounds
        if end > begin
    }


def _update(
    weights: AveragedWeights,
    features: Any,
    hope: int,
    fear: int,
    loss: float,
    limits: Limits,
    c: float,
) -> None:
    """Moves the weights so that hope scores higher than fear by the loss, or as near as C allows."""
    ids, direction = _difference(features, hope, fear)
    direction[limits.fixed[ids]] = 0.0
    length = float(np.square(direction).sum())
    if length > 0 and loss > 0:
        weights.update(ids, min(c, loss / length) * direction, limits)
    else:
        weights.skip()


def _difference(features: Any, row: int, other: int) -> tuple[npt.NDArray[Any], Array]:
    """Subtracts a row of a csr_array from another: ids of the features that either has, and values."""
    entries = [slice(*features.indptr[i : i + 2]) for i in (row, other)]
    ids, places = np.unique(np.concatenate([features.indices[i] for i in entries]), return_inverse=True)
    values = np.concatenate([features.data[entries[0]], -features.data[entries[1]]])
    return np.asarray(ids), np.asarray(np.bincount(places, values, len(ids)), dtype=np.float64)
