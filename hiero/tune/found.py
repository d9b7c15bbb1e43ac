"""What decoding has found in a tuning run, k-best lists or forests; what each iteration adds is on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hiero._core import Forest
from hiero.evaluate.metrics import Hypotheses, Metric
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.tune.hypergraph_mert import pruned
from hiero.tune.pool import Pool, PoolArrays, load_arrays, save_arrays
from hiero.tune.protocol import Array, KBestList, TuningDecoder

# Edges that are kept of a forest; more take time and choose no better weights.
_EDGES = 1000


class Found(ABC):
    """Grows by decoding with weights."""

    @abstractmethod
    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> tuple[int, Array, list[str]]:
        """Decodes the set and writes what is new to the folder. How much that is, and of the best
        translations the statistics, float64 (sentences, width), and the tokens joined by spaces."""

    @abstractmethod
    def restore(self, folder: Path) -> None:
        """Takes in what ``decode`` wrote."""


class FoundLists(Found):
    """A pool of k-best lists; what is new are hypotheses."""

    def __init__(self, metric: Metric, features: int, k: int) -> None:
        self._pool = Pool(metric.segments, features, metric)
        self._shape = metric.segments, features, metric.width
        self._k = k

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> tuple[int, Array, list[str]]:
        texts: list[str] = []

        def noted() -> Iterator[KBestList]:
            for found in decoder.kbest(weights, self._k):
                texts.append(found.hypotheses.first())
                yield found

        new, firsts = self._pool.unseen(noted())
        save_arrays(folder / "new.npz", new)
        return len(new), firsts, texts

    def restore(self, folder: Path) -> None:
        self._pool.restore(load_arrays(folder / "new.npz", *self._shape))

    def arrays(self) -> PoolArrays:
        return self._pool.arrays()


class FoundForests(Found):
    """Forests with a derivation that was better, with the weights they were decoded with, than all that were
    known of the sentence; pruned. Others add next to nothing but time."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.forests: list[list[Forest]] = [[] for _ in range(metric.segments)]

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> tuple[int, Array, list[str]]:
        new, firsts = 0, []
        texts: list[str] = []
        with ForestWriter(folder / "forests.zip") as writer:
            for sentence, forest in enumerate(decoder.forests(weights)):
                best = None if forest is None else forest.viterbi(forest.scores(weights))
                tokens = [] if best is None else best.tokens
                texts.append(" ".join(tokens))
                firsts.append(self._metric.token_statistics([sentence], Hypotheses.of_tokens([tokens]))[0])
                if forest is None or best is None or best.score <= self._known(sentence, weights) + 1e-6:
                    writer.write(NO_FOREST)
                else:
                    writer.write(pruned(forest, weights, _EDGES))
                    new += 1
        if len(firsts) != len(self.forests):
            raise ValueError(f"{len(firsts)} forests for {len(self.forests)} sentences")
        return new, np.array(firsts), texts

    def _known(self, sentence: int, weights: Array) -> float:
        """The score of the best derivation known."""
        best = -np.inf
        for forest in self.forests[sentence]:
            found = forest.viterbi(forest.scores(weights))
            best = max(best, found.score if found is not None else -np.inf)
        return best

    def restore(self, folder: Path) -> None:
        with ForestFile(folder / "forests.zip") as archive:
            for known, forest in zip(self.forests, archive, strict=True):
                if forest.root >= 0:
                    known.append(forest)
