"""A decoder that shows how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from hiero._core import Chart, Forest
from hiero.base.progress import Report
from hiero.tune.run.protocol import Array, KBestList, TuningDecoder

T = TypeVar("T")


class ProgressDecoder:
    """A decoder that reports every sentence of a set to ``progress(what, done, total)``."""

    def __init__(self, decoder: TuningDecoder, what: str, total: int, progress: Report | None) -> None:
        self._decoder = decoder
        self._what = what
        self._total = total
        self._progress = progress

    @property
    def feature_names(self) -> Sequence[str]:
        return self._decoder.feature_names

    @property
    def generated(self) -> int:
        return self._decoder.generated

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        return self._counted(self._decoder.kbest(weights, k))

    def forests(self, weights: Array, then: Callable[[int, Forest | None], T]) -> Iterator[T]:
        return self._counted(self._decoder.forests(weights, then))

    def forest(self, sentence: int, weights: Array, then: Callable[[int, Forest | None], T]) -> T:
        return self._decoder.forest(sentence, weights, then)

    def charts(self, weights: Array, then: Callable[[int, Chart | None], T]) -> Iterator[T]:
        return self._counted(self._decoder.charts(weights, then))

    def _counted(self, results: Iterator[T]) -> Iterator[T]:
        for done, result in enumerate(results, start=1):
            if self._progress is not None:
                self._progress(self._what, done, self._total)
            yield result
