"""Training of a second stage by minimum risk, with a Gaussian prior on weights (Li and Eisner 2009, section
7.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from hiero.base.settings import Settings
from hiero.forest.losses import ORDER
from hiero.rerank.examples import Examples
from hiero.rerank.features import Ngram, NgramFeatures
from hiero.rerank.reranker import Reranker
from hiero.rerank.spaces import FoldsRisk
from hiero.tune.methods.risk import RiskOptions
from hiero.tune.methods.risk.annealing import Minimum, minimise
from hiero.tune.methods.risk.losses import Loss, loss_for
from hiero.tune.methods.risk.spaces import RiskSpace
from hiero.tune.run.limits import Limits

Array = npt.NDArray[np.float64]


class RerankerOptions(Settings):
    """Settings of training a second stage."""

    model_config = ConfigDict(allow_inf_nan=False)

    order: int = Field(2, ge=1, le=ORDER, description="words of the longest n-grams")
    least_count: int = Field(
        2, ge=1, description="least count in the references of an n-gram that is a feature"
    )
    variance: float = Field(
        0.3, ge=1e-9, description="variance of the prior on the weights of n-grams, whose mean is 0"
    )
    edges: int = Field(500, ge=1, description="edges kept of a forest, those of the best derivations")
    steps: int = Field(50, ge=1, description="most steps of L-BFGS")


def objective_of(examples: Sequence[Examples], penalties: Array, threads: int = 1) -> tuple[RiskSpace, Loss]:
    """Returns the derivations of the examples of some folds and the loss, which is BLEU. ``penalties``,
    float64 (features), are those of the prior. Raises ValueError if no sentence has a derivation, FormatError
    and ForestError for damaged files, OSError."""
    if not any(fold.offsets[-1] for fold in examples):
        raise ValueError("no sentence has a derivation to learn from")
    sentences = sum(len(fold.offsets) - 1 for fold in examples)
    # In the objective the prior adds to the curvature of a feature as its variance does.
    spread = np.sqrt((np.sum([fold.variances for fold in examples], axis=0) + penalties) / sentences)
    spread[0] = spread[0] or 1.0
    statistics = np.sum([fold.statistics for fold in examples], axis=0)
    return FoldsRisk(examples, spread, threads), loss_for(RiskOptions(), statistics, sentences)


def penalties_of(features: NgramFeatures, options: RerankerOptions) -> Array:
    """Returns the penalties of the prior on the weights of n-grams, float64 (features)."""
    return np.append(0.0, np.full(len(features.ngrams), 1 / options.variance))


def train_weights(
    examples: Sequence[Examples],
    options: RerankerOptions,
    *,
    ngrams: Collection[Ngram] | None = None,
    threads: int = 1,
    report: Callable[[Minimum], object] = lambda _: None,
) -> Array:
    """Minimises the risk on the examples of some folds, and returns the weights of all features, float64
    (features). N-grams that are not among ``ngrams`` (default: all) have weight 0. Raises what
    ``objective_of`` raises."""
    features = examples[0].features
    penalties = penalties_of(features, options)
    space, loss = objective_of(examples, penalties, threads)
    start = np.zeros(len(features))
    start[0] = 1.0
    limits = Limits.unlimited(len(start))
    if ngrams is not None:
        used = set(ngrams)
        limits = limits.narrowed([0, *(1 + i for i, ngram in enumerate(features.ngrams) if ngram in used)])
    return minimise(
        space,
        loss,
        start,
        limits=limits,
        options=RiskOptions(steps=options.steps),
        penalties=penalties,
        report=report,
    )


def train_reranker(
    examples: Sequence[Examples],
    weights: Mapping[str, float],
    options: RerankerOptions,
    *,
    threads: int = 1,
    report: Callable[[Minimum], object] = lambda _: None,
) -> Reranker:
    """Minimises the risk on the examples of some folds, and returns the second stage for a first stage with
    these weights. Raises what ``objective_of`` raises."""
    trained = train_weights(examples, options, threads=threads, report=report)
    ngrams = map(" ".join, examples[0].features.ngrams)
    by_name = dict(zip(ngrams, trained[1:].tolist(), strict=True))
    return Reranker(weights=dict(weights), score=float(trained[0]), ngrams=by_name)
