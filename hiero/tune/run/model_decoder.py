"""The decoder of this package as tuning sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import scipy.sparse

from hiero._core import Chart, Error, FeatureNames, Forest, Translation
from hiero.base.parallel import SpreadJob, portable
from hiero.base.text import one_line
from hiero.decode.decoder import Decoder, Keep, Source
from hiero.evaluate.tokens import Hypotheses
from hiero.tune.run.protocol import Array, KBestList

T = TypeVar("T")
Then = Callable[[int, Translation | None], T]
# Sentences that go to a place of a cluster together.
_TOGETHER = 4


class NoneDecodedError(Error):
    """None of the sentences of a set can be decoded."""


@dataclass(frozen=True)
class _Outcome(Generic[T]):
    """The outcome of decoding a sentence: the number of hypotheses that the search generated, or what it
    raised, and what was made of the translation."""

    generated: int
    error: Exception | None
    made: T

    def __reduce__(self) -> tuple[Any, ...]:
        error = None if self.error is None else portable(self.error).error
        return _Outcome, (self.generated, error, self.made)


def _attempt(decoder: Decoder, number: int, sentence: Source, keep: Keep, then: Then[T]) -> _Outcome[T]:
    """Decodes a sentence, and makes something of the translation."""
    try:
        result = decoder.translate(sentence, keep=keep)
    except Exception as error:  # local features may raise anything
        return _Outcome(0, error, then(number, None))
    return _Outcome(result.stats.hypotheses, None, then(number, result))


@dataclass(frozen=True)
class _Task:
    """One piece of decoding: a sentence by its number, weights, what to keep, and what to make of it."""

    number: int
    weights: Array
    keep: Keep
    then: Then[Any]


@dataclass(frozen=True)
class _Decode:
    """Decodes sentences of the set. On a cluster it is sent once, with the model and the sentences."""

    decoder: Decoder
    sentences: Sequence[Source]

    def __call__(self, task: _Task) -> _Outcome[Any]:
        decoder = self.decoder.with_weights(task.weights)
        return _attempt(decoder, task.number, self.sentences[task.number], task.keep, task.then)


@dataclass(frozen=True)
class _KBest:
    """Makes a list of the k best distinct translations."""

    names: FeatureNames
    weights: Array
    k: int

    @property
    def keep(self) -> Keep:
        # Building a forest takes as long again as the search itself.
        return "forest" if self.k > 1 else "none"

    def __call__(self, _: int, result: Translation | None) -> KBestList:
        names = self.names
        if result is None or not result.has_parse:
            return KBestList(Hypotheses.from_tokens([]), scipy.sparse.csr_array((0, len(names))))
        if self.keep == "none":
            values, ids = list(result.features.values()), names.ids(result.features)
            features = scipy.sparse.csr_array((values, ids, [0, len(ids)]), shape=(1, len(names)))
            return KBestList(Hypotheses.from_tokens([result.tokens]), features)
        forest = result.forest
        best = forest.kbest_arrays(self.k, forest.scores(self.weights), unique=True)
        return KBestList(Hypotheses.from_kbest(forest, best), best.features)


@dataclass(frozen=True)
class _OfForest(Generic[T]):
    """Makes something of the forest of a translation."""

    then: Callable[[int, Forest | None], T]

    def __call__(self, number: int, result: Translation | None) -> T:
        return self.then(number, None if result is None else result.forest)


@dataclass(frozen=True)
class _OfChart(Generic[T]):
    """Makes something of the chart of a translation."""

    then: Callable[[int, Chart | None], T]

    def __call__(self, number: int, result: Translation | None) -> T:
        return self.then(number, None if result is None else result.chart)


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
        self._job = SpreadJob(_Decode(decoder, self._sentences))

    @property
    def feature_names(self) -> FeatureNames:
        return self._decoder.model.feature_names

    @property
    def generated(self) -> int:
        return self._generated

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        kbest = _KBest(self.feature_names, weights, k)
        return self._decode(weights, kbest, kbest.keep)

    def forests(self, weights: Array, then: Callable[[int, Forest | None], T]) -> Iterator[T]:
        return self._decode(weights, _OfForest(then), keep="forest")

    def translations(self, weights: Array, then: Then[T]) -> Iterator[T]:
        """Yields what ``then`` makes of the number of each sentence and its translation with its forest, None
        for one that cannot be decoded."""
        return self._decode(weights, then, keep="forest")

    def forest(self, sentence: int, weights: Array, then: Callable[[int, Forest | None], T]) -> T:
        outcome: _Outcome[T] = self._job(_Task(sentence, weights, "forest", _OfForest(then)))
        return self._made(sentence, outcome)

    def charts(self, weights: Array, then: Callable[[int, Chart | None], T]) -> Iterator[T]:
        return self._decode(weights, _OfChart(then), keep="splits")

    def _decode(self, weights: Array, then: Then[T], keep: Keep) -> Iterator[T]:
        tasks = (_Task(number, weights, keep, then) for number in range(len(self._sentences)))
        decoded = 0
        # Forests of a whole set need not fit into memory.
        for number, outcome in enumerate(self._job.map(tasks, self._threads, _TOGETHER)):
            decoded += outcome.error is None
            yield self._made(number, outcome)
        if decoded == 0 < len(self._sentences):
            raise NoneDecodedError("none of the sentences can be decoded")

    def _made(self, number: int, outcome: _Outcome[T]) -> T:
        """Returns what was made of a sentence, and counts or reports what came of it."""
        with self._counting:
            self._generated += outcome.generated
        if outcome.error is not None:
            if self._failed is None:
                raise Error(f"sentence {number}: {one_line(outcome.error)}") from outcome.error
            self._failed(number, outcome.error)
        return outcome.made
