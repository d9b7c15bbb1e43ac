"""Summary statistics of the distribution of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiero.forest.decisions import Decision, best_part
from hiero.forest.expectations import LogLinear, entropy, expectation, expected_bleu_gradient, variance
from hiero.forest.losses import ORDER

_EDGES = Decision().decision_edges
_ROUNDING = 1e-9  # rounding error of a variance


def distribution_stats(
    model: LogLinear, references: Sequence[Sequence[str]] = (), top: int = 3
) -> dict[str, object]:
    """Returns rounded statistics of a forest that has derivations.

    They are the entropy in nats, the mean and variance of the number of words, and the ``top`` largest
    variances of features. With references also the BLEU of expected counts, from 0 to 100. It is computed on
    the 3,000 edges of the best derivations, all others on the complete forest.
    """
    forest, p = model.forest, model.p
    words = forest.target_words
    variances = variance(p, forest.features)
    order = np.argsort(-variances, kind="stable")[:top]
    stats: dict[str, object] = {
        "entropy": round(entropy(p), 4),
        "length": round(float(expectation(p, words)), 4),
        "length_variance": round(float(variance(p, words)), 4) + 0.0,  # + 0.0 turns -0.0 into 0.0
        "feature_variances": {
            forest.feature_names[int(i)]: float(f"{variances[i]:.4g}")
            for i in order
            if variances[i] > _ROUNDING
        },
    }
    if any(references):
        split, _ = best_part(forest, model.scores, _EDGES, ORDER)
        bleu = expected_bleu_gradient(replace(model, forest=split), references).value
        stats["expected_bleu"] = round(100 * bleu, 2)
    return stats
