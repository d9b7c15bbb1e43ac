"""The sentences of a test set that a report shows at once: the worst, the best, and some drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# The score of a shorter sentence says little: one word decides it.
LEAST_WORDS = 5
_EXTREMES = 5
_SAMPLE = 10
_SEED = 1


@dataclass(frozen=True)
class Examples:
    """Numbers of segments: the worst from the worst on, the best from the best on, and a sample in order."""

    worst: Sequence[int]
    best: Sequence[int]
    sample: Sequence[int]

    @classmethod
    def choose(cls, scores: Sequence[float], lengths: Sequence[int]) -> Examples:
        """Chooses segments by their scores and the number of words of their sources.

        The worst and the best are of at least ``LEAST_WORDS`` words, and none is both. Among equal scores,
        longer segments are better. The sample is of all segments, the same for the same number of these.
        """
        order = [n for n in np.lexsort((lengths, scores)).tolist() if lengths[n] >= LEAST_WORDS]
        worst = order[: min(_EXTREMES, (len(order) + 1) // 2)]
        best = order[len(worst) :][-_EXTREMES:][::-1]
        drawn = np.random.default_rng(_SEED).permutation(len(scores))[:_SAMPLE]
        return cls(worst, best, sorted(drawn.tolist()))

    @property
    def all(self) -> list[int]:
        """The numbers of all these segments in order."""
        return sorted({*self.worst, *self.best, *self.sample})
