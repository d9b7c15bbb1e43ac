"""Statistics of a forest's distribution, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiero.forest.decisions import Decision, best_part
from hiero.forest.expectations import LogLinear, entropy, expectation, expected_bleu_gradient, variance
from hiero.forest.losses import ORDER

_EDGES = Decision().decision_edges
_ROUNDING = 1e-9  # of a variance


def distribution_stats(
    model: LogLinear, references: Sequence[Sequence[str]] = (), top: int = 3
) -> dict[str, object]:
    """Entropy in nats, mean and variance of the number of words, variances of the features that vary most,
    and with references BLEU of the expected counts, from 0 to 100; rounded. All but BLEU are of the whole
    forest, that of the 3,000 edges of the best derivations. The forest has derivations."""
    forest, p = model.forest, model.p
    words = forest.target_words
    variances = variance(p, forest.features)
    order = np.argsort(-variances, kind="stable")[:top]
    found: dict[str, object] = {
        "entropy": round(entropy(p), 4),
        "length": round(float(expectation(p, words)), 4),
        "length_variance": round(float(variance(p, words)), 4) + 0.0,  # -0.0 is none
        "feature_variances": {
            forest.feature_names[int(i)]: float(f"{variances[i]:.4g}")
            for i in order
            if variances[i] > _ROUNDING
        },
    }
    if any(references):
        split, _ = best_part(forest, model.scores, _EDGES, ORDER)
        bleu = expected_bleu_gradient(replace(model, forest=split), references).value
        found["expected_bleu"] = round(100 * bleu, 2)
    return found
