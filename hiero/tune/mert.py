"""Minimum error rate training (Och 2003): the weights whose winners in a pool have the best metric.

Along a line through weight space the metric is constant between the points where some sentence's winner
changes; ``search`` finds the best interval exactly. ``mert`` climbs along coordinates and random directions
until none helps, several times, each in its own order, and takes the mean of where that leads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hiero._core import line_search
from hiero.base.parallel import ordered_map
from hiero.base.settings import Settings
from hiero.evaluate.metrics import Metric
from hiero.tune.limits import restrained, scalable
from hiero.tune.objective import gain
from hiero.tune.pool import PoolArrays
from hiero.tune.protocol import Array

# Less is no gain: it might be rounding.
_LEAST_GAIN = 1e-7
# Changes of winners at one place differ by rounding; what is between them is no interval.
_NARROWEST = 1e-10


@dataclass(frozen=True)
class Best:
    """The best interval along a line: a place inside, its score, and the score where the line starts."""

    gamma: float
    score: float
    start: float


def search(
    pool: PoolArrays,
    metric: Metric,
    intercepts: Array,
    slopes: Array,
    low: float = -np.inf,
    high: float = np.inf,
    smoothing: float = 0.0,
) -> Best:
    """The best gamma from ``low`` to ``high`` when hypothesis i scores intercepts[i] + gamma slopes[i].

    With ``smoothing``, an interval counts as the mean of itself and its neighbours on either side, this share
    of all intervals within the limits, so that a peak among worse ones is passed over (Cer, Jurafsky and
    Manning 2008); it must be better than the start by its own score too. Of equally good intervals the one
    nearest to 0, then the wider; in it the middle, or 0 if it is inside. In an interval without end, as far
    from the last change as that is from 0, at least 1.
    """
    if not low < high:
        low = high = 0.0
    first, gamma, old, new = line_search(pool.offsets, intercepts, slopes)
    totals = np.empty((len(gamma) + 1, pool.statistics.shape[1]))
    totals[0] = pool.total(first)
    np.cumsum(pool.statistics[new] - pool.statistics[old], axis=0, out=totals[1:])
    totals[1:] += totals[0]
    # Changes at one place are one; of the intervals between them, those within the limits.
    last = np.flatnonzero(np.append(gamma[1:] != gamma[:-1], True)) if len(gamma) else np.zeros(0, np.intp)
    changes = gamma[last]
    origin = int(np.searchsorted(changes, 0.0, side="right"))
    lowest = min(int(np.searchsorted(changes, low, side="right")), origin)
    highest = max(int(np.searchsorted(changes, high, side="left")), origin)
    reached, start = slice(lowest, highest + 1), origin - lowest
    scores = gain(metric, totals[np.append(0, last + 1)[reached]])
    smoothed = _smoothed(scores, smoothing)
    begins = np.maximum(np.append(-np.inf, changes)[reached], low)
    ends = np.minimum(np.append(changes, np.inf)[reached], high)
    places = np.where(np.isfinite(begins), np.abs(begins), 0.0)
    inside = ends - begins > _NARROWEST * np.maximum(1.0, places)
    if smoothing:
        inside &= (scores > scores[start]) | (np.arange(len(scores)) == start)
    if not inside.any():
        inside = np.arange(len(scores)) == start
    distance = np.maximum(np.maximum(begins, -ends), 0.0)
    candidates = np.flatnonzero(inside)
    order = np.lexsort((begins[inside] - ends[inside], distance[inside], -smoothed[inside]))
    best = int(candidates[order[0]])
    return Best(_middle(float(begins[best]), float(ends[best])), float(scores[best]), float(scores[start]))


def _smoothed(scores: Array, share: float) -> Array:
    """The mean of each score and so many of its neighbours, fewer at the ends."""
    width = int(share * len(scores))
    if width == 0:
        return scores
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    places = np.arange(len(scores))
    begins, ends = np.maximum(places - width, 0), np.minimum(places + width + 1, len(scores))
    return np.asarray((sums[ends] - sums[begins]) / (ends - begins))


def _middle(begin: float, end: float) -> float:
    if begin < 0 < end:
        return 0.0
    if np.isinf(begin):
        return end - max(abs(end), 1.0)
    if np.isinf(end):
        return begin + max(abs(begin), 1.0)
    return begin + (end - begin) / 2


class MertOptions(Settings):
    """How MERT searches: climbs besides the first, directions besides the coordinates in every round, and
    smoothing as in ``search``. Climbs from the same weights end far from each other, each with what only the
    tuning set likes; their mean translates other text better than the best of them."""

    restarts: int = Field(9, ge=0, description="further climbs")
    directions: int = Field(4, ge=0, description="random ones in every round, besides the coordinates")
    smoothing: float = Field(
        0.1, ge=0, le=1, description="share of a line's intervals whose mean is taken, on either side"
    )


@dataclass(frozen=True)
class Climb:
    """Where climbing ended, and how many lines it searched."""

    weights: Array
    searches: int


def mert(
    pool: PoolArrays,
    metric: Metric,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: int,
    threads: int = 1,
    options: MertOptions | None = None,
) -> Climb:
    """The mean of climbs from the start.

    ``free`` are the features that may change, ``bounds`` (features, 2) their least and greatest weights.
    Those that tell no two hypotheses of a sentence apart are left alone. Where only zeros are fixed and none
    is bound, absolute weights sum up to what those of the start do.
    Raises ValueError for a start of zeros, which has no direction.
    """
    if not start.any():
        raise ValueError("all weights are zero")
    chosen = MertOptions() if options is None else options
    matrix = np.asfortranarray(pool.features.toarray())
    varying = _varying(pool, matrix)
    searched = [feature for feature in free if varying[feature]]

    def climb_again(number: int) -> Climb:
        return climb(
            _PoolLines(pool, matrix),
            metric,
            start,
            free=searched,
            bounds=bounds,
            seed=[seed, number],
            directions=chosen.directions,
            smoothing=chosen.smoothing,
        )

    climbs = list(ordered_map(climb_again, range(chosen.restarts + 1), threads))
    return mean_of(climbs, start, free, bounds)


def _varying(pool: PoolArrays, matrix: Array) -> npt.NDArray[np.bool_]:
    """By feature, whether it differs between hypotheses of some sentence."""
    filled = np.flatnonzero(np.diff(pool.offsets))
    begins = pool.offsets[filled]
    least, most = (extreme.reduceat(matrix, begins, axis=0) for extreme in (np.minimum, np.maximum))
    return np.asarray((least < most).any(axis=0))


class _PoolLines:
    """The lines of a pool's hypotheses, all of which a search is among."""

    def __init__(self, pool: PoolArrays, matrix: Array) -> None:
        self._pool = pool
        self._matrix = matrix
        self._weights: Array | None = None
        self._intercepts: Array = np.zeros(0)

    def __call__(self, weights: Array, direction: Array) -> tuple[PoolArrays, Array, Array]:
        if self._weights is not weights:
            self._weights, self._intercepts = weights, _scores(self._matrix, weights)
        return self._pool, self._intercepts, _scores(self._matrix, direction)


