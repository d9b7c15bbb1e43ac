"""MERT's climb through weight space, by line searches until none helps (Och 2003, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from hiero.base.settings import Settings
from hiero.evaluate.metric import Metric
from hiero.tune.methods.mert.line_search import search
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array

# A smaller rise of the score may be rounding.
_LEAST_RISE = 1e-7
# Hypotheses along a line from weights in a direction, with their intercepts and slopes.
Lines = Callable[[Array, Array], tuple[PoolArrays, Array, Array]]
Restarts = Annotated[int, Field(ge=0, description="further climbs from the same weights, for the mean")]


class MertOptions(Settings):
    """Settings of MERT's search. Climbs from the same weights end far from each other, each at a point that
    suits the tuning set alone; the mean of these points translates other text better than the best of
    them."""

    restarts: Restarts = 9
    directions: int = Field(4, ge=0, description="random directions in every round, besides the coordinates")
    smoothing: float = Field(
        0.1,
        ge=0,
        le=1,
        description="share of a line's intervals on either side that an interval is averaged with",
    )


@dataclass(frozen=True)
class Climb:
    """The weights where a climb ended, and the number of its line searches."""

    weights: Array
    searches: int


def climb(
    lines: Lines, metric: Metric, start: Array, *, limits: Limits, seed: Sequence[int], options: MertOptions
) -> Climb:
    """Moves along coordinates and random directions, one after another, until none of a round helps.

    ``lines(weights, direction)`` returns the hypotheses to search among, their intercepts and their slopes.
    """
    rng = np.random.default_rng(seed)
    weights, searches, score = start, 0, -np.inf
    improved = True
    while improved:
        improved = False
        for direction in _directions(len(start), limits.free, rng, options.directions):
            low, high = step_interval(weights, direction, limits.bounds)
            pool, intercepts, slopes = lines(weights, direction)
            best = search(pool, metric, intercepts, slopes, low, high, options.smoothing)
            searches += 1
            # A winner that ties may be another one here than on the line before.
            score = max(score, best.start)
            if best.score > score + _LEAST_RISE:
                weights = limits.clip(weights + best.gamma * direction)
                score, improved = best.score, True
    return Climb(weights, searches)


def mean_of_climbs(climbs: Sequence[Climb], start: Array, limits: Limits) -> Climb:
    """Returns the mean of the weights of climbs from the same start, scaled to one length if the limits allow
    it, and the number of all line searches."""
    ends = [limits.with_length_of(start, climb.weights) for climb in climbs]
    mean = limits.with_length_of(start, np.mean(ends, axis=0))
    return Climb(limits.clip_free(mean, start), sum(climb.searches for climb in climbs))


def _directions(width: int, free: Sequence[int], rng: np.random.Generator, random: int) -> Iterator[Array]:
    """Yields coordinates in random order, then random directions."""
    for feature in rng.permutation(list(free)).tolist():
        direction = np.zeros(width)
        direction[feature] = 1.0
        yield direction
    for _ in range(random if len(free) > 1 else 0):
        direction = np.zeros(width)
        direction[list(free)] = rng.normal(size=len(free))
        yield direction


def step_interval(weights: Array, direction: Array, bounds: Array) -> tuple[float, float]:
    """Returns between which steps along the direction all weights stay within their bounds."""
    moves = direction != 0
    steps = (bounds[moves] - weights[moves, None]) / direction[moves, None]
    return float(steps.min(axis=1).max()), float(steps.max(axis=1).min())
