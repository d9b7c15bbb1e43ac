"""The downhill simplex (Nelder and Mead 1965) on the metric of full decodings (Cettolo and Federico 2004).

No list stands between the weights and the metric: every point is a decoding of the whole set. ``next_point``
plays the search again from its start on the decodings that are known, until it asks for one that is not; a
run therefore needs no other state than its decodings, and no point is decoded twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hiero.tune.limits import scalable
from hiero.tune.protocol import Array

# The search ends when the simplex has shrunk to this share of what it was: metrics are flat over short
# distances.
_SMALLEST = 0.01


class _UnknownPointError(Exception):
    """The search asks for the metric of weights that are not known."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights


def next_point(
    history: Sequence[Array],
    scores: Sequence[float],
    *,
    free: Sequence[int],
    bounds: Array,
    normalize: bool,
    restarts: int,
    seed: int,
) -> Array | None:
    """The weights to decode with next, or None where the simplex has shrunk to a point for the last time.

    ``history`` are the weights decoded with, float64 (features), the start first, and ``scores`` what came
    out, more being better. ``free`` are the features that may change, ``bounds`` (features, 2) their least
    and greatest weights. With ``normalize``, absolute weights sum up to what those of the start do, where
    only zeros are fixed and none is bound: the scale, on which threshold pruning depends, stays. The first
    simplex reaches as far as a weight is large on average in every direction; the features that change
    nothing there, as some hardly occur, are left alone. Each of the ``restarts`` begins with a new simplex
    around the best point so far. ``seed`` chooses to which side first simplexes reach.
    """
    start, columns = history[0], np.array(list(free), dtype=np.intp)
    known = {weights.tobytes(): score for weights, score in zip(history, scores, strict=True)}
    length = np.abs(start).sum()
    normalize = normalize and scalable(start, free, bounds)

    def scaled(weights: Array) -> Array:
        size = np.abs(weights).sum()
        # The start itself is a known point to the last bit.
        return weights if not normalize or size == length else np.asarray(weights * (length / size))

    def cost(weights: Array) -> float:
        if not weights.any():
            return np.inf
        decoded = scaled(weights)
        score = known.get(decoded.tobytes())
        if score is None:
            raise _UnknownPointError(decoded)
        return -score

    best = start
    try:
        for number in range(restarts + 1):
            reach = float(np.abs(best).mean())
            corners = best + _steps(best, reach, columns, bounds, np.random.default_rng([seed, number]))
            here = cost(best)
            moving = np.array([cost(corner) != here for corner in corners], dtype=bool)
            if moving.any():
                best = _searched(cost, best, corners[moving], columns[moving], bounds, _SMALLEST * reach)
    except _UnknownPointError as unknown:
        return unknown.weights
    return None


def _searched(
    cost: Callable[[Array], float],
    start: Array,
    corners: Array,
    columns: npt.NDArray[np.intp],
    bounds: Array,
    smallest: float,
) -> Array:
    """Where a simplex ends that begins with the start and a corner for each of the columns."""
    import scipy.optimize  # here, as it takes long to start

    def weights(point: Array) -> Array:
        full = start.copy()
        full[columns] = point
        return full

    limits = bounds[columns]
    found = scipy.optimize.minimize(
        lambda point: cost(weights(point)),
        start[columns],
        method="Nelder-Mead",
        bounds=limits if np.isfinite(limits).any() else None,
        options={
            "initial_simplex": np.vstack([start, corners])[:, columns],
            "xatol": smallest,
            "fatol": np.inf,
            "maxiter": np.inf,
            "maxfev": np.inf,
        },
    )
    return weights(found.x)


def _steps(
    start: Array, reach: float, columns: npt.NDArray[np.intp], bounds: Array, rng: np.random.Generator
) -> Array:
    """From the start along each of the columns to either side, float64 (columns, features)."""
    steps = reach * rng.choice([-1.0, 1.0], len(columns))
    low, high = (bounds[columns] - start[columns, None]).T
    outside = (steps < low) | (steps > high)
    # To the side with more room, and no further than it goes.
    steps[outside] = np.where(-low > high, np.maximum(-reach, low), np.minimum(reach, high))[outside]
    matrix = np.zeros((len(columns), len(start)))
    matrix[np.arange(len(columns)), columns] = steps
    return matrix
