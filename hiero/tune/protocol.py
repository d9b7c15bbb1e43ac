"""What tuners see of a decoder: a set of sentences to decode with given weights.

``ModelDecoder`` is the decoder of this package; anything else that gives k-best lists or forests of a set can
stand in its place: other machines, or a table of hypotheses in a test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero._core import Forest, Translation
from hiero.base.weights import weight_vector
from hiero.decode.decoder import Decoder, Keep
from hiero.evaluate.metrics import Hypotheses

Array = npt.NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class KBestList:
    """The best hypotheses of a sentence, best first; none where it has no derivation."""

    hypotheses: Hypotheses
    features: Any  # scipy.sparse.csr_array (k, features)


class TuningDecoder(Protocol):
    """Decodes the sentences of a tuning set, in order, with weights float64 (features)."""

    @property
    def feature_names(self) -> Sequence[str]: ...

    @property
    def generated(self) -> int:
        """Hypotheses that all searches so far have generated."""

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]: ...

    def forests(self, weights: Array) -> Iterator[Forest | None]: ...


class ModelDecoder:
    """A model's decoder on a set of sentences; loaded once, only weights change."""

    def __init__(self, decoder: Decoder, sentences: Iterable[str | Sequence[str]], threads: int = 1) -> None:
        self._decoder = decoder
        self._sentences = list(sentences)
        self._threads = threads
        self._generated = 0

    @property
    def feature_names(self) -> Sequence[str]:
        return self._decoder.model.feature_names

    @property
    def generated(self) -> int:
        return self._generated

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        names = self.feature_names

        def listed(result: Translation) -> KBestList:
            if not result.has_parse:
                return KBestList(Hypotheses.of_tokens([]), scipy.sparse.csr_array((0, len(names))))
            forest = result.forest
            if forest is None:
                features = weight_vector(result.features, names)[None]
                return KBestList(Hypotheses.of_tokens([result.tokens]), scipy.sparse.csr_array(features))
            found = forest.kbest_arrays(k, forest.scores(weights), unique=True)
            return KBestList(Hypotheses.of_list(forest, found), found.features)

        # A forest costs as much again as the search for the best.
        return self._decode(weights, listed, keep="forest" if k > 1 else "none")

    def forests(self, weights: Array) -> Iterator[Forest | None]:
        return self._decode(weights, lambda result: result.forest, keep="forest")

    def _decode(self, weights: Array, then: Callable[[Translation], T], keep: Keep) -> Iterator[T]:
        named = dict(zip(self.feature_names, weights.tolist(), strict=True))
        decoder = self._decoder.with_weights(named)

        def work(sentence: str | Sequence[str]) -> tuple[int, T]:
            result = decoder.translate(sentence, keep=keep)
            return result.stats.hypotheses, then(result)

        # A few sentences ahead of what is taken: forests of a whole set need not fit into memory.
        ahead: deque[Future[tuple[int, T]]] = deque()
        with ThreadPoolExecutor(self._threads) as pool:
            for sentence in self._sentences:
                ahead.append(pool.submit(work, sentence))
                if len(ahead) > 4 * self._threads:
                    yield self._take(ahead.popleft())
            while ahead:
                yield self._take(ahead.popleft())

    def _take(self, done: Future[tuple[int, T]]) -> T:
        generated, found = done.result()
        self._generated += generated
        return found
