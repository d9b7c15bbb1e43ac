"""Minimisation of the objective by L-BFGS, at one temperature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hiero.tune.methods.risk.losses import LinearLoss, Loss
from hiero.tune.methods.risk.spaces import Expectations, RiskSpace
from hiero.tune.run.protocol import Array

# The interval of log gamma, where gamma is free.
_LOG_GAMMA = np.array([[-10.0, 10.0]])


def evaluate(space: RiskSpace, loss: Loss, weights: Array, gamma: float, temperature: float) -> Expectations:
    """Computes the objective's parts and derivatives at these weights, with the loss's tangent there."""
    slopes = loss.weights if isinstance(loss, LinearLoss) else loss.slopes(space.counts(weights, gamma))
    return space.risk(weights, gamma, temperature, slopes)


class Descent:
    """L-BFGS from the given weights over some features, the columns. Each weight is measured in a unit by
    which it changes scores as much as the others, the inverse of the feature's spread."""

    def __init__(
        self,
        space: RiskSpace,
        loss: Loss,
        weights: Array,
        columns: Any,
        bounds: Array,
        penalties: Array | None,
        temperature: float,
        steps: int,
    ) -> None:
        self.evaluations = 0
        self._space = space
        self._loss = loss
        self._weights = weights
        self._columns = columns
        self._units = 1 / space.spread[columns]
        self._intervals = bounds[columns]
        self._bounds = self._intervals / self._units[:, None]
        self._start = weights[columns] / self._units
        self._penalties = np.zeros(len(columns)) if penalties is None else penalties[columns]
        self._temperature = temperature
        self._steps = steps

    def _value(self, x: Array, gamma: float) -> tuple[float, Array, float]:
        """Computes R - T H with the penalty, as a mean over sentences, and its derivatives in x and gamma."""
        self.evaluations += 1
        weights = self._weights_at(x)
        expected = evaluate(self._space, self._loss, weights, gamma, self._temperature)
        free = weights[self._columns]
        slope = self._penalties * free
        value = self._loss.value(expected.counts) - self._temperature * expected.entropy
        value += float(np.einsum("i,i->", slope, free)) / 2
        count = max(self._space.sentences, 1)
        return (
            value / count,
            (expected.theta[self._columns] + slope) * self._units / count,
            expected.gamma / count,
        )

    def _minimise(
        self, objective: Callable[[Array], tuple[float, Array]], start: Array, bounds: Array
    ) -> Array:
        import scipy.optimize  # here, as importing it is slow

        if len(start) == 0:
            return start
        options = {"maxiter": self._steps, "ftol": 1e-9, "gtol": 1e-7}
        # Several threads of BLAS would add up long vectors in another order.
        with threadpool_limits(1, "blas"):
            result = scipy.optimize.minimize(
                objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
        return np.asarray(result.x)

    def _weights_at(self, x: Array) -> Array:
        """Returns all weights, with those of the columns from x in its units."""
        weights = self._weights.copy()
        weights[self._columns] = np.clip(x * self._units, *self._intervals.T)
        return weights

    def with_fixed_gamma(self, gamma: float) -> tuple[Array, float]:
        """Minimises over theta, and returns theta and gamma."""
        x = self._minimise(lambda x: self._value(x, gamma)[:2], self._start, self._bounds)
        return self._weights_at(x), gamma

    def with_free_gamma(self, gamma: float) -> tuple[Array, float]:
        """Minimises over theta and the logarithm of gamma, and returns theta and gamma."""

        def objective(x: Array) -> tuple[float, Array]:
            value, slopes, slope = self._value(x[:-1], float(np.exp(x[-1])))
            return value, np.append(slopes, slope * np.exp(x[-1]))

        start = np.append(self._start, np.log(gamma))
        x = self._minimise(objective, start, np.vstack([self._bounds, _LOG_GAMMA]))
        return self._weights_at(x[:-1]), float(np.exp(x[-1]))

    def with_fixed_length(self, gamma: float) -> tuple[Array, float]:
        """Minimises over directions of theta, whose length stays, and returns theta and gamma."""
        length = float(np.sqrt(np.square(self._start).sum()))
        if length == 0:
            return self._weights, gamma

        def objective(x: Array) -> tuple[float, Array]:
            # x stays away from 0: the gradient is orthogonal to it, so that every step makes it longer.
            size = float(np.sqrt(np.square(x).sum()))
            value, slope, _ = self._value(x * (length / size), gamma)
            return value, (length / size) * (slope - x * (np.einsum("i,i->", slope, x) / size**2))

        x = self._minimise(objective, self._start, self._bounds)
        return self._weights_at(x * (length / float(np.sqrt(np.square(x).sum())))), gamma
