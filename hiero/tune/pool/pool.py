"""A pool of candidates that grows with every iteration of a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from hiero.evaluate.metric import Metric
from hiero.tune.pool.blocks import PoolBlock
from hiero.tune.pool.candidates import WHOLE, Candidates, PoolArrays
from hiero.tune.run.protocol import Array

# Features are sums over rules, which differ by rounding between equal derivations.
_DECIMALS = 9
# Operations on sparse matrices take as long for one list as for many, and all lists take much memory.
_SENTENCES_AT_ONCE = 64


class Pool:
    """Candidates of all iterations so far. Those of an instance are unique by features and statistics: a
    partial derivation keeps its features when the translation around it changes."""

    def __init__(self, sentences: int, features: int, metric: Metric) -> None:
        self._metric = metric
        self._sentences = sentences
        self._features = features
        self._seen: dict[tuple[int, ...], set[bytes]] = {}
        self._blocks: list[PoolBlock] = []

    def unseen(self, sentences: Iterable[Sequence[Candidates]]) -> PoolBlock:
        """Selects the candidates that are not in the pool, from the instances of each sentence by rising
        span. Raises ValueError for another number of sentences."""
        instances: list[tuple[int, ...]] = []
        sizes, features, statistics = [0], [], []
        numbered = enumerate(sentences)
        count = 0
        while group := list(itertools.islice(numbered, _SENTENCES_AT_ONCE)):
            count += len(group)
            lists = [((s, *candidates.span), candidates) for s, instance in group for candidates in instance]
            matrix = _canonical(_stacked([candidates.features for _, candidates in lists], self._features))
            rows = np.concatenate(
                [np.zeros((0, self._metric.width)), *(each.statistics for _, each in lists)]
            )
            keys = _keys(matrix, rows)
            chosen: list[int] = []
            begin = 0
            for instance, candidates in lists:
                end = begin + len(candidates.statistics)
                new = self._unseen_rows(instance, keys, range(begin, end))
                instances.append(instance)
                sizes.append(len(new))
                chosen += new
                begin = end
            features.append(matrix[chosen])
            statistics.append(rows[chosen])
        if count != self._sentences:
            raise ValueError(f"{count} lists for {self._sentences} sentences")
        offsets = np.cumsum(sizes).astype(np.int32)
        arrays = PoolArrays(offsets, _stacked(features, self._features), np.concatenate(statistics))
        return PoolBlock(np.array(instances, dtype=np.int32), arrays)

    def _unseen_rows(self, instance: tuple[int, ...], keys: Sequence[bytes], rows: range) -> list[int]:
        """Selects the rows of an instance whose keys are not in the pool, one of those with the same key."""
        seen = self._seen.get(instance, set())
        return list({keys[row]: row for row in rows if keys[row] not in seen}.values())

    def restore(self, block: PoolBlock) -> None:
        """Adds a block that ``unseen`` returned."""
        self._blocks.append(block)
        keys = _keys(block.arrays.features, block.arrays.statistics)
        bounds = itertools.pairwise(block.arrays.offsets.tolist())
        for instance, (begin, end) in zip(map(tuple, block.instances.tolist()), bounds, strict=True):
            self._seen.setdefault(instance, set()).update(keys[begin:end])

    def arrays(self) -> PoolArrays:
        """Returns all candidates by rising instance, those of an instance in the order of their
        iterations."""
        wholes = [(sentence, *WHOLE) for sentence in range(self._sentences)]
        instances = sorted({*wholes, *self._seen})
        index = {instance: place for place, instance in enumerate(instances)}
        instance_of_row = np.concatenate(
            [
                np.repeat(
                    [index[tuple(row)] for row in block.instances.tolist()], np.diff(block.arrays.offsets)
                )
                for block in self._blocks
            ]
        )
        order = np.argsort(instance_of_row, kind="stable")
        sizes = np.bincount(instance_of_row, minlength=len(instances))
        empty = [sentence for sentence, *span in wholes if sizes[index[sentence, *span]] == 0]
        features = _stacked([block.arrays.features for block in self._blocks], self._features)
        return PoolArrays(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            features[order],
            np.concatenate([block.arrays.statistics for block in self._blocks])[order],
            self._metric.empty_statistics(empty).sum(axis=0),
        )


def _stacked(matrices: Sequence[Any], width: int) -> Any:
    filled = [matrix for matrix in matrices if matrix.shape[0]]
    return scipy.sparse.csr_array(scipy.sparse.vstack(filled) if filled else (0, width))


def _keys(features: Any, statistics: Array) -> list[bytes]:
    """Returns the bytes of each row's features and statistics."""
    indices, data, bounds = features.indices.astype(np.int32), features.data, features.indptr.tolist()
    return [
        indices[a:b].tobytes() + data[a:b].tobytes() + row.tobytes()
        for (a, b), row in zip(itertools.pairwise(bounds), statistics, strict=True)
    ]


def _canonical(features: Any) -> Any:
    """Returns the matrix rounded, without stored zeros, and with sorted indices."""
    rounded = scipy.sparse.csr_array(features, copy=True)
    rounded.data = np.round(rounded.data, _DECIMALS)
    rounded.eliminate_zeros()
    rounded.sort_indices()
    return rounded
