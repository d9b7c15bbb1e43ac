"""The exact line search of MERT (Och 2003, section 4).

Along a line through weight space the metric is constant between the points where the winner of some sentence
changes. ``search`` visits all of these points and finds the best interval between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiero._core import line_search
from hiero.evaluate.metric import Metric
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.protocol import Array

# Changes of winners at one point differ by rounding; an interval that is relatively narrower is ignored.
_NARROWEST = 1e-10


@dataclass(frozen=True)
class BestInterval:
    """The best interval along a line: a point in it (``gamma``), its score, and the score at gamma = 0."""

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
) -> BestInterval:
    """Finds the best gamma from ``low`` to ``high``, if hypothesis i scores intercepts[i] + gamma slopes[i].

    With ``smoothing``, an interval is judged by the mean of its score and those of its neighbours on either
    side, as many as this share of all intervals within the limits, so that a peak among worse intervals is
    passed over (Cer, Jurafsky and Manning 2008); its score must still be better than that at 0. Of equally
    good intervals the nearest to 0 is taken, then the widest. Gamma is the middle of the interval, or 0 if
    that is inside; in an interval without end it is as far from the last change as that is from 0, at least
    1.
    """
    if not low < high:
        low = high = 0.0
    first, gamma, old, new = line_search(pool.offsets, intercepts, slopes)
    totals = np.empty((len(gamma) + 1, pool.statistics.shape[1]))
    totals[0] = pool.total(first)
    np.cumsum(pool.statistics[new] - pool.statistics[old], axis=0, out=totals[1:])
    totals[1:] += totals[0]
    # Changes of winners at one point are taken together; only intervals within the limits are compared.
    last = np.flatnonzero(np.append(gamma[1:] != gamma[:-1], True)) if len(gamma) else np.zeros(0, np.intp)
    changes = gamma[last]
    origin = int(np.searchsorted(changes, 0.0, side="right"))
    lowest = min(int(np.searchsorted(changes, low, side="right")), origin)
    highest = max(int(np.searchsorted(changes, high, side="left")), origin)
    reached, start = slice(lowest, highest + 1), origin - lowest
    scores = maximised_score(metric, totals[np.append(0, last + 1)[reached]])
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
    point = _point(float(begins[best]), float(ends[best]))
    return BestInterval(point, float(scores[best]), float(scores[start]))


def _smoothed(scores: Array, share: float) -> Array:
    """Averages each score with its neighbours on either side, a share of all scores; fewer at the ends."""
    width = int(share * len(scores))
    if width == 0:
        return scores
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    places = np.arange(len(scores))
    begins, ends = np.maximum(places - width, 0), np.minimum(places + width + 1, len(scores))
    return np.asarray((sums[ends] - sums[begins]) / (ends - begins))


def _point(begin: float, end: float) -> float:
    """Chooses gamma in an interval."""
    if begin < 0 < end:
        return 0.0
    if np.isinf(begin):
        return end - max(abs(end), 1.0)
    if np.isinf(end):
        return begin + max(abs(begin), 1.0)
    return begin + (end - begin) / 2
