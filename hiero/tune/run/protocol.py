"""The decoder as tuning sees it: a set of sentences that is decoded with given weights.

``ModelDecoder`` is the decoder of this package. Anything else that gives k-best lists or forests of a set can
stand in its place: other machines, or a table of hypotheses in a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hiero._core import Chart, Forest
from hiero.evaluate.tokens import Hypotheses

Array = npt.NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class KBestList:
    """The best hypotheses of a sentence, best first; empty if it has no derivation."""

    hypotheses: Hypotheses
    features: Any  # scipy.sparse.csr_array (k, features)


class TuningDecoder(Protocol):
    """A decoder of the sentences of a tuning set, in order, with weights float64 (features)."""

    @property
    def feature_names(self) -> Sequence[str]: ...

    @property
    def generated(self) -> int:
        """The number of hypotheses that all searches so far have generated."""

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        """Yields the k best distinct translations of each sentence."""

    # ``then`` is called where a sentence was decoded, maybe on another machine: it and what it returns can be
    # pickled, and it changes nothing. Sentences are counted from 0.

    def forests(self, weights: Array, then: Callable[[int, Forest | None], T]) -> Iterator[T]:
        """Yields ``then(sentence, forest)`` for each sentence; the forest is None if it cannot be decoded."""

    def forest(self, sentence: int, weights: Array, then: Callable[[int, Forest | None], T]) -> T:
        """Decodes one sentence of the set, and returns ``then(sentence, forest)``; may be called from several
        threads at once."""

    def charts(self, weights: Array, then: Callable[[int, Chart | None], T]) -> Iterator[T]:
        """Yields ``then(sentence, chart)`` for each sentence. Charts have the best derivation of every split
        point."""
