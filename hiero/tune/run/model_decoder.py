"""The decoder of this package as tuning sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import scipy.sparse

from hiero._core import Chart, Error, FeatureNames, Forest, Translation
from hiero.base.parallel import ordered_map
from hiero.base.text import one_line
from hiero.decode.decoder import Decoder, Keep, Source
from hiero.evaluate.tokens import Hypotheses
from hiero.tune.run.protocol import Array, KBestList

T = TypeVar("T")


class ModelDecoder:
    """A model's decoder on a set of sentences. The model is loaded once, only weights change.

    A sentence that cannot be decoded, for example without the parse that a feature needs, raises an Error
    that names it. If there is a function ``failed``, it gets the sentence's number, from 0, and the
    exception, from any thread and each time that the sentence is decoded, and the sentence counts as one
    without translations. An Error is raised all the same if no sentence can be decoded.
    """

    def __init__(
        self,
        decoder: Decoder,
        sentences: Iterable[Source],
        threads: int = 1,
        failed: Callable[[int, Exception], object] | None = None,
    ) -> None:
        self._decoder = decoder
        self._sentences = list(sentences)
        self._threads = threads
        self._failed = failed
        self._generated = 0
        self._counting = threading.Lock()

    @property
    def feature_names(self) -> FeatureNames:
        return self._decoder.model.feature_names

    @property
    def generated(self) -> int:
        return self._generated

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        names = self.feature_names
        # Building a forest takes as long again as the search itself.
        keep: Keep = "forest" if k > 1 else "none"

        def kbest_list(_: int, result: Translation | None) -> KBestList:
            if result is None or not result.has_parse:
                return KBestList(Hypotheses.from_tokens([]), scipy.sparse.csr_array((0, len(names))))
            if keep == "none":
                values, ids = list(result.features.values()), names.ids(result.features)
                features = scipy.sparse.csr_array((values, ids, [0, len(ids)]), shape=(1, len(names)))
                return KBestList(Hypotheses.from_tokens([result.tokens]), features)
            forest = result.forest
            best = forest.kbest_arrays(k, forest.scores(weights), unique=True)
            return KBestList(Hypotheses.from_kbest(forest, best), best.features)

        return self._decode(weights, kbest_list, keep)

    def forests(self, weights: Array) -> Iterator[Forest | None]:
        return self._decode(weights, lambda _, result: result.forest if result else None, keep="forest")

    def forest(self, sentence: int, weights: Array) -> Forest | None:
        result = self._attempt(self._decoder.with_weights(weights), sentence, keep="forest")
        if result is None:
            return None
        with self._counting:
            self._generated += result.stats.hypotheses
        return result.forest if result.has_parse else None

    def charts(self, weights: Array, then: Callable[[int, Chart | None], T]) -> Iterator[T]:
        def work(sentence: int, result: Translation | None) -> T:
            return then(sentence, result.chart if result else None)

        return self._decode(weights, work, keep="splits")

    def _decode(
        self, weights: Array, then: Callable[[int, Translation | None], T], keep: Keep
    ) -> Iterator[T]:
        decoder = self._decoder.with_weights(weights)

        def work(number: int) -> tuple[int | None, T]:
            result = self._attempt(decoder, number, keep)
            return None if result is None else result.stats.hypotheses, then(number, result)

        decoded = 0
        # Forests of a whole set need not fit into memory.
        for generated, output in ordered_map(work, range(len(self._sentences)), self._threads):
            if generated is not None:
                decoded += 1
                self._generated += generated
            yield output
        if decoded == 0 < len(self._sentences):
            raise Error("none of the sentences can be decoded")

    def _attempt(self, decoder: Decoder, number: int, keep: Keep) -> Translation | None:
        try:
            return decoder.translate(self._sentences[number], keep=keep)
        except Exception as error:  # local features may raise anything
            if self._failed is None:
                raise Error(f"sentence {number}: {one_line(error)}") from error
            self._failed(number, error)
            return None
