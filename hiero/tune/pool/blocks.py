"""The candidates that one iteration adds to a pool, and their file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

from hiero.base.arrays import load_arrays, save_arrays
from hiero.base.lines import PathLike
from hiero.tune.pool.candidates import IntArray, PoolArrays


@dataclass(frozen=True)
class PoolBlock:
    """New candidates of some instances: ``instances``, int32 (n, 3), has sentence, begin and end of each
    instance in ``arrays``, rising and without repetition."""

    instances: IntArray
    arrays: PoolArrays


def save_block(path: PathLike, block: PoolBlock) -> None:
    """Writes a file of arrays, all of it or nothing."""
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
    """Reads a file that ``save_block`` wrote, with these numbers of sentences, features and statistics.
    Raises FormatError for a damaged file."""
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
