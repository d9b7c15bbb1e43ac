"""Minimum risk training by L-BFGS, with and without deterministic annealing (Smith and Eisner 2006; Li and
Eisner 2009, section 7).

Without annealing T is 0 and gamma 1. With it, T starts high, where next to all derivations are as likely, and
is halved until it is low, and then 0; from there gamma is doubled while the length of theta stays, until next
to nothing but the best derivation counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hiero.base.files import write_atomically
from hiero.base.progress import Report
from hiero.tune.limits import scalable
from hiero.tune.protocol import Array
from hiero.tune.risk import Expectations, LinearLoss, Loss, RiskOptions, RiskSpace

# Between which gamma stays where it is free.
_LOG_GAMMA = np.array([[-10.0, 10.0]])


@dataclass(frozen=True)
class Stage:
    """A step of the schedule. Where gamma is given, weights may turn but not grow."""

    temperature: float
    gamma: float | None


def schedule(options: RiskOptions) -> Iterator[Stage]:
    """Without annealing one step; with it T halved, then 0 and gamma doubled."""
    if not options.annealing:
        yield Stage(0.0, None)
        return
    temperature = options.temperature
    while temperature >= options.coldest:
        yield Stage(temperature, None)
        temperature /= 2
    gamma = 1.0
    while gamma <= options.greatest_gamma:
        yield Stage(0.0, gamma)
        gamma *= 2


@dataclass(frozen=True)
class Minimum:
    """Where a stage has ended: R, H and the length of what is minimised's gradient in theta are means over
    sentences."""

    stage: Stage
    weights: Array
    gamma: float
    risk: float
    entropy: float
    gradient: float
    evaluations: int


def minimise(
    space: RiskSpace,
    loss: Loss,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    options: RiskOptions,
    penalties: Array | None = None,
    report: Callable[[Minimum], object] = lambda _: None,
) -> Array:
    """The weights, float64 (features), at the end of the schedule, by which scores within a sentence differ
    as much as by those of the start where all may be multiplied by one number; ``report`` is told of every
    stage. Features that do not differ within sentences keep their weights. With ``penalties``, lambda in
    float64 (features), half the sum of lambda theta^2 is added to what is summed over sentences; gamma is 1
    then, but where it is given, and weights are as large as the minimum has them.

    It begins where scores within a sentence differ by a nat or so, with theta's direction alone: where one
    derivation has all of the mass, as earlier iterations may have ended, no gradient leads anywhere. While
    gamma is not given it is 1 where all weights may be multiplied by one number, as only its product with
    theta matters then, and free where fixed weights or bounds keep theta from that. A gamma that is given
    multiplies what came before, and the length of theta is kept, or the fixed weights keep it.
    """
    columns = np.array([i for i in free if space.spread[i] > 0], dtype=np.intp)
    free_length = penalties is None and scalable(start, free, bounds)
    scaled = free_length or penalties is not None
    size = _size(start, space)
    unit = 1 / size if size > 0 else 1.0
    weights, gamma, before = (start * unit, 1.0, 1.0) if scaled else (start, unit, unit)
    for stage in schedule(options):
        descent = _Descent(space, loss, weights, columns, bounds, penalties, stage.temperature, options.steps)
        if stage.gamma is None:
            found = descent.plain(gamma) if scaled else descent.with_gamma(gamma)
            before = found[1]
        else:
            found = (descent.turned if free_length else descent.plain)(before * stage.gamma)
        weights, gamma = found
        last = evaluated(space, loss, weights, gamma, stage.temperature)
        gradient = last.theta if penalties is None else last.theta + penalties * weights
        length = float(np.sqrt(np.square(gradient[columns]).sum()))
        sums = (loss.value(last.counts), last.entropy, length)
        risk, entropy, length = (amount / max(space.sentences, 1) for amount in sums)
        report(Minimum(stage, weights, gamma, risk, entropy, length, descent.evaluations))
    if free_length and _size(weights, space) > 0:
        weights = weights * ((size if size > 0 else 1.0) / _size(weights, space))
    return np.where(space.spread > 0, weights, start)


def _size(weights: Array, space: RiskSpace) -> float:
    """By how much scores differ within a sentence, in nats."""
    return float(np.sqrt(np.square(weights * space.spread).sum()))


def evaluated(space: RiskSpace, loss: Loss, weights: Array, gamma: float, temperature: float) -> Expectations:
    """With the linear loss that is like this one where the weights are."""
    slopes = loss.weights if isinstance(loss, LinearLoss) else loss.slopes(space.counts(weights, gamma))
    return space.risk(weights, gamma, temperature, slopes)


class _Descent:
    """L-BFGS from some weights, over those that are free, in units by which each moves scores as far."""

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
        """R - T H with the penalty, by sentence, and its derivatives in x and gamma."""
        self.evaluations += 1
        weights = self._with(x)
        found = evaluated(self._space, self._loss, weights, gamma, self._temperature)
        free = weights[self._columns]
        slope = self._penalties * free
        value = self._loss.value(found.counts) - self._temperature * found.entropy
        value += float(np.einsum("i,i->", slope, free)) / 2
        count = max(self._space.sentences, 1)
        return (
            value / count,
            (found.theta[self._columns] + slope) * self._units / count,
            found.gamma / count,
        )

    def _minimum(
        self, objective: Callable[[Array], tuple[float, Array]], start: Array, bounds: Array
    ) -> Array:
        import scipy.optimize  # here, as it takes long to start

        if len(start) == 0:
            return start
        options = {"maxiter": self._steps, "ftol": 1e-9, "gtol": 1e-7}
        # With several threads BLAS adds up long vectors in another order.
        with threadpool_limits(1, "blas"):
            found = scipy.optimize.minimize(
                objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
        return np.asarray(found.x)

    def _with(self, x: Array) -> Array:
        """The weights that x stands for."""
        weights = self._weights.copy()
        weights[self._columns] = np.clip(x * self._units, *self._intervals.T)
        return weights

    def plain(self, gamma: float) -> tuple[Array, float]:
        """Computes the objective and its gradient in theta."""
        found = self._minimum(lambda x: self._value(x, gamma)[:2], self._start, self._bounds)
        return self._with(found), gamma

    def with_gamma(self, gamma: float) -> tuple[Array, float]:
        """Computes the objective and its gradient in theta and the logarithm of gamma."""

        def objective(x: Array) -> tuple[float, Array]:
            value, slopes, slope = self._value(x[:-1], float(np.exp(x[-1])))
            return value, np.append(slopes, slope * np.exp(x[-1]))

        start = np.append(self._start, np.log(gamma))
        found = self._minimum(objective, start, np.vstack([self._bounds, _LOG_GAMMA]))
        return self._with(found[:-1]), float(np.exp(found[-1]))

    def turned(self, gamma: float) -> tuple[Array, float]:
        """Computes the objective and its gradient in the direction of x, whose length stays."""
        length = float(np.sqrt(np.square(self._start).sum()))
        if length == 0:
            return self._weights, gamma

        def objective(x: Array) -> tuple[float, Array]:
            # Far from 0, as a step along the gradient, which is at a right angle, makes x longer.
            size = float(np.sqrt(np.square(x).sum()))
            value, slope, _ = self._value(x * (length / size), gamma)
            return value, (length / size) * (slope - x * (np.einsum("i,i->", slope, x) / size**2))

        found = self._minimum(objective, self._start, self._bounds)
        return self._with(found * (length / float(np.sqrt(np.square(found).sum())))), gamma


class Trace:
    """The outcome of every stage of an iteration: shown as it goes, and then written to a file of the run."""

    _HEAD = "temperature\tgamma\trisk\tentropy\tgradient\tevaluations"

    def __init__(self, iteration: int, progress: Report | None) -> None:
        self._iteration = iteration
        self._progress = progress
        self._stages: list[Minimum] = []

    def __call__(self, found: Minimum) -> None:
        self._stages.append(found)
        if self._progress is not None:
            sums = f"R {found.risk:.4f}, H {found.entropy:.3f}, |gradient| {found.gradient:.2g}"
            where = f"T {found.stage.temperature:g}, gamma {found.gamma:.3g}"
            self._progress(f"iteration {self._iteration + 1}: {sums}; {where}", len(self._stages), None)

    def write(self, folder: Path) -> None:
        """Means over sentences, a line a stage."""
        rows = [
            f"{m.stage.temperature:g}\t{m.gamma!r}\t{m.risk!r}\t{m.entropy!r}\t{m.gradient!r}\t{m.evaluations}"
            for m in self._stages
        ]
        path = folder / f"risk-{self._iteration:03}.tsv"
        write_atomically(path, "\n".join([self._HEAD, *rows]) + "\n")
