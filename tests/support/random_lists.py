"""Random lists of hypotheses."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from hiero.tune.pool.candidates import PoolArrays


def random_lists(seed: int) -> tuple[PoolArrays, np.ndarray]:  # type: ignore[type-arg]
    """Makes k-best lists of sentences, some of which are empty, with two counts for each hypothesis."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, 7)
    offsets = np.cumsum([0, *sizes]).astype(np.int32)
    features = scipy.sparse.csr_array(
        rng.normal(size=(offsets[-1], 4)) * (rng.random((offsets[-1], 4)) < 0.7)
    )
    return PoolArrays(offsets, features, np.zeros((offsets[-1], 1))), rng.normal(size=(offsets[-1], 2))
