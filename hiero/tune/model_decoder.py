"""The decoder of this package as tuners see it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import scipy.sparse

from hiero._core import FeatureNames, Forest, Translation
from hiero.base.parallel import ordered_map
from hiero.decode.decoder import Decoder, Keep, Source
from hiero.evaluate.metrics import Hypotheses
from hiero.tune.protocol import Array, KBestList

T = TypeVar("T")


class ModelDecoder:
    """A model's decoder on a set of sentences; loaded once, only weights change."""

    def __init__(self, decoder: Decoder, sentences: Iterable[Source], threads: int = 1) -> None:
        self._decoder = decoder
        self._sentences = list(sentences)
        self._threads = threads
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

        def listed(result: Translation) -> KBestList:
            if not result.has_parse:
                return KBestList(Hypotheses.of_tokens([]), scipy.sparse.csr_array((0, len(names))))
            forest = result.forest
            if forest is None:
                values, ids = list(result.features.values()), names.ids(result.features)
                features = scipy.sparse.csr_array((values, ids, [0, len(ids)]), shape=(1, len(names)))
                return KBestList(Hypotheses.of_tokens([result.tokens]), features)
            found = forest.kbest_arrays(k, forest.scores(weights), unique=True)
            return KBestList(Hypotheses.of_list(forest, found), found.features)

        # A forest costs as much again as the search for the best.
        return self._decode(weights, listed, keep="forest" if k > 1 else "none")

    def forests(self, weights: Array) -> Iterator[Forest | None]:
        return self._decode(weights, lambda result: result.forest, keep="forest")

    def forest(self, sentence: int, weights: Array) -> Forest | None:
        result = self._decoder.with_weights(weights).translate(self._sentences[sentence], keep="forest")
        with self._counting:
            self._generated += result.stats.hypotheses
        return result.forest if result.has_parse else None

    def _decode(self, weights: Array, then: Callable[[Translation], T], keep: Keep) -> Iterator[T]:
        decoder = self._decoder.with_weights(weights)

        def work(sentence: Source) -> tuple[int, T]:
            result = decoder.translate(sentence, keep=keep)
            return result.stats.hypotheses, then(result)

        # Forests of a whole set need not fit into memory.
        for generated, found in ordered_map(work, self._sentences, self._threads):
            self._generated += generated
            yield found