def _scores(matrix: Array, weights: Array) -> Array:
    """matrix . weights, column by column: a product by BLAS depends on the number of threads."""
    out = np.zeros(matrix.shape[0])
    for feature in np.flatnonzero(weights).tolist():
        out += weights[feature] * matrix[:, feature]
    return out


def climb(
    lines: Callable[[Array, Array], tuple[PoolArrays, Array, Array]],
    metric: Metric,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: Sequence[int],
    directions: int,
    smoothing: float,
) -> Climb:
    """Moves along coordinates and random directions, each in turn, until none helps.

    ``lines(weights, direction)`` are the hypotheses to search among, with intercepts and slopes.
    """
    rng = np.random.default_rng(seed)
    weights, searches, score = start, 0, -np.inf
    improved = True
    while improved:
        improved = False
        for direction in _directions(len(start), free, rng, directions):
            low, high = _range(weights, direction, bounds)
            pool, intercepts, slopes = lines(weights, direction)
            found = search(pool, metric, intercepts, slopes, low, high, smoothing)
            searches += 1
            # A winner that ties may be another one here than on the line before.
            score = max(score, found.start)
            if found.score > score + _LEAST_GAIN:
                weights = np.clip(weights + found.gamma * direction, bounds[:, 0], bounds[:, 1])
                score, improved = found.score, True
    return Climb(weights, searches)


def mean_of(climbs: Sequence[Climb], start: Array, free: Sequence[int], bounds: Array) -> Climb:
    """The mean of where climbs ended, of one length if they may be scaled, and all lines searched."""
    ends = [_same_length(climb.weights, start, free, bounds) for climb in climbs]
    mean = _same_length(np.mean(ends, axis=0), start, free, bounds)
    return Climb(restrained(mean, start, free, bounds), sum(climb.searches for climb in climbs))


def _same_length(weights: Array, start: Array, free: Sequence[int], bounds: Array) -> Array:
    """The weights, if they may be scaled, as long as the start by the sum of their sizes: only directions
    matter to winners, and lengths must not grow from one round of tuning to the next."""
    if not scalable(start, free, bounds):
        return weights
    return np.asarray(weights * (np.abs(start).sum() / np.abs(weights).sum()))


def _directions(width: int, free: Sequence[int], rng: np.random.Generator, random: int) -> Iterator[Array]:
    """Coordinates in random order, then random ones."""
    for feature in rng.permutation(list(free)).tolist():
        direction = np.zeros(width)
        direction[feature] = 1.0
        yield direction
    for _ in range(random if len(free) > 1 else 0):
        direction = np.zeros(width)
        direction[list(free)] = rng.normal(size=len(free))
        yield direction


def _range(weights: Array, direction: Array, bounds: Array) -> tuple[float, float]:
    """How far along the direction all weights stay within their bounds."""
    moves = direction != 0
    steps = (bounds[moves] - weights[moves, None]) / direction[moves, None]
    return float(steps.min(axis=1).max()), float(steps.max(axis=1).min())
