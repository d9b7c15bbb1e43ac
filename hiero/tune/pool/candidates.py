"""Candidate translations that weights choose among, as arrays.

The unit of a pool is an instance: a sentence, or a span of one (Zhai et al. 2015). An instance is named by
its sentence and its span, which is ``WHOLE`` for the sentence itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Metric
from hiero.tune.run.protocol import Array, KBestList

IntArray = npt.NDArray[np.int32]

# A feature varies if its values differ by more than this share of the largest; less is rounding.
_ROUNDING = 1e-6
# The span of the instance that is the whole sentence.
WHOLE = (0, 0)


@dataclass(frozen=True)
class Candidates:
    """The candidates of one instance: features, scipy.sparse.csr_array (n, features), and the metric's
    statistics of the translation that each leads to, float64 (n, width)."""

    span: tuple[int, int]
    features: Any
    statistics: Array


@dataclass(frozen=True)
class SentenceCandidates:
    """Candidates of one sentence: the tokens of its best translation joined by spaces, the statistics of that
    translation, (width), and the candidates of its instances by rising span, first of the whole sentence."""

    best: str
    best_statistics: Array
    instances: Sequence[Candidates]


def kbest_candidates(metric: Metric, sentence: int, kbest: KBestList) -> SentenceCandidates:
    """Makes candidates of a sentence's k-best list; an empty list counts as an empty translation."""
    hypotheses = kbest.hypotheses
    statistics = metric.token_statistics(np.full(len(hypotheses), sentence, dtype=np.int32), hypotheses)
    best = statistics if len(hypotheses) else metric.empty_statistics([sentence])
    whole = Candidates(WHOLE, kbest.features, statistics)
    return SentenceCandidates(hypotheses.first(), best[0], [whole])


@dataclass(frozen=True)
class PoolArrays:
    """Candidates of many instances: those of instance i are the rows ``offsets[i]`` to ``offsets[i + 1]`` of
    ``features``, scipy.sparse.csr_array (n, features), and ``statistics``, float64 (n, width). ``missing`` is
    the sum of statistics of empty translations, (width), over the sentences without a candidate."""

    offsets: IntArray
    features: Any
    statistics: Array
    missing: Array | float = 0.0

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def instances(self) -> int:
        return len(self.offsets) - 1

    def winners(self, weights: Array) -> IntArray:
        """Returns the row of the best candidate of each instance, the first of equal ones; -1 for an instance
        without candidates."""
        scores = self.features @ weights
        bounds = self.offsets.tolist()
        best = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in itertools.pairwise(bounds)]
        return np.array(best, dtype=np.int32)

    def total(self, rows: IntArray) -> Array:
        """Sums the statistics of one candidate of each instance, given by its row; -1 stands for none."""
        return np.asarray(self.statistics[rows[rows >= 0]].sum(axis=0) + self.missing)


def column_variances(features: Any) -> Array:
    """Computes the variance of each column of a sparse matrix, float64 (columns); 0 if values differ by
    rounding alone."""
    used = np.unique(features.indices)
    values = np.asarray(features[:, used].todense(), dtype=np.float64)
    out = np.zeros(features.shape[1])
    # Differences from the first row: a constant column has a variance of exactly 0.
    variances = (values - values[0]).var(axis=0)
    out[used] = np.where(variances > np.square(_ROUNDING * np.abs(values).max(axis=0)), variances, 0.0)
    return out
