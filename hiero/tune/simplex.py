"""The downhill simplex (Nelder and Mead 1965) on the metric of full decodings (Cettolo and Federico 2004).

No list stands between the weights and the metric: every point is a decoding of the whole set. ``next_point``
plays the search again from its start on the decodings that are known, until it asks for one that is not; a
run therefore needs no other state than its decodings, and no point is decoded twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiero.tune.objective import scalable
from hiero.tune.protocol import Array

# The first simplex reaches as far as half a weight, and the search ends when it has shrunk to a hundredth of
# that: metrics are flat over short distances.
_REACH = 0.5
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
    only zeros are fixed and none is bound: the scale, on which threshold pruning depends, stays. Each of the
    ``restarts`` begins with a new simplex around the best point so far. ``seed`` chooses to which side first
    simplexes reach.
    """
    import scipy.optimize  # here, as it takes long to start

    start, columns = history[0], np.array(list(free))
    known = {weights.tobytes(): score for weights, score in zip(history, scores, strict=True)}
    length = np.abs(start).sum()
    normalize = normalize and scalable(start, free, bounds)

    def expanded(point: Array) -> Array:
        weights = start.copy()
        weights[columns] = point
        size = np.abs(weights).sum()
        # The start itself is a known point to the last bit.
        return weights if not normalize or size in (0, length) else np.asarray(weights * (length / size))

    def cost(point: Array) -> float:
        weights = expanded(point)
        score = known.get(weights.tobytes())
        if score is None:
            raise _UnknownPointError(weights)
        return -score

    limits = bounds[columns]
    best = start[columns]
    try:
        for number in range(restarts + 1):
            rng = np.random.default_rng([seed, number])
            simplex, reach = _first_simplex(best, limits, rng)
            found = scipy.optimize.minimize(
                cost,
                best,
                method="Nelder-Mead",
                bounds=limits if np.isfinite(limits).any() else None,
                options={
                    "initial_simplex": simplex,
                    "xatol": _SMALLEST * reach,
                    "fatol": np.inf,
                    "maxiter": np.inf,
                    "maxfev": np.inf,
                },
            )
            best = found.x
    except _UnknownPointError as unknown:
        return unknown.weights
    return None


def _first_simplex(start: Array, limits: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """The start and a step along each coordinate, float64 (n + 1, n), and the length of a usual step."""
    usual = _REACH * max(float(np.abs(start).mean()), 1e-3)
    steps = np.maximum(_REACH * np.abs(start), usual) * rng.choice([-1.0, 1.0], len(start))
    low, high = (limits - start[:, None]).T
    outside = (steps < low) | (steps > high)
    # To the side with more room, and no further than it goes.
    steps[outside] = np.where(-low > high, np.maximum(-np.abs(steps), low), np.minimum(np.abs(steps), high))[
        outside
    ]
    simplex = np.tile(start, (len(start) + 1, 1))
    simplex[1:][np.diag_indices(len(start))] += steps
    return simplex, usual
