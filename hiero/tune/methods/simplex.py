"""The downhill simplex (Nelder and Mead 1965) on the metric of full decodings (Cettolo and Federico 2004).

Every point of the search is a decoding of the whole set, without lists. ``next_point`` repeats the search
from its start with the scores of the decodings so far, until it needs a point that has no score yet. A run
therefore needs no other state than its decodings, and no point is decoded twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hiero.tune.methods.kinds import DirectMethod
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import Iterations, Patience, TuningState
from hiero.tune.run.protocol import Array

# The search ends when the simplex has shrunk to this share of its first size: metrics are flat over short
# distances.
_SMALLEST = 0.01


class Simplex(DirectMethod):
    """The downhill simplex as a tuning method."""

    settles: ClassVar[bool] = False

    iterations: Iterations = 200
    patience: Patience = 200
    restarts: int = Field(0, ge=0, description="further simplexes around the best point")
    free_scale: bool = Field(
        False,
        description="let the simplex change the sum of absolute weights, which threshold pruning depends on",
    )

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array | None:
        return next_point(
            state.history,
            state.scores,
            limits=state.limits,
            normalize=not self.free_scale,
            restarts=self.restarts,
            seed=state.run_seed,
        )


class _NewPointError(Exception):
    """The search needs the score of weights that have not been decoded with."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights


def next_point(
    history: Sequence[Array],
    scores: Sequence[float],
    *,
    limits: Limits,
    normalize: bool,
    restarts: int,
    seed: int,
) -> Array | None:
    """Returns the weights to decode with next, or None if the simplex has shrunk to a point for the last
    time.

    ``history`` has the weights of all decodings, float64 (features), the start first, and ``scores`` their
    scores, of which more is better. With ``normalize``, the sum of absolute weights stays that of the start,
    if the limits allow weights to be scaled: threshold pruning depends on it. The first simplex extends in
    each direction by the mean absolute weight. A feature that does not change the score there, because it
    hardly occurs, keeps its weight. Each of the ``restarts`` begins with a new simplex around the best point
    so far. ``seed`` chooses the sides to which first simplexes extend.
    """
    start, columns = history[0], np.array(list(limits.free), dtype=np.intp)
    score_of = {weights.tobytes(): score for weights, score in zip(history, scores, strict=True)}
    length = np.abs(start).sum()
    normalize = normalize and limits.allow_scaling(start)

    def scaled(weights: Array) -> Array:
        size = np.abs(weights).sum()
        # The start itself must be found in the history, to the last bit.
        return weights if not normalize or size == length else np.asarray(weights * (length / size))

    def cost(weights: Array) -> float:
        if not weights.any():
            return np.inf
        decoded = scaled(weights)
        score = score_of.get(decoded.tobytes())
        if score is None:
            raise _NewPointError(decoded)
        return -score

    best = start
    try:
        for number in range(restarts + 1):
            reach = float(np.abs(best).mean())
            corners = best + _steps(
                best, reach, columns, limits.bounds, np.random.default_rng([seed, number])
            )
            here = cost(best)
            moving = np.array([cost(corner) != here for corner in corners], dtype=bool)
            if moving.any():
                best = _search(cost, best, corners[moving], columns[moving], limits.bounds, _SMALLEST * reach)
    except _NewPointError as point:
        return point.weights
    return None


def _search(
    cost: Callable[[Array], float],
    start: Array,
    corners: Array,
    columns: npt.NDArray[np.intp],
    bounds: Array,
    smallest: float,
) -> Array:
    """Returns the point where a simplex ends whose first corners are the start and one for each of the
    columns."""
    import scipy.optimize  # here, as importing it is slow

    def weights(point: Array) -> Array:
        full = start.copy()
        full[columns] = point
        return full

    intervals = bounds[columns]
    result = scipy.optimize.minimize(
        lambda point: cost(weights(point)),
        start[columns],
        method="Nelder-Mead",
        bounds=intervals if np.isfinite(intervals).any() else None,
        options={
            "initial_simplex": np.vstack([start, corners])[:, columns],
            "xatol": smallest,
            "fatol": np.inf,
            "maxiter": np.inf,
            "maxfev": np.inf,
        },
    )
    return weights(result.x)


def _steps(
    start: Array, reach: float, columns: npt.NDArray[np.intp], bounds: Array, rng: np.random.Generator
) -> Array:
    """Returns steps from the start along each of the columns, to a random side, float64 (columns,
    features)."""
    steps = reach * rng.choice([-1.0, 1.0], len(columns))
    low, high = (bounds[columns] - start[columns, None]).T
    outside = (steps < low) | (steps > high)
    # A step beyond a bound goes to the side with more room instead, and at most to the bound there.
    steps[outside] = np.where(-low > high, np.maximum(-reach, low), np.minimum(reach, high))[outside]
    matrix = np.zeros((len(columns), len(start)))
    matrix[np.arange(len(columns)), columns] = steps
    return matrix
