"""The limits of weights: which features may change, and between which values.

A run makes its limits once, and hands them to its method:

    limits = run_limits(start, names, fixed=["LM0"], intervals={"Glue": (-1, 0)})
    weights = limits.clip(weights)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hiero._core import FeatureNames
from hiero.tune.run.protocol import Array

# No sensible weight is larger.
GREATEST = 1e6


@dataclass(frozen=True, eq=False)
class Limits:
    """The ids of the features that may change, and the least and greatest weight of every feature, float64
    (features, 2)."""

    free: Sequence[int]
    bounds: Array

    @classmethod
    def unlimited(cls, features: int) -> Limits:
        """Returns limits by which all weights may become anything."""
        return cls(range(features), np.tile([-np.inf, np.inf], (features, 1)))

    @cached_property
    def fixed(self) -> npt.NDArray[np.bool_]:
        """A mask of the features that may not change, (features)."""
        mask = np.ones(len(self.bounds), dtype=bool)
        mask[list(self.free)] = False
        return mask

    def narrowed(self, free: Sequence[int]) -> Limits:
        """Returns the same bounds with other free features."""
        return replace(self, free=free)

    def clip(self, weights: Array) -> Array:
        """Clips all weights, (features), to their bounds: enough for a method that changes free weights
        only."""
        return np.clip(weights, self.bounds[:, 0], self.bounds[:, 1])

    def clip_at(self, ids: npt.NDArray[np.integer], weights: Array) -> Array:
        """Clips the weights of some features, given by their ids, (n)."""
        low, high = self.bounds[ids].T
        return np.clip(weights, low, high)

    def clip_free(self, weights: Array, start: Array) -> Array:
        """Returns the weights clipped to their bounds, with the fixed ones exactly as in ``start``: rounding
        in a mean of weights that kept the limits is undone."""
        out = start.copy()
        free = list(self.free)
        out[free] = self.clip(weights)[free]
        return out

    def allow_scaling(self, weights: Array) -> bool:
        """Tells whether all weights may be multiplied by any positive number: only zeros are fixed, and no
        bound is other than 0."""
        return not weights[self.fixed].any() and not self.bounds[np.isfinite(self.bounds)].any()

    def with_length_of(self, start: Array, weights: Array) -> Array:
        """Scales weights to the sum of absolute weights of ``start``, if they may be scaled and are not all
        zero. The winners among hypotheses depend on the direction of weights alone; without this, lengths
        could grow from one iteration to the next."""
        if not self.allow_scaling(start) or not weights.any():
            return weights
        return np.asarray(weights * (np.abs(start).sum() / np.abs(weights).sum()))


def run_limits(
    start: Array, names: FeatureNames, fixed: Sequence[str], intervals: Mapping[str, tuple[float, float]]
) -> Limits:
    """Returns the limits of a run from the weights ``start``, with fixed features and intervals for others.

    If fixed features or bounds keep weights from being scaled, nothing else keeps the free ones from growing:
    then all of them are bound by ten times the largest weight or bound. Raises FormatError for a name of no
    feature, ValueError if no feature is free and for an interval that is none.
    """
    fixed_ids, bound_ids = names.ids(fixed), names.ids(intervals)
    if both := [name for name in fixed if name in intervals]:
        raise ValueError(f"fixed and bound: {', '.join(both)}")
    bounds = np.tile([-np.inf, np.inf], (len(names), 1))
    for feature, (name, interval) in zip(bound_ids, intervals.items(), strict=True):
        _check_interval(name, *interval)
        bounds[feature] = interval
    free = np.setdiff1d(np.arange(len(names)), fixed_ids).tolist()
    if not free:
        raise ValueError("all features are fixed")
    limits = Limits(free, bounds)
    if not limits.allow_scaling(start):
        largest = 10 * max(np.abs(start).max(), np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))
        bounds[free] = np.clip(bounds[free], -largest, largest)
    return limits


def _check_interval(name: str, low: float, high: float) -> None:
    if not low <= high:
        raise ValueError(f"bounds of {name}: {low} to {high} is no interval")
    if any(abs(bound) > GREATEST and bound != side for bound, side in ((low, -np.inf), (high, np.inf))):
        raise ValueError(f"bounds of {name}: {low} to {high} is not within {GREATEST:g}")


def weight_problem(weights: Array) -> str:
    """Describes why nothing sensible can be decoded with these weights; "" if it can."""
    if not np.isfinite(weights).all():
        return "a weight is not finite"
    if not weights.any():
        return "all weights are zero"
    if np.abs(weights).max() > GREATEST:
        return f"a weight has grown to {np.abs(weights).max():.3g}"
    return ""
