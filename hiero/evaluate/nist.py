"""The NIST score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Array, Metric
from hiero.evaluate.references import IndexedReferences
from hiero.evaluate.tokens import Hypotheses, Text

# Columns of statistics.
_LENGTH = 0
_REFERENCE_LENGTH = 1
_INFORMATION = slice(2, 7)
_TOTALS = slice(7, 12)


class Nist(Metric):
    """The NIST score (Doddington 2002), as mteval-v13a computes it.

    The score is exp(beta ln^2 min(1, L / mean L_ref)) times the sum, over n = 1 to 5, of the information of
    matched n-grams divided by the number of n-grams, with beta = ln 0.5 / ln^2 1.5. Statistics are float64
    (n, 12): length, mean reference length, information by n, and number of n-grams by n.
    """

    name = "NIST"
    beta = math.log(0.5) / math.log(1.5) ** 2

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        super().__init__(references, text)
        self._set = IndexedReferences([self.text.tokens(segment) for segment in references])

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        words = hypotheses.split()
        return self._set.nist(segments, words.vocabulary, words.words, words.offsets)

    def score(self, statistics: npt.ArrayLike) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        lengths, reference_lengths = values[..., _LENGTH], values[..., _REFERENCE_LENGTH]
        by_order = values[..., _INFORMATION] / np.maximum(values[..., _TOTALS], 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(np.minimum(1.0, lengths / reference_lengths))
            penalty = np.where(lengths > 0, np.exp(self.beta * ratio**2), 0.0)
        return np.asarray(penalty * by_order.sum(axis=-1))

    @property
    def signature(self) -> str:
        return f"NIST|nrefs:{self._reference_count}|length:average|{self.text.signature}"
