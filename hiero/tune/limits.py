"""Limits of weights: which features may change, and how far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from hiero._core import FeatureNames
from hiero.tune.protocol import Array

# No sensible weight is larger.
GREATEST = 1e6


class Limits(TypedDict):
    """The features that may change, and of all features the least and greatest weights, (features, 2)."""

    free: Sequence[int]
    bounds: Array


def limits_of(
    start: Array, names: FeatureNames, fixed: Sequence[str], intervals: Mapping[str, tuple[float, float]]
) -> Limits:
    """The limits of a run from these weights, with features that are fixed and intervals for others.

    Where fixed features or bounds keep weights from being scaled, nothing else keeps them from growing: then
    all have bounds, ten times the largest weight or bound. Raises FormatError for names of no feature,
    ValueError for what leaves nothing free or is no interval.
    """
    kept, bound = names.ids(fixed), names.ids(intervals)
    if both := [name for name in fixed if name in intervals]:
        raise ValueError(f"fixed and bound: {', '.join(both)}")
    bounds = np.tile([-np.inf, np.inf], (len(names), 1))
    for number, (name, (low, high)) in zip(bound, intervals.items(), strict=True):
        if not low <= high:
            raise ValueError(f"bounds of {name}: {low} to {high} is no interval")
        if any(abs(bound) > GREATEST and bound != side for bound, side in ((low, -np.inf), (high, np.inf))):
            raise ValueError(f"bounds of {name}: {low} to {high} is not within {GREATEST:g}")
        bounds[number] = low, high
    free = np.setdiff1d(np.arange(len(names)), kept).tolist()
    if not free:
        raise ValueError("all features are fixed")
    if not scalable(start, free, bounds):
        size = 10 * max(np.abs(start).max(), np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))
        bounds[free] = np.clip(bounds[free], -size, size)
    return Limits(free=free, bounds=bounds)


def scalable(weights: Array, free: Sequence[int], bounds: Array) -> bool:
    """Whether all weights may be multiplied by one positive number: only zeros are fixed, and nothing is
    bound but by 0."""
    fixed = np.setdiff1d(np.arange(len(weights)), list(free))
    return not weights[fixed].any() and not bounds[np.isfinite(bounds)].any()


def restrained(mean: Array, start: Array, free: Sequence[int], bounds: Array) -> Array:
    """A mean of weights that all had the same fixed ones and kept their bounds, without what rounding made
    of that."""
    weights = start.copy()
    weights[list(free)] = np.clip(mean, bounds[:, 0], bounds[:, 1])[list(free)]
    return weights


def troubled(weights: Array) -> str:
    """Says what is wrong with weights that nothing sensible can be decoded with; "" where nothing is."""
    if not np.isfinite(weights).all():
        return "a weight is not finite"
    if not weights.any():
        return "all weights are zero"
    if np.abs(weights).max() > GREATEST:
        return f"a weight has grown to {np.abs(weights).max():.3g}"
    return ""
