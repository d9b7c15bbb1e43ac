"""Accumulated k-best lists, with or without spans as further instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.tune.pool.blocks import load_block, save_block
from hiero.tune.pool.candidates import Candidates, PoolArrays, SentenceCandidates, kbest_candidates
from hiero.tune.pool.instances import SearchAware, SpanInstances
from hiero.tune.pool.pool import Pool
from hiero.tune.run.accumulated import Accumulated, DecodedSet
from hiero.tune.run.protocol import Array, TuningDecoder


class AccumulatedLists(Accumulated):
    """A pool of k-best lists. The new part of an iteration is counted in hypotheses."""

    def __init__(self, metric: Metric, features: int, k: int) -> None:
        self._pool = Pool(metric.segments, features, metric)
        self._shape = metric.segments, features, metric.width
        self._metric = metric
        self._k = k

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> DecodedSet:
        translations: list[str] = []
        statistics: list[Array] = []

        def instances() -> Iterator[Sequence[Candidates]]:
            for sentence in self._sentences(decoder, weights):
                translations.append(sentence.best)
                statistics.append(sentence.best_statistics)
                yield sentence.instances

        block = self._pool.unseen(instances())
        save_block(folder / "new.npz", block)
        return DecodedSet(len(block.arrays), np.array(statistics), translations)

    def _sentences(self, decoder: TuningDecoder, weights: Array) -> Iterator[SentenceCandidates]:
        """Decodes the set and yields the candidates of each sentence."""
        lists = enumerate(decoder.kbest(weights, self._k))
        return (kbest_candidates(self._metric, sentence, kbest) for sentence, kbest in lists)

    def restore(self, folder: Path) -> None:
        self._pool.restore(load_block(folder / "new.npz", *self._shape))

    def arrays(self) -> PoolArrays:
        """Returns all candidates so far."""
        return self._pool.arrays()


class AccumulatedInstances(AccumulatedLists):
    """A pool of k-best lists and of the partial derivations of spans (Zhai et al. 2015)."""

    def __init__(self, metric: Bleu, features: int, k: int, options: SearchAware) -> None:
        super().__init__(metric, features, k)
        self._instances = SpanInstances(metric, k, options)

    def _sentences(self, decoder: TuningDecoder, weights: Array) -> Iterator[SentenceCandidates]:
        return decoder.charts(weights, self._instances.candidates)
