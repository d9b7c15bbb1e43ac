"""Hypotheses accumulated in a tuning run, as k-best lists or forests; what each iteration adds is on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hiero._core import Forest, FormatError
from hiero.evaluate.metrics import Bleu, Hypotheses, Metric
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.tune.instances import Instances, SearchAware, SentenceInstances
from hiero.tune.pool import WHOLE, Candidates, Pool, PoolArrays, load_block, save_block
from hiero.tune.protocol import Array, KBestList, TuningDecoder

_NOTHING = Hypotheses.of_tokens([[]])
# Edges that MERT keeps of a forest; more take time and choose no better weights.
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


def listed(metric: Metric, sentence: int, found: KBestList) -> SentenceInstances:
    """A sentence's list as the candidates of the whole; an empty one counts as an empty translation."""
    hypotheses = found.hypotheses
    statistics = metric.token_statistics(np.full(len(hypotheses), sentence, dtype=np.int32), hypotheses)
    firsts = statistics if len(hypotheses) else metric.token_statistics([sentence], _NOTHING)
    return SentenceInstances(hypotheses.first(), firsts[0], [Candidates(WHOLE, found.features, statistics)])


class FoundLists(Found):
    """A pool of k-best lists; what is new are hypotheses."""

    def __init__(self, metric: Metric, features: int, k: int) -> None:
        self._pool = Pool(metric.segments, features, metric)
        self._shape = metric.segments, features, metric.width
        self._metric = metric
        self._k = k

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> tuple[int, Array, list[str]]:
        texts: list[str] = []
        firsts: list[Array] = []

        def noted(found: SentenceInstances) -> Sequence[Candidates]:
            texts.append(found.best)
            firsts.append(found.first)
            return found.candidates

        new = self._pool.unseen(noted(found) for found in self._sentences(decoder, weights))
        save_block(folder / "new.npz", new)
        return len(new.arrays), np.array(firsts), texts

    def _sentences(self, decoder: TuningDecoder, weights: Array) -> Iterator[SentenceInstances]:
        """Yields the candidates that decoding gives for each sentence."""
        lists = enumerate(decoder.kbest(weights, self._k))
        return (listed(self._metric, sentence, found) for sentence, found in lists)

    def restore(self, folder: Path) -> None:
        self._pool.restore(load_block(folder / "new.npz", *self._shape))

    def arrays(self) -> PoolArrays:
        return self._pool.arrays()


class FoundInstances(FoundLists):
    """The same with the spans of sentences as instances besides (Zhai et al. 2015)."""

    def __init__(self, metric: Bleu, features: int, k: int, options: SearchAware) -> None:
        super().__init__(metric, features, k)
        self._instances = Instances(metric, k, options)

    def _sentences(self, decoder: TuningDecoder, weights: Array) -> Iterator[SentenceInstances]:
        return decoder.charts(weights, self._instances.of)


class ForestsOfSet(Found):
    """Forests of the sentences; what is new are those with a derivation that is better, with the weights
    they were decoded with, than all that were known of the sentence."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    @abstractmethod
    def known(self, sentence: int) -> Sequence[Forest]:
        """Gives the forests of a sentence."""

    @abstractmethod
    def _kept(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        """Reduces a forest that has derivations to what is kept of it."""

    @abstractmethod
    def _take(self, sentence: int, forest: Forest) -> None:
        """Takes in what was kept."""

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> tuple[int, Array, list[str]]:
        new, firsts = 0, []
        texts: list[str] = []
        with ForestWriter(folder / "new.forests") as writer:
            for sentence, forest in enumerate(decoder.forests(weights)):
                best = None if forest is None else forest.viterbi(forest.scores(weights))
                tokens = [] if best is None else best.tokens
                texts.append(" ".join(tokens))
                firsts.append(self._metric.token_statistics([sentence], Hypotheses.of_tokens([tokens]))[0])
                if forest is None or best is None:
                    writer.write(NO_FOREST)
                    continue
                is_better = best.score > self._best_known(sentence, weights) + 1e-6
                writer.write(self._kept(sentence, forest, weights, is_better))
                new += is_better
        if len(firsts) != self._metric.segments:
            raise ValueError(f"{len(firsts)} forests for {self._metric.segments} sentences")
        return new, np.array(firsts), texts

    def _best_known(self, sentence: int, weights: Array) -> float:
        best = -np.inf
        for forest in self.known(sentence):
            found = forest.viterbi(forest.scores(weights))
            best = max(best, found.score if found is not None else -np.inf)
        return best

    def restore(self, folder: Path) -> None:
        with ForestFile(folder / "new.forests") as archive:
            if len(archive) != self._metric.segments:
                raise FormatError(f"{folder}: forests of {len(archive)} sentences")
            for sentence, forest in enumerate(archive):
                if forest.root >= 0:
                    self._take(sentence, forest)


class FoundForests(ForestsOfSet):
    """Only the forests that had something better, pruned: others add next to nothing but time."""

    def __init__(self, metric: Metric) -> None:
        super().__init__(metric)
        self.forests: list[list[Forest]] = [[] for _ in range(metric.segments)]

    def known(self, sentence: int) -> Sequence[Forest]:
        return self.forests[sentence]

    def _kept(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        return forest.prune(forest.scores(weights), edges=_EDGES) if is_better else NO_FOREST

    def _take(self, sentence: int, forest: Forest) -> None:
        self.forests[sentence].append(forest)


class FoundUnions(ForestsOfSet):
    """The union of each sentence's forests, as every iteration leaves it on disk: so many of the best edges
    of what it found, together with what was known, and of that twice as many of the best, as unions grow to
    more than the sum of their parts."""

    def __init__(self, metric: Metric, edges: int) -> None:
        super().__init__(metric)
        self._edges = edges
        self.unions: list[Forest] = [NO_FOREST] * metric.segments

    def known(self, sentence: int) -> Sequence[Forest]:
        union = self.unions[sentence]
        return [union] if union.root >= 0 else []

    def _kept(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        best = forest.prune(forest.scores(weights), edges=self._edges)
        known = self.unions[sentence]
        if known.root < 0:
            return best
        union = Forest.union([known, best])
        return union.prune(union.scores(weights), edges=2 * self._edges)

    def _take(self, sentence: int, forest: Forest) -> None:
        self.unions[sentence] = forest
