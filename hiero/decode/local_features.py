"""Local features: scores that depend on a rule application's source side and its rule alone.

They are computed for all applications of a sentence at once, before search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hiero._core import ApplicationBatch

if TYPE_CHECKING:  # a decoder without local features or forests need not load scipy
    import scipy.sparse


class LocalFeatures(Protocol):
    """What ``Model.assemble(local_features=[...])`` takes.

    The call must be a pure function of its arguments: it is made from any thread, once a sentence.
    """

    @property
    def names(self) -> Sequence[str]:
        """Feature names, which no other part of the model may use."""

    def __call__(self, tokens: Sequence[str], batch: ApplicationBatch) -> scipy.sparse.sparray | np.ndarray:
        """A matrix of ``len(batch)`` rows and ``len(names)`` columns, finite values only."""


class SpanAndGapSize:
    """Log of the span length, and the gap sizes of the first two nonterminals, of every rule application.

    >>> features = SpanAndGapSize()
    >>> features.names
    ['LogSpan', 'GapSize_1', 'GapSize_2']
    """

    names = ["LogSpan", "GapSize_1", "GapSize_2"]  # noqa: RUF012

    def __call__(self, tokens: Sequence[str], batch: ApplicationBatch) -> np.ndarray:
        spans, gaps = batch.applications.spans, batch.applications.gaps[:, :2]
        sizes = gaps[:, :, 1] - gaps[:, :, 0]  # -1 - -1 = 0 where there is no gap
        return np.column_stack([np.log(spans[:, 1] - spans[:, 0]), sizes])[batch.application]


# By name, those that a model directory can ask for.
BUILT_IN: dict[str, type[LocalFeatures]] = {"SpanAndGapSize": SpanAndGapSize}
