"""The hypotheses of a tuning set that decoding has found so far, with features and metric statistics."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero.evaluate.metrics import Hypotheses, Metric
from hiero.tune.protocol import Array, KBestList

IntArray = npt.NDArray[np.int32]
# Features are sums over rules, and equal up to rounding where derivations are.
_DECIMALS = 9


@dataclass(frozen=True)
class PoolArrays:
    """Hypotheses by sentence: those of sentence s are rows ``offsets[s]`` to ``offsets[s + 1]`` of
    ``features``, scipy.sparse.csr_array (n, features), and ``statistics``, float64 (n, width)."""

    offsets: IntArray
    features: Any
    statistics: Array

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def winners(self, weights: Array) -> IntArray:
        """By sentence the row that scores best, the first of equal ones; -1 where there is none."""
        scores = self.features @ weights
        bounds = self.offsets.tolist()
        best = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in itertools.pairwise(bounds)]
        return np.array(best, dtype=np.int32)

    def total(self, rows: IntArray) -> Array:
        """The statistics of one hypothesis a sentence, summed; -1 adds nothing."""
        return np.asarray(self.statistics[rows[rows >= 0]].sum(axis=0))


class Pool:
    """Grows by k-best lists; hypotheses are unique by features and statistics within their sentence."""

    def __init__(self, sentences: int, features: int, metric: Metric) -> None:
        self._metric = metric
        self._width = features
        self._seen: list[set[bytes]] = [set() for _ in range(sentences)]
        self._features: list[list[Any]] = [[] for _ in range(sentences)]
        self._statistics: list[list[Array]] = [[] for _ in range(sentences)]

    def add(self, lists: Iterable[KBestList]) -> tuple[int, Array]:
        """Takes one list a sentence. The number of new hypotheses, and the statistics of the lists' firsts,
        float64 (sentences, width); zeros for an empty list, whose sentence counts as left out."""
        new, firsts = 0, []
        for sentence, found in enumerate(lists):
            segments = np.full(len(found.hypotheses), sentence, dtype=np.int32)
            statistics = self._metric.token_statistics(segments, found.hypotheses)
            if len(found.hypotheses) == 0:
                firsts.append(self._metric.token_statistics([sentence], _NOTHING)[0])
                continue
            firsts.append(statistics[0])
            features = _canonical(found.features)
            keep = self._unseen(sentence, features, statistics)
            new += len(keep)
            self._features[sentence].append(features[keep])
            self._statistics[sentence].append(statistics[keep])
        return new, np.array(firsts)

    def _unseen(self, sentence: int, features: Any, statistics: Array) -> list[int]:
        seen, keep = self._seen[sentence], []
        for row in range(features.shape[0]):
            part = slice(*features.indptr[row : row + 2])
            key = b"".join(
                (features.indices[part].tobytes(), features.data[part].tobytes(), statistics[row].tobytes())
            )
            if key not in seen:
                seen.add(key)
                keep.append(row)
        return keep

    def arrays(self) -> PoolArrays:
        sizes = [sum(len(block) for block in blocks) for blocks in self._statistics]
        features = [block for blocks in self._features for block in blocks]
        statistics = [block for blocks in self._statistics for block in blocks]
        return PoolArrays(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            scipy.sparse.csr_array(scipy.sparse.vstack(features)) if features else self._empty(),
            np.concatenate(statistics) if statistics else np.zeros((0, 0)),
        )

    def _empty(self) -> Any:
        return scipy.sparse.csr_array((0, self._width))


def _canonical(features: Any) -> Any:
    """Rounded, without zeros, in one order."""
    rounded = scipy.sparse.csr_array(features)
    rounded.data = np.round(rounded.data, _DECIMALS)
    rounded.eliminate_zeros()
    rounded.sort_indices()
    return rounded


_NOTHING = Hypotheses.of_tokens([[]])
