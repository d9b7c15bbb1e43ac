"""A local feature in Python for tests."""

from __future__ import annotations

import numpy as np

import hiero


class SpanAndGapSize:
    """Log of the span length of a rule application, and the number of words of its first two nonterminals."""

    names = ["LogSpan", "GapSize_1", "GapSize_2"]  # noqa: RUF012

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> np.ndarray:
        spans, gaps = batch.applications.spans, batch.applications.gaps[:, :2]
        sizes = gaps[:, :, 1] - gaps[:, :, 0]  # -1 - -1 = 0 where there is no gap
        return np.column_stack([np.log(spans[:, 1] - spans[:, 0]), sizes])[batch.application]
