"""The schedule of minimum risk, and the minima of its stages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

from hiero.tune.methods.risk import RiskOptions
from hiero.tune.methods.risk.annealing import Minimum, Stage, minimise, schedule
from hiero.tune.methods.risk.losses import LinearLoss
from hiero.tune.methods.risk.spaces import ListRisk
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.limits import Limits
from support.random_lists import random_lists


def test_schedule() -> None:
    assert list(schedule(RiskOptions())) == [Stage(0.0, None)]
    options = RiskOptions(annealing=True, temperature=1, coldest=0.3, greatest_gamma=4)
    hot = [Stage(1.0, None), Stage(0.5, None)]
    assert list(schedule(options)) == [*hot, Stage(0.0, 1.0), Stage(0.0, 2.0), Stage(0.0, 4.0)]
    default = list(schedule(RiskOptions(annealing=True)))
    assert (default[0].temperature, default[-1].gamma) == (8, 8)
    assert min(stage.temperature for stage in default if stage.temperature > 0) == 0.0625


def annealed(seed: int, limits: Limits | None = None) -> tuple[list[Minimum], np.ndarray]:  # type: ignore[type-arg]
    pool, counts = random_lists(seed)
    options = RiskOptions(space="nbest", annealing=True, steps=200)
    stages: list[Minimum] = []
    start = np.array([0.5, -1.0, 0.1, 0.2])
    weights = minimise(
        ListRisk(pool, counts),
        LinearLoss(np.array([1.0, -0.5])),
        start,
        limits=limits or Limits.unlimited(4),
        options=options,
        report=stages.append,
    )
    return stages, weights


def test_annealing() -> None:
    """Entropy and risk fall with the temperature; at the end almost only the best derivations have mass."""
    for seed in range(5):
        stages, weights = annealed(seed)
        entropies = [stage.entropy for stage in stages]
        assert entropies == sorted(entropies, reverse=True) or max(np.diff(entropies)) < 1e-3
        assert stages[0].risk > stages[-1].risk
        # Every stage ends at a minimum of its objective.
        assert all(stage.gradient < 1e-3 for stage in stages if stage.stage.gamma is None)
        cold = [stage for stage in stages if stage.stage.gamma is not None]
        assert [stage.gamma for stage in cold] == [1, 2, 4, 8]
        sizes = {round(float(np.linalg.norm(stage.weights * spread_of(seed))), 6) for stage in cold}
        assert len(sizes) == 1
        # Scores differ as much as before: only the direction of weights matters to a decoder.
        start = np.array([0.5, -1.0, 0.1, 0.2])
        assert np.linalg.norm(weights * spread_of(seed)) == pytest.approx(
            np.linalg.norm(start * spread_of(seed))
        )
        assert weights / np.linalg.norm(weights) == pytest.approx(
            cold[-1].weights / np.linalg.norm(cold[-1].weights)
        )


def spread_of(seed: int) -> np.ndarray:  # type: ignore[type-arg]
    return ListRisk(*random_lists(seed)).spread


def test_features_that_do_not_vary() -> None:
    """Features that do not vary within sentences, or by rounding alone, keep their weights, however large."""
    pool, counts = random_lists(1)
    rows = pool.features.toarray()
    rng = np.random.default_rng(5)
    whole = np.repeat(rng.normal(size=7), np.diff(pool.offsets))
    rounded = 7.0 * (1 + 1e-9 * rng.normal(size=len(rows)))
    plain = ListRisk(pool, counts)
    wide = ListRisk(replace(pool, features=scipy.sparse.csr_array(np.c_[rows, whole, rounded])), counts)
    assert wide.spread.tolist() == [*plain.spread.tolist(), 0, 0]
    found = []
    for space, more in ((plain, []), (wide, [-100.0, 3.0])):
        start = np.array([0.5, -1.0, 0.1, 0.2, *more])
        loss = LinearLoss(np.array([1.0, -0.5]))
        limits = Limits.unlimited(len(start))
        found.append(minimise(space, loss, start, limits=limits, options=RiskOptions()))
    assert found[1][4:].tolist() == [-100.0, 3.0]
    assert found[1][:4] == pytest.approx(found[0], rel=1e-4)
    nothing = ListRisk(replace(pool, features=pool.features[:, :0]), counts)
    empty = minimise(nothing, loss, np.zeros(0), limits=Limits.unlimited(0), options=RiskOptions())
    assert empty.shape == (0,)


def test_fixed_and_bound_weights() -> None:
    """A fixed weight that is not 0 keeps the scale, and gamma is found."""
    bounds = np.array([[-10.0, 10.0], [-10.0, 10.0], [0.0, 0.05], [-10.0, 10.0]])
    stages, weights = annealed(1, Limits([0, 2, 3], bounds))
    assert weights[1] == -1.0 and 0 <= weights[2] <= 0.05 and abs(weights).max() <= 10
    last = [stage for stage in stages if stage.stage.gamma is None][-1]
    assert last.gamma != 1 and [s.gamma / last.gamma for s in stages[-4:]] == pytest.approx([1, 2, 4, 8])
    positive = annealed(1, Limits(range(4), np.array([[0.0, np.inf]] * 4)))[1]
    assert (positive >= 0).all() and positive.any()


def test_many_features_are_the_same_on_any_number_of_cores() -> None:
    """Sums that BLAS would add in another order with several threads are the same."""
    rng = np.random.default_rng(1)
    offsets = np.arange(0, 401, 20, dtype=np.int32)
    features = scipy.sparse.random_array((400, 20_000), density=0.01, rng=rng, format="csr")
    space = ListRisk(PoolArrays(offsets, features, np.zeros((400, 1))), rng.normal(size=(400, 1)))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            weights = minimise(
                space,
                LinearLoss(np.ones(1)),
                np.full(20_000, 0.01),
                limits=Limits.unlimited(20_000),
                options=RiskOptions(steps=10),
            )
        results.append(weights.tobytes())
    assert results[0] == results[1]
