"""A decoder that looks its hypotheses up in a table, and sets whose best weights are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
import scipy.sparse

from hiero import Forest
from hiero.evaluate import Hypotheses, Metric
from hiero.tune.pool.candidates import Candidates, PoolArrays, kbest_candidates
from hiero.tune.pool.pool import Pool
from hiero.tune.run.protocol import Array, KBestList

T = TypeVar("T")
WORDS = [chr(ord("a") + i) for i in range(20)]


def whole_forest(_: int, forest: Forest | None) -> Forest | None:
    """Returns the forest as it was decoded."""
    return forest


class TableDecoder:
    """A decoder with the hypotheses (tokens) and features of every sentence; it scores all of them."""

    def __init__(self, hypotheses: Sequence[Sequence[list[str]]], features: Sequence[Array]) -> None:
        self.hypotheses = hypotheses
        self.features = features
        self.feature_names = [f"f{i}" for i in range(features[0].shape[1])]
        self.generated = 0
        self.decoded: list[list[float]] = []

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        self.decoded.append(weights.tolist())
        for tokens, features in zip(self.hypotheses, self.features, strict=True):
            self.generated += len(tokens)
            order = np.argsort(-(features @ weights), kind="stable")[:k]
            found = Hypotheses.from_tokens([tokens[i] for i in order.tolist()])
            yield KBestList(found, scipy.sparse.csr_array(features[order]))

    def forests(self, weights: Array, then: Callable[[int, Forest | None], T]) -> Iterator[T]:
        return (self.forest(sentence, weights, then) for sentence in range(len(self.hypotheses)))

    def forest(self, sentence: int, weights: Array, then: Callable[[int, Forest | None], T]) -> T:
        return then(sentence, self.made_forest(sentence, weights))

    def made_forest(self, sentence: int, weights: Array) -> Forest | None:
        """Makes a forest of one node with an edge for each hypothesis, over as many source words as the first
        has."""
        tokens, features = self.hypotheses[sentence], self.features[sentence]
        self.generated += len(tokens)
        words = sorted({word for line in tokens for word in line})
        symbols = [[words.index(word) for word in line] for line in tokens]
        return Forest.from_arrays(
            node_spans=[[0, len(tokens[0])]],
            source=["s"] * len(tokens[0]),
            edge_offsets=[0, len(tokens)],
            tail_offsets=[0] * (len(tokens) + 1),
            tails=[],
            edge_targets=list(range(len(tokens))),
            target_offsets=np.concatenate([[0], np.cumsum([len(line) for line in symbols])]),
            target_symbols=[symbol for line in symbols for symbol in line],
            words=words,
            features=scipy.sparse.csr_array(features),
            feature_names=self.feature_names,
        )


def solvable(
    seed: int, best: Sequence[float], sentences: int = 40, size: int = 60
) -> tuple[TableDecoder, list[list[str]]]:
    """Makes a table, and references that the weights ``best`` reach exactly: the lower these weights rank a
    hypothesis, the more of its words are wrong."""
    hypotheses, features, references = _solvable(seed, tuple(best), sentences, size)
    return TableDecoder(hypotheses, features), [list(lines) for lines in references]


@cache
def _solvable(
    seed: int, best: tuple[float, ...], sentences: int, size: int
) -> tuple[list[list[list[str]]], list[Array], list[list[str]]]:
    rng = np.random.default_rng(seed)
    hypotheses, features, references = [], [], []
    for _ in range(sentences):
        values = rng.normal(size=(size, len(best)))
        reference = rng.choice(WORDS, rng.integers(6, 12)).tolist()
        rank = np.empty(size, dtype=int)
        rank[np.argsort(-(values @ np.array(best)))] = np.arange(size)
        lines = []
        for place in rank.tolist():
            line = list(reference)
            for i in rng.permutation(len(line))[
                : round(place / size * len(line) + (place > 0) * 0.5)
            ].tolist():
                line[i] = "?"
            lines.append(line)
        hypotheses.append(lines)
        features.append(values)
        references.append([" ".join(reference)])
    return hypotheses, features, references


def wholes(metric: Metric, lists: Iterable[KBestList]) -> Iterator[list[Candidates]]:
    """Yields the instances of k-best lists, as pools take them."""
    return (kbest_candidates(metric, sentence, found).instances for sentence, found in enumerate(lists))


def pooled(decoder: TableDecoder, metric: Metric, weights: Array, k: int) -> PoolArrays:
    """Returns the k-best lists of a set as a pool."""
    pool = Pool(metric.segments, len(decoder.feature_names), metric)
    return pool.unseen(wholes(metric, decoder.kbest(weights, k))).arrays
