"""The hypotheses of a tuning set that decoding has found so far, with features and metric statistics."""

from __future__ import annotations

import itertools
import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero._core import FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike
from hiero.evaluate.metrics import Hypotheses, Metric
from hiero.tune.protocol import Array, KBestList

IntArray = npt.NDArray[np.int32]
# Features are sums over rules, and equal up to rounding where derivations are.
_DECIMALS = 9


@dataclass(frozen=True)
class PoolArrays:
    """Hypotheses by sentence: those of sentence s are rows ``offsets[s]`` to ``offsets[s + 1]`` of
    ``features``, scipy.sparse.csr_array (n, features), and ``statistics``, float64 (n, width). ``missing``
    are statistics of empty translations, summed over the sentences that have no hypothesis, (width)."""

    offsets: IntArray
    features: Any
    statistics: Array
    missing: Array | float = 0.0

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
        """The statistics of one hypothesis a sentence, summed; -1 stands for none."""
        return np.asarray(self.statistics[rows[rows >= 0]].sum(axis=0) + self.missing)


def missing(metric: Metric, sentences: Sequence[int]) -> Array:
    """Statistics of empty translations of these sentences, summed, float64 (width)."""
    nothing = Hypotheses.of_tokens([[]] * len(sentences))
    return np.asarray(metric.token_statistics(sentences, nothing).sum(axis=0))


class Pool:
    """Grows by k-best lists; hypotheses are unique by features and statistics within their sentence."""

    def __init__(self, sentences: int, features: int, metric: Metric) -> None:
        self._metric = metric
        self._sentences = sentences
        self._width = features
        self._seen: list[set[bytes]] = [set() for _ in range(sentences)]
        self._blocks: list[PoolArrays] = []

    def unseen(self, lists: Iterable[KBestList]) -> tuple[PoolArrays, Array]:
        """Of lists, one a sentence, the hypotheses not in the pool, and the statistics of the firsts,
        float64 (sentences, width); an empty list counts as an empty translation."""
        sizes, features, statistics, firsts = [0], [], [], []
        for sentence, found in enumerate(lists):
            first = found.hypotheses if len(found.hypotheses) else _NOTHING
            segments = np.full(len(first), sentence, dtype=np.int32)
            rows = self._metric.token_statistics(segments, first)
            firsts.append(rows[0])
            rows = rows[: len(found.hypotheses)]
            canonical = _canonical(found.features)
            places: dict[bytes, int] = {}
            for row, key in enumerate(_keys(canonical, rows)):
                places.setdefault(key, row)
            keep = [row for key, row in places.items() if key not in self._seen[sentence]]
            sizes.append(len(keep))
            features.append(canonical[keep])
            statistics.append(rows[keep])
        if len(sizes) != self._sentences + 1:
            raise ValueError(f"{len(sizes) - 1} lists for {self._sentences} sentences")
        offsets = np.cumsum(sizes).astype(np.int32)
        new = PoolArrays(offsets, _stacked(features, self._width), np.concatenate(statistics))
        return new, np.array(firsts)

    def restore(self, new: PoolArrays) -> None:
        """Takes in what ``unseen`` found."""
        self._blocks.append(new)
        keys = _keys(new.features, new.statistics)
        for sentence, (begin, end) in enumerate(itertools.pairwise(new.offsets.tolist())):
            self._seen[sentence].update(keys[begin:end])

    def arrays(self) -> PoolArrays:
        """All hypotheses, those of a sentence in the order they came."""
        sizes = np.sum([np.diff(block.offsets) for block in self._blocks], axis=0)
        sentences = [np.repeat(np.arange(self._sentences), np.diff(block.offsets)) for block in self._blocks]
        order = np.argsort(np.concatenate(sentences), kind="stable")
        features = _stacked([block.features for block in self._blocks], self._width)
        return PoolArrays(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            features[order],
            np.concatenate([block.statistics for block in self._blocks])[order],
            missing(self._metric, np.flatnonzero(sizes == 0).tolist()),
        )


def save_arrays(path: PathLike, arrays: PoolArrays) -> None:
    """Writes an ``.npz`` file, whole or not at all."""
    matrix = arrays.features
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            offsets=arrays.offsets,
            statistics=arrays.statistics,
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            shape=matrix.shape,
        )


def load_arrays(path: PathLike, sentences: int, features: int, width: int) -> PoolArrays:
    """Reads what ``save_arrays`` wrote, of so many sentences, features and statistics. Raises FormatError for
    a damaged file."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            parts = (file["data"], file["indices"], file["indptr"])
            matrix = scipy.sparse.csr_array(parts, shape=tuple(file["shape"]))
            matrix.check_format(full_check=True)
            arrays = PoolArrays(file["offsets"], matrix, file["statistics"])
            _check_arrays(arrays, sentences, features, width)
            return arrays
    except (KeyError, ValueError, TypeError, IndexError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FormatError(f"{os.fspath(path)}: damaged: {error}") from None


def _check_arrays(arrays: PoolArrays, sentences: int, features: int, width: int) -> None:
    offsets, statistics, matrix = arrays.offsets, arrays.statistics, arrays.features
    if offsets.dtype != np.int32 or offsets.shape != (sentences + 1,) or (np.diff(offsets) < 0).any():
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


_NOTHING = Hypotheses.of_tokens([[]])
