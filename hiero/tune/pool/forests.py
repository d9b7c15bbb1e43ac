"""Accumulated forests of a tuning set, apart or united."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hiero._core import Forest, FormatError
from hiero.evaluate.metric import Metric
from hiero.evaluate.tokens import Hypotheses
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.tune.run.accumulated import Accumulated, DecodedSet
from hiero.tune.run.protocol import Array, TuningDecoder

# Edges that MERT keeps of a forest; more take time and choose no better weights.
_MERT_EDGES = 1000
# A better score differs by more than this; less is rounding.
_TOLERANCE = 1e-6


class _SentenceForests(Accumulated):
    """Forests of each sentence. The new part of an iteration is counted in sentences whose forest has a
    derivation with a better score, by the weights that decoded, than all forests before."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    @abstractmethod
    def forests_of(self, sentence: int) -> Sequence[Forest]:
        """Returns the accumulated forests of a sentence."""

    @abstractmethod
    def _to_store(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        """Returns the forest to write for a sentence, whose new forest has derivations."""

    @abstractmethod
    def _add(self, sentence: int, forest: Forest) -> None:
        """Adds a forest that was written."""

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> DecodedSet:
        new, statistics = 0, []
        translations: list[str] = []
        with ForestWriter(folder / "new.forests") as writer:
            for sentence, forest in enumerate(decoder.forests(weights)):
                best = None if forest is None else forest.viterbi(forest.scores(weights))
                tokens = [] if best is None else best.tokens
                translations.append(" ".join(tokens))
                hypothesis = Hypotheses.from_tokens([tokens])
                statistics.append(self._metric.token_statistics([sentence], hypothesis)[0])
                if forest is None or best is None:
                    writer.write(NO_FOREST)
                    continue
                is_better = best.score > self._best_score(sentence, weights) + _TOLERANCE
                writer.write(self._to_store(sentence, forest, weights, is_better))
                new += is_better
        if len(statistics) != self._metric.segments:
            raise ValueError(f"{len(statistics)} forests for {self._metric.segments} sentences")
        return DecodedSet(new, np.array(statistics), translations)

    def _best_score(self, sentence: int, weights: Array) -> float:
        """Returns the best score of a derivation in the accumulated forests; -infinity without one."""
        derivations = [forest.viterbi(forest.scores(weights)) for forest in self.forests_of(sentence)]
        return max((best.score for best in derivations if best is not None), default=-np.inf)

    def restore(self, folder: Path) -> None:
        with ForestFile(folder / "new.forests") as archive:
            if len(archive) != self._metric.segments:
                raise FormatError(f"{folder}: forests of {len(archive)} sentences")
            for sentence, forest in enumerate(archive):
                if forest.root >= 0:
                    self._add(sentence, forest)


class AccumulatedForests(_SentenceForests):
    """The pruned forests of each sentence that had a better derivation than those before; others would add
    next to nothing but time."""

    def __init__(self, metric: Metric) -> None:
        super().__init__(metric)
        self.forests: list[list[Forest]] = [[] for _ in range(metric.segments)]

    def forests_of(self, sentence: int) -> Sequence[Forest]:
        return self.forests[sentence]

    def _to_store(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        return forest.prune(forest.scores(weights), edges=_MERT_EDGES) if is_better else NO_FOREST

    def _add(self, sentence: int, forest: Forest) -> None:
        self.forests[sentence].append(forest)


class AccumulatedUnions(_SentenceForests):
    """The union of each sentence's forests, which every iteration writes anew. A new forest is pruned to
    ``edges`` edges, and the union to twice as many: a union has more edges than its parts together."""

    def __init__(self, metric: Metric, edges: int) -> None:
        super().__init__(metric)
        self._edges = edges
        self.unions: list[Forest] = [NO_FOREST] * metric.segments

    def forests_of(self, sentence: int) -> Sequence[Forest]:
        union = self.unions[sentence]
        return [union] if union.root >= 0 else []

    def _to_store(self, sentence: int, forest: Forest, weights: Array, is_better: bool) -> Forest:
        pruned = forest.prune(forest.scores(weights), edges=self._edges)
        previous = self.unions[sentence]
        if previous.root < 0:
            return pruned
        union = Forest.union([previous, pruned])
        return union.prune(union.scores(weights), edges=2 * self._edges)

    def _add(self, sentence: int, forest: Forest) -> None:
        self.unions[sentence] = forest
