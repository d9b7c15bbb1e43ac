"""Sentence BLEU, as methods use it that compare hypotheses of a sentence."""

from __future__ import annotations

import numpy as np

from hiero._core import bleu
from hiero.forest.losses import BleuColumns
from hiero.tune.run.protocol import Array


def _added_counts() -> Array:
    added = np.zeros(BleuColumns.WIDTH)
    added[BleuColumns.REFERENCE_LENGTH] = 1
    added[BleuColumns.TOTALS][1:] = 1
    added[BleuColumns.MATCHES][1:] = 1
    return added


_ADDED = _added_counts()


def smoothed_bleu(statistics: Array) -> Array:
    """Computes sentence BLEU, from 0 to 1, of rows (..., 10): BLEU+1, which adds one to matches and n-grams
    for n > 1 (Lin and Och 2004), with the smoothed brevity penalty of Nakov et al. (2012), which adds one to
    the reference's length. A translation without a matching word has 0."""
    return np.asarray(bleu(statistics + _ADDED))
