"""The objective of a tuning set: from accumulated forests or lists to derivations with counts, and the
loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hiero._core import Forest, ForestSource
from hiero.base.parallel import Parts, ordered_map, spread_parts
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.tokens import Hypotheses
from hiero.forest.decisions import best_part
from hiero.forest.losses import COLUMNS, ORDER, BleuColumns, totals_and_matches
from hiero.tune.methods.risk.losses import Loss, loss_for
from hiero.tune.methods.risk.options import RiskOptions
from hiero.tune.methods.risk.spaces import Expectations, ForestRisk, ListRisk, mean_deviation
from hiero.tune.methods.sentence_bleu import smoothed_bleu
from hiero.tune.pool.candidates import PoolArrays, column_variances
from hiero.tune.run.protocol import Array

# Most edges of a sentence's annotated forest.
_MOST_EDGES = 100_000
# Sentences over which sums are made; that of all adds up those of blocks.
BLOCK = 16
# Derivations from which the variance of features is estimated.
_VARIANCE_K = 50


class UnclippedBleu(Bleu):
    """BLEU with four further statistics, so float64 (n, 14): the unclipped matches of each order."""

    def __init__(self, metric: Bleu) -> None:
        vars(self).update(vars(metric))  # shares the counted references

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return np.hstack(
            [super().token_statistics(segments, hypotheses), self.unclipped(segments, hypotheses)]
        )


def list_objective(pool: PoolArrays, weights: Array, options: RiskOptions) -> tuple[ListRisk, Loss]:
    """Returns the derivations of a pool with statistics of ``UnclippedBleu``, and the loss, which depends on
    the translations that these weights choose."""
    bleu, unclipped = np.split(pool.statistics, [BleuColumns.WIDTH], axis=1)
    if options.loss == "sentence-bleu":
        counts = 1 - smoothed_bleu(bleu)[:, None]
    else:
        counts = np.hstack([bleu[:, BleuColumns.TOTALS], unclipped])
    total = pool.total(pool.winners(weights))[: BleuColumns.WIDTH]
    return ListRisk(pool, counts), loss_for(options, total, pool.instances)


@dataclass(frozen=True)
class AnnotatedForest:
    """A sentence's forest annotated with 4-grams, with the n-grams and unclipped matches of each edge,
    float32 (edges, 8), BLEU statistics of the best derivation, float64 (10), and the variance of each feature
    within the best derivations, float64 (features). Without a derivation the statistics are those of an empty
    translation, and there are no variances."""

    forest: Forest
    counts: npt.NDArray[np.float32]
    statistics: Array
    variances: Array


def annotate(
    forest: Forest,
    scores: Array,
    metric: Bleu,
    sentence: int,
    with_features: Callable[[Forest, Array], Forest] = lambda forest, _: forest,
) -> AnnotatedForest:
    """Annotates a forest with 4-grams, by these scores of its edges. As long as that would make more than
    100,000 edges, the worse half of the edges is left out. ``with_features`` replaces the features. Raises
    ForestError if the best derivations alone make too many edges."""
    if forest.root < 0:
        empty = metric.empty_statistics([sentence])[0]
        return AnnotatedForest(forest, np.zeros((0, COLUMNS), dtype=np.float32), empty, np.zeros(0))
    annotated, origins = best_part(forest, scores, forest.edge_count, ORDER, _MOST_EDGES)
    annotated = with_features(annotated, scores[origins])
    best = annotated.kbest_arrays(_VARIANCE_K, scores[origins])
    segments = np.full(len(best), sentence)
    statistics = metric.token_statistics(segments, Hypotheses.from_kbest(annotated, best))
    counts = totals_and_matches(annotated, metric.references[sentence])
    return AnnotatedForest(annotated, counts, statistics[0], column_variances(best.features))


def forest_objective(
    forests: Sequence[Forest], metric: Bleu, weights: Array, options: RiskOptions, threads: int = 1
) -> tuple[SpreadRisk, Loss]:
    """Returns the derivations of each sentence's forest, and the loss, which depends on the translations that
    these weights choose. Annotated forests stay where they are made."""
    parts = spread_parts(partial(_Blocks, metric, weights), forests, BLOCK, threads)
    measured = [sentence for part in parts.call(_Blocks.measured) for sentence in part]
    statistics = np.sum([statistics for statistics, _ in measured], axis=0)
    variances = [variances for _, variances in measured if variances is not None]
    spread = mean_deviation(variances, len(weights))
    return SpreadRisk(parts, len(forests), spread), loss_for(options, statistics, len(forests))


class _Blocks:
    """Annotated forests of consecutive sentences, in blocks of ``BLOCK``, over which sums are made: the same
    wherever parts begin."""

    def __init__(
        self, metric: Bleu, weights: Array, first: int, forests: Sequence[Forest], threads: int
    ) -> None:
        def annotated(sentence: int) -> AnnotatedForest:
            forest = forests[sentence]
            scores = forest.scores(weights) if forest.root >= 0 else np.zeros(0)
            return annotate(forest, scores, metric, first + sentence)

        examples = list(ordered_map(annotated, range(len(forests)), threads))
        self._measured = [(one.statistics, one.variances if len(one.counts) else None) for one in examples]
        self._threads = threads
        self._spaces = []
        for begin in range(0, len(examples), BLOCK):
            block = examples[begin : begin + BLOCK]
            counts = [one.counts for one in block]
            offsets = np.cumsum([0, *map(len, counts)], dtype=np.int64)
            source = ForestSource([one.forest for one in block])
            self._spaces.append(ForestRisk(source, np.concatenate(counts), offsets, np.zeros(0)))

    def measured(self) -> list[tuple[Array, Array | None]]:
        """Returns the statistics of each sentence's best translation and, if it has derivations, the
        variances of its features."""
        return self._measured

    def counts(self, weights: Array, gamma: float) -> list[Array]:
        """Returns the expected counts of each block."""
        return list(ordered_map(lambda block: block.counts(weights, gamma), self._spaces, self._threads))

    def risk(self, *arguments: Any) -> list[Expectations]:
        """Returns the parts of the objective of each block; see ``RiskSpace.risk``."""
        return list(ordered_map(lambda block: block.risk(*arguments), self._spaces, self._threads))


class SpreadRisk:
    """The derivations of forests wherever they are, as a ``RiskSpace``. The sums of blocks are added up in
    the order of the sentences."""

    def __init__(self, parts: Parts, sentences: int, spread: Array) -> None:
        self.sentences = sentences
        self.spread = spread
        self._parts = parts

    def counts(self, weights: Array, gamma: float) -> Array:
        parts = self._parts.call(_Blocks.counts, weights, gamma)
        return np.asarray(sum(block for part in parts for block in part))

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        parts = self._parts.call(_Blocks.risk, weights, gamma, temperature, loss)
        blocks = [block for part in parts for block in part]
        return Expectations(
            np.asarray(sum(block.counts for block in blocks)),
            sum(block.entropy for block in blocks),
            np.asarray(sum(block.theta for block in blocks)),
            sum(block.gamma for block in blocks),
        )
