"""Accumulated forests of a tuning set, apart or united."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Pruned:
    """A sentence's forest, pruned, with the best derivation by the weights that decoded: tokens and score."""

    tokens: Sequence[str]
    score: float
    forest: Forest


@dataclass(frozen=True)
class _Prune:
    """Prunes a forest where it was decoded: whole forests are large, and are not moved."""

    weights: Array
    edges: int

    def __call__(self, _: int, forest: Forest | None) -> _Pruned | None:
        if forest is None:
            return None
        scores = forest.scores(self.weights)
        if (best := forest.viterbi(scores)) is None:
            return None
        return _Pruned(best.tokens, best.score, forest.prune(scores, edges=self.edges))


class _SentenceForests(Accumulated):
    """Forests of each sentence. The new part of an iteration is counted in sentences whose forest has a
    derivation with a better score, by the weights that decoded, than all forests before."""

    def __init__(self, metric: Metric, edges: int) -> None:
        """New forests are pruned to so many edges."""
        self._metric = metric
        self._edges = edges

    @abstractmethod
    def forests_of(self, sentence: int) -> Sequence[Forest]:
        """Returns the accumulated forests of a sentence."""

    @abstractmethod
    def _to_store(self, sentence: int, pruned: Forest, weights: Array, is_better: bool) -> Forest:
        """Returns the forest to write for a sentence, whose new forest has derivations."""

    @abstractmethod
    def _add(self, sentence: int, forest: Forest) -> None:
        """Adds a forest that was written."""

    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> DecodedSet:
        new, statistics = 0, []
        translations: list[str] = []
        prune = _Prune(weights, self._edges)
        with ForestWriter(folder / "new.forests") as writer:
            for sentence, found in enumerate(decoder.forests(weights, prune)):
                tokens = [] if found is None else found.tokens
                translations.append(" ".join(tokens))
                hypothesis = Hypotheses.from_tokens([tokens])
                statistics.append(self._metric.token_statistics([sentence], hypothesis)[0])
                if found is None:
                    writer.write(NO_FOREST)
                    continue
                is_better = found.score > self._best_score(sentence, weights) + _TOLERANCE
                writer.write(self._to_store(sentence, found.forest, weights, is_better))
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
        super().__init__(metric, _MERT_EDGES)
        self.forests: list[list[Forest]] = [[] for _ in range(metric.segments)]

    def forests_of(self, sentence: int) -> Sequence[Forest]:
        return self.forests[sentence]

    def _to_store(self, sentence: int, pruned: Forest, weights: Array, is_better: bool) -> Forest:
        return pruned if is_better else NO_FOREST

    def _add(self, sentence: int, forest: Forest) -> None:
        self.forests[sentence].append(forest)


class AccumulatedUnions(_SentenceForests):
    """The union of each sentence's forests, which every iteration writes anew. A new forest is pruned to
    ``edges`` edges, and the union to twice as many: a union has more edges than its parts together."""

    def __init__(self, metric: Metric, edges: int) -> None:
        super().__init__(metric, edges)
        self.unions: list[Forest] = [NO_FOREST] * metric.segments

    def forests_of(self, sentence: int) -> Sequence[Forest]:
        union = self.unions[sentence]
        return [union] if union.root >= 0 else []

    def _to_store(self, sentence: int, pruned: Forest, weights: Array, is_better: bool) -> Forest:
        previous = self.unions[sentence]
        if previous.root < 0:
            return pruned
        union = Forest.union([previous, pruned])
        return union.prune(union.scores(weights), edges=2 * self._edges)

    def _add(self, sentence: int, forest: Forest) -> None:
        self.unions[sentence] = forest
