"""Minimum risk training by L-BFGS, with and without deterministic annealing (Smith and Eisner 2006; Li and
Eisner 2009, section 7).

Without annealing T is 0 and gamma 1. With annealing T starts high, where almost all derivations are equally
likely, and is halved until it is low, and then 0. After that gamma is doubled while the length of theta
stays, until almost nothing but the best derivation counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hiero.tune.methods.risk.descent import Descent, evaluate
from hiero.tune.methods.risk.losses import Loss
from hiero.tune.methods.risk.options import RiskOptions
from hiero.tune.methods.risk.spaces import RiskSpace
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array


@dataclass(frozen=True)
class Stage:
    """A step of the schedule. If gamma is not None, the length of theta stays."""

    temperature: float
    gamma: float | None


def schedule(options: RiskOptions) -> Iterator[Stage]:
    """Yields the stages: one without annealing; with it those of falling T, then those of rising gamma."""
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
    """The end of a stage: weights and gamma, and the risk R, the entropy H and the length of the objective's
    gradient in theta, as means over sentences."""

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
    limits: Limits,
    options: RiskOptions,
    penalties: Array | None = None,
    report: Callable[[Minimum], object] = lambda _: None,
) -> Array:
    """Returns the weights, float64 (features), at the end of the schedule; ``report`` is called after every
    stage.

    If the limits allow weights to be scaled, they are scaled so that scores differ within sentences as much
    as by the start. Features that do not differ within sentences keep their weights. With ``penalties``,
    lambda in float64 (features), half the sum of lambda theta^2 is added to the objective, which is a sum
    over sentences; gamma is then 1 unless the stage sets it, and weights keep the scale of the minimum.

    The search begins with theta's direction alone, at a scale where scores within a sentence differ by about
    one nat: where one derivation has all the mass, as earlier iterations may have ended, the gradient is 0.
    If the stage does not set gamma, it is 1 if weights may be scaled, as only the product with theta matters,
    and free if fixed weights or bounds prevent that. A gamma that the stage sets multiplies the last free
    one, and the length of theta stays, or is determined by fixed weights.
    """
    columns = np.array([i for i in limits.free if space.spread[i] > 0], dtype=np.intp)
    free_length = penalties is None and limits.allow_scaling(start)
    scaled = free_length or penalties is not None
    size = _score_deviation(start, space)
    unit = 1 / size if size > 0 else 1.0
    weights, gamma, base_gamma = (start * unit, 1.0, 1.0) if scaled else (start, unit, unit)
    for stage in schedule(options):
        descent = Descent(
            space, loss, weights, columns, limits.bounds, penalties, stage.temperature, options.steps
        )
        if stage.gamma is not None:
            search = descent.with_fixed_length if free_length else descent.with_fixed_gamma
            weights, gamma = search(base_gamma * stage.gamma)
        else:
            search = descent.with_fixed_gamma if scaled else descent.with_free_gamma
            weights, gamma = search(gamma)
            base_gamma = gamma
        end = evaluate(space, loss, weights, gamma, stage.temperature)
        gradient = end.theta if penalties is None else end.theta + penalties * weights
        length = float(np.sqrt(np.square(gradient[columns]).sum()))
        sums = (loss.value(end.counts), end.entropy, length)
        risk, entropy, length = (amount / max(space.sentences, 1) for amount in sums)
        report(Minimum(stage, weights, gamma, risk, entropy, length, descent.evaluations))
    if free_length and _score_deviation(weights, space) > 0:
        weights = weights * ((size if size > 0 else 1.0) / _score_deviation(weights, space))
    return np.where(space.spread > 0, weights, start)


def _score_deviation(weights: Array, space: RiskSpace) -> float:
    """Estimates the standard deviation of scores within a sentence, in nats."""
    return float(np.sqrt(np.square(weights * space.spread).sum()))
