"""Random pools of hypotheses."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from hiero.evaluate import Bleu
from hiero.forest.losses import BleuColumns
from hiero.tune.pool.candidates import PoolArrays

METRIC = Bleu([["a"]])
EXACT = [0.0, 0.5, 1.0, -0.5, -1.0, 2.0]


def random_pool(rng: np.random.Generator, features: int, integers: bool = False) -> PoolArrays:
    """Makes a pool of a few sentences, some without hypotheses; with integers it has many ties and
    parallels."""
    sizes = rng.integers(0, 8, rng.integers(1, 6))
    sizes[0] += 1
    count = int(sizes.sum())
    values = rng.integers(-2, 3, (count, features)) if integers else rng.normal(size=(count, features))
    lengths = rng.integers(1, 9, count).astype(float)
    statistics = np.zeros((count, BleuColumns.WIDTH))
    statistics[:, BleuColumns.LENGTH] = lengths
    statistics[:, BleuColumns.REFERENCE_LENGTH] = np.repeat(rng.integers(1, 9, len(sizes)), sizes)
    totals, matches = statistics[:, BleuColumns.TOTALS], statistics[:, BleuColumns.MATCHES]
    for n in range(4):
        totals[:, n] = np.maximum(lengths - n, 0)
        matches[:, n] = rng.binomial(totals[:, n].astype(int), 0.6)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return PoolArrays(offsets, scipy.sparse.csr_array(values.astype(float)), statistics)
