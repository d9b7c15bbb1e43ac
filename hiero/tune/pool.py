"""Candidates of a tuning set accumulated over iterations, with features and metric statistics.

The unit of a pool is an instance: a sentence, or a span of one, with what weights choose among of it. An
instance is known by its sentence and its span, which is ``WHOLE`` for the sentence itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero.base.arrays import load_arrays, save_arrays
from hiero.base.lines import PathLike
from hiero.evaluate.metrics import Hypotheses, Metric
from hiero.tune.protocol import Array

IntArray = npt.NDArray[np.int32]
# Features are sums over rules, and equal up to rounding where derivations are.
_DECIMALS = 9


# The span of the instance that is the whole sentence.
WHOLE = (0, 0)


@dataclass(frozen=True)
class Candidates:
    """The candidates of an instance: features, scipy.sparse.csr_array (n, features), and
    statistics of what each comes to, float64 (n, width)."""

    span: tuple[int, int]
    features: Any
    statistics: Array


@dataclass(frozen=True)
class PoolArrays:
    """Candidates by instance: those of instance i are rows ``offsets[i]`` to ``offsets[i + 1]`` of
    ``features``, scipy.sparse.csr_array (n, features), and ``statistics``, float64 (n, width). ``missing``
    are statistics of empty translations, summed over the sentences that have no hypothesis, (width)."""

    offsets: IntArray
    features: Any
    statistics: Array
    missing: Array | float = 0.0

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def instances(self) -> int:
        return len(self.offsets) - 1

    def winners(self, weights: Array) -> IntArray:
        """By instance the row that scores best, the first of equal ones; -1 where there is none."""
        scores = self.features @ weights
        bounds = self.offsets.tolist()
        best = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in itertools.pairwise(bounds)]
        return np.array(best, dtype=np.int32)

    def total(self, rows: IntArray) -> Array:
        """The statistics of one candidate an instance, summed; -1 stands for none."""
        return np.asarray(self.statistics[rows[rows >= 0]].sum(axis=0) + self.missing)


def missing(metric: Metric, sentences: Sequence[int]) -> Array:
    """Statistics of empty translations of these sentences, summed, float64 (width)."""
    nothing = Hypotheses.of_tokens([[]] * len(sentences))
    return np.asarray(metric.token_statistics(sentences, nothing).sum(axis=0))


@dataclass(frozen=True)
class PoolBlock:
    """The candidates that one iteration adds to a pool: ``instances``, int32 (n, 3), are sentence, begin and
    end of those in ``arrays``, rising, each once."""

    instances: IntArray
    arrays: PoolArrays


class Pool:
    """Grows by what each iteration finds; candidates are unique by features and statistics within their
    instance: a partial derivation keeps its features when what is around it changes."""

    def __init__(self, sentences: int, features: int, metric: Metric) -> None:
        self._metric = metric
        self._sentences = sentences
        self._width = features
        self._seen: dict[tuple[int, ...], set[bytes]] = {}
        self._blocks: list[PoolBlock] = []

    def unseen(self, found: Iterable[Sequence[Candidates]]) -> PoolBlock:
        """Selects the candidates not in the pool, of the instances of each sentence by rising span."""
        instances, sizes, features, statistics = [], [0], [], []
        count = 0
        for sentence, several in enumerate(found):
            count += 1
            for candidates in several:
                instance = (sentence, *candidates.span)
                canonical = _canonical(candidates.features)
                places: dict[bytes, int] = {}
                for row, key in enumerate(_keys(canonical, candidates.statistics)):
                    places.setdefault(key, row)
                known = self._seen.get(instance, set())
                keep = [row for key, row in places.items() if key not in known]
                instances.append(instance)
                sizes.append(len(keep))
                features.append(canonical[keep])
                statistics.append(candidates.statistics[keep])
        if count != self._sentences:
            raise ValueError(f"{count} lists for {self._sentences} sentences")
        offsets = np.cumsum(sizes).astype(np.int32)
        arrays = PoolArrays(offsets, _stacked(features, self._width), np.concatenate(statistics))
        return PoolBlock(np.array(instances, dtype=np.int32), arrays)

    def restore(self, new: PoolBlock) -> None:
        """Takes in what ``unseen`` found."""
        self._blocks.append(new)
        keys = _keys(new.arrays.features, new.arrays.statistics)
        bounds = itertools.pairwise(new.arrays.offsets.tolist())
        for instance, (begin, end) in zip(map(tuple, new.instances.tolist()), bounds, strict=True):
            self._seen.setdefault(instance, set()).update(keys[begin:end])

    def arrays(self) -> PoolArrays:
        """All candidates by rising instance, those of an instance in the order they came."""
        wholes = [(sentence, *WHOLE) for sentence in range(self._sentences)]
        instances = sorted({*wholes, *self._seen})
        number = {instance: place for place, instance in enumerate(instances)}
        owners = [
            np.repeat([number[tuple(row)] for row in block.instances.tolist()], np.diff(block.arrays.offsets))
            for block in self._blocks
        ]
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner, minlength=len(instances))
        empty = [sentence for sentence, *span in wholes if sizes[number[sentence, *span]] == 0]
        features = _stacked([block.arrays.features for block in self._blocks], self._width)
        return PoolArrays(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            features[order],
            np.concatenate([block.arrays.statistics for block in self._blocks])[order],
            missing(self._metric, empty),
        )


def save_block(path: PathLike, block: PoolBlock) -> None:
    """Writes a file of arrays, whole or not at all."""
    matrix = block.arrays.features
    save_arrays(
        path,
        instances=block.instances,
        offsets=block.arrays.offsets,
        statistics=block.arrays.statistics,
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        shape=matrix.shape,
    )


def load_block(path: PathLike, sentences: int, features: int, width: int) -> PoolBlock:
    """Reads what ``save_block`` wrote, of so many sentences, features and statistics. Raises FormatError for
    a damaged file."""
    remedy = f"delete {Path(path).parent}, and the run decodes this iteration again"
    with load_arrays(path, remedy) as arrays:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        matrix = scipy.sparse.csr_array(parts, shape=tuple(arrays["shape"]))
        matrix.check_format(full_check=True)
        block = PoolBlock(arrays["instances"], PoolArrays(arrays["offsets"], matrix, arrays["statistics"]))
        _check_block(block, sentences, features, width)
    return block


def _check_block(block: PoolBlock, sentences: int, features: int, width: int) -> None:
    instances, offsets = block.instances, block.arrays.offsets
    statistics, matrix = block.arrays.statistics, block.arrays.features
    if instances.dtype != np.int32 or instances.ndim != 2 or instances.shape[1] != 3:
        raise ValueError("instances are no spans of sentences")
    rows = list(map(tuple, instances.tolist()))
    if rows != sorted(set(rows)) or (instances < 0).any() or (instances[:, 0] >= sentences).any():
        raise ValueError("instances do not fit the set")
    if offsets.dtype != np.int32 or offsets.shape != (len(rows) + 1,) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets do not fit the set")
    if offsets[0] != 0 or statistics.shape != (offsets[-1], width) or matrix.shape != (offsets[-1], features):
        raise ValueError("rows and columns do not fit the set")
    if any(
        values.dtype != np.float64 or not np.isfinite(values).all() for values in (statistics, matrix.data)
    ):
        raise ValueError("values are not finite")


def _stacked(matrices: Sequence[Any], width: int) -> Any:
    filled = [matrix for matrix in matrices if matrix.shape[0]]
    return scipy.sparse.csr_array(scipy.sparse.vstack(filled) if filled else (0, width))


def _keys(features: Any, statistics: Array) -> list[bytes]:
    indices, data, bounds = features.indices.astype(np.int32), features.data, features.indptr.tolist()
    return [
        indices[a:b].tobytes() + data[a:b].tobytes() + row.tobytes()
        for (a, b), row in zip(itertools.pairwise(bounds), statistics, strict=True)
    ]


def _canonical(features: Any) -> Any:
    """Rounded, without zeros, in one order."""
    rounded = scipy.sparse.csr_array(features, copy=True)
    rounded.data = np.round(rounded.data, _DECIMALS)
    rounded.eliminate_zeros()
    rounded.sort_indices()
    return rounded
