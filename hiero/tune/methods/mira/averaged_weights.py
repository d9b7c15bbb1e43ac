"""Weights with their average over updates, as in the averaged perceptron (Collins 2002)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array


class AveragedWeights:
    """Current weights, float64 (features), and their average after each of a number of updates.

    The average is ``current - late / updates``, where ``late`` adds up each change times the number of
    updates before it. An update therefore costs as much as the features that it changes.
    """

    def __init__(self, start: Array) -> None:
        """The array ``start`` is changed by updates."""
        self.current = start
        self.updates = 0
        self._late = np.zeros_like(start)

    def update(self, ids: npt.NDArray[np.integer], changes: Array, limits: Limits) -> None:
        """Adds changes to the weights of some features, clipped to their bounds: one more update."""
        before = self.current[ids]
        after = limits.clip_at(ids, before + changes)
        self.current[ids] = after
        self._late[ids] += self.updates * (after - before)
        self.updates += 1

    def skip(self) -> None:
        """Counts an update that changes nothing."""
        self.updates += 1

    def average(self) -> Array:
        """Returns the mean of the weights after every update; the weights themselves before the first."""
        return self.current - self._late / max(self.updates, 1)
