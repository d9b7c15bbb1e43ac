"""The solution of MIRA's batches, against a general solver of quadratic programs."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
import scipy.sparse

from hiero._core import SmoSolution, smo
from support.seeds import each_seed

Array = npt.NDArray[np.float64]


class Batch:
    """A batch of random sentences, with some equal hypotheses and some oracles that are the best."""

    def __init__(self, rng: np.random.Generator) -> None:
        sizes = rng.integers(1, 6, rng.integers(1, 5))
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.features = rng.normal(size=(sizes.sum(), rng.integers(1, 7))).round(1)
        self.features[rng.random(self.features.shape) < 0.4] = 0
        for row in range(1, len(self.features)):
            if rng.random() < 0.2:
                self.features[row] = self.features[row - 1]
        self.losses = rng.normal(size=len(self.features)) * 3
        self.oracles = self.offsets[:-1] + rng.integers(0, sizes)
        for sentence, oracle in enumerate(self.oracles):
            self.losses[self.rows(sentence)] -= self.losses[oracle]
        self.weights = rng.normal(size=self.features.shape[1])
        self.c = float(rng.choice([0.01, 0.3, 5]))

    def rows(self, sentence: int) -> slice:
        return slice(*self.offsets[sentence : sentence + 2])

    def solve(self, **options: object) -> SmoSolution:
        rows = scipy.sparse.csr_array(self.features)
        arrays = (self.losses, rows.indptr, rows.indices, rows.data, self.weights)
        return smo(
            self.offsets,
            self.oracles,
            *arrays,
            **{"c": self.c, "tolerance": 1e-8, **options},
        )  # type: ignore[arg-type]

    def objective(self, weights: Array) -> float:
        """Computes objective (1) of the paper literally."""
        total = 0.5 * np.square(weights - self.weights).sum()
        for sentence, oracle in enumerate(self.oracles):
            dh = self.features[oracle] - self.features[self.rows(sentence)]
            total += self.c * (self.losses[self.rows(sentence)] - dh @ weights).max()
        return float(total)


def moved(batch: Batch, solution: SmoSolution) -> Array:
    weights = batch.weights.copy()
    weights[solution.ids] += solution.changes
    return weights


def least(batch: Batch, free: Array) -> float:
    """Minimises the objective by SLSQP, with a slack variable for each sentence in place of the maximum."""
    sentences, features = len(batch.oracles), len(batch.weights)
    rows, bounds = [], []
    for sentence, oracle in enumerate(batch.oracles):
        for row in range(*batch.offsets[sentence : sentence + 2]):
            slack = np.eye(sentences)[sentence]
            rows.append(np.concatenate([(batch.features[oracle] - batch.features[row]) * free, slack]))
            bounds.append(batch.losses[row] - (batch.features[oracle] - batch.features[row]) @ batch.weights)
    matrix, limits = np.array(rows), np.array(bounds)
    start = np.concatenate([np.zeros(features), np.full(sentences, max(0.0, limits.max()))])
    cost = np.concatenate([np.zeros(features), np.full(sentences, batch.c)])
    quadratic = np.concatenate([np.ones(features), np.zeros(sentences)])
    found = scipy.optimize.minimize(
        lambda x: 0.5 * (quadratic * x) @ x + cost @ x,
        start,
        jac=lambda x: quadratic * x + cost,
        constraints={"type": "ineq", "fun": lambda x: matrix @ x - limits, "jac": lambda _: matrix},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return batch.objective(batch.weights + free * found.x[:features])


@each_seed(range(300))
def test_reaches_the_optimum(seed: int) -> None:
    batch = Batch(np.random.default_rng(seed))
    solution = batch.solve()
    reached = batch.objective(moved(batch, solution))
    assert solution.objective == pytest.approx(reached, abs=1e-9)
    assert solution.gap <= 1e-8 * solution.objective
    best = least(batch, np.ones(len(batch.weights)))
    assert reached <= best + 1e-6
    assert reached >= best - 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_alphas_spread_c_and_give_the_weights(seed: int) -> None:
    batch = Batch(np.random.default_rng(seed))
    solution = batch.solve()
    assert (solution.alphas >= 0).all()
    expected = batch.weights.copy()
    for sentence, oracle in enumerate(batch.oracles):
        alphas = solution.alphas[batch.rows(sentence)]
        assert alphas.sum() == pytest.approx(batch.c)
        expected += alphas @ (batch.features[oracle] - batch.features[batch.rows(sentence)])
    np.testing.assert_allclose(moved(batch, solution), expected, atol=1e-12)


@each_seed(range(50))
def test_fixed_features_stay_and_count(seed: int) -> None:
    batch = Batch(np.random.default_rng(seed))
    free = np.ones(len(batch.weights))
    free[0] = 0
    solution = batch.solve(fixed=free == 0)
    assert 0 not in solution.ids
    assert batch.objective(moved(batch, solution)) == pytest.approx(least(batch, free), abs=1e-6)


def test_equal_features_give_all_weight_to_the_greater_loss() -> None:
    solution = smo([0, 2], [0], [0.0, 2.0], [0, 1, 2], [0, 0], [1.0, 1.0], [0.5], c=0.01)
    assert solution.alphas.tolist() == [0.0, 0.01]
    assert solution.changes.tolist() == [0.0]
    assert solution.gap == 0.0
    assert solution.objective == pytest.approx(0.02)


def test_a_step_by_hand() -> None:
    # dh = (1, -1), l = 1: with C large alpha = 1 / 2, which closes the margin.
    batch = ([0, 2], [0], [0.0, 1.0], [0, 1, 2], [3, 1], [1.0, 1.0], np.zeros(5))
    assert smo(*batch, c=10.0).changes.tolist() == [-0.5, 0.5]
    assert smo(*batch, c=0.01).changes.tolist() == [-0.01, 0.01]
    assert smo(*batch, c=0.01).ids.tolist() == [1, 3]


def test_an_oracle_that_wins_by_its_margin_moves_nothing() -> None:
    solution = smo([0, 2], [1], [1.0, 0.0], [0, 0, 1], [0], [1.0], [2.0])
    assert (solution.sweeps, solution.objective, solution.changes.tolist()) == (0, 0.0, [0.0])


def test_the_gap_bounds_what_is_left() -> None:
    batches = (Batch(np.random.default_rng(seed)) for seed in itertools.count())
    batch = next(batch for batch in batches if batch.solve().sweeps > 3)
    stopped = batch.solve(tolerance=0.3)
    assert 0 < stopped.gap <= 0.3 * stopped.objective
    assert stopped.sweeps < batch.solve().sweeps
    assert batch.objective(moved(batch, stopped)) - least(batch, np.ones(len(batch.weights))) <= (
        stopped.gap + 1e-6
    )


@pytest.mark.parametrize("c", [0.01, 1.0, 10.0])
def test_batches_of_the_paper_s_size_are_solved_for_any_c(c: float) -> None:
    """Batches as workers share them, 58 sentences of 30 similar hypotheses and 56 features, are solved."""
    rng = np.random.default_rng(7)
    base = rng.poisson(3, (58, 1, 56)) * rng.normal(size=56)
    features = (base + rng.poisson(0.3, (58, 30, 56))).reshape(-1, 56)
    losses = (np.abs(rng.normal(size=(58, 30))) * 5).round(2)
    losses[:, 0] = 0
    rows = scipy.sparse.csr_array(features)
    offsets = np.arange(59) * 30
    arrays = (losses.ravel(), rows.indptr, rows.indices, rows.data, np.zeros(56))
    solution = smo(offsets, offsets[:-1], *arrays, c=c)
    assert 0 <= solution.gap <= 1e-6 * solution.objective
    # As the gap is said to be: the objective less what the dual of the weights' changes comes to.
    dual = solution.alphas @ losses.ravel() - 0.5 * np.square(solution.changes).sum()
    assert solution.objective - dual == pytest.approx(solution.gap, abs=1e-9 * solution.objective)
    assert (solution.sweeps > 1000) == (c > 1)


def test_no_tolerance_is_too_small_to_end() -> None:
    for seed in range(20):
        batch = Batch(np.random.default_rng(seed))
        solution = batch.solve(tolerance=1e-300)
        assert solution.gap <= 1e-12 * max(1.0, solution.objective)


@pytest.mark.parametrize(
    "change",
    [
        {"oracles": [2]},
        {"offsets": [0, 3]},
        {"losses": [0.0, np.nan]},
        {"values": [1.0, np.inf]},
        {"ids": [0, 1]},
        {"ids": [0, -1]},
        {"row_offsets": [0, 2, 1]},
        {"weights": [np.nan]},
        {"c": 0.0},
        {"tolerance": 0.0},
        {"c": np.inf},
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object]) -> None:
    arguments = {
        "offsets": [0, 2],
        "oracles": [0],
        "losses": [0.0, 1.0],
        "row_offsets": [0, 1, 2],
        "ids": [0, 0],
        "values": [1.0, 2.0],
        "weights": [0.0],
    }
    smo(**arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        smo(**{**arguments, **change})  # type: ignore[arg-type]


def test_what_all_hypotheses_have_moves_nothing() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        features = np.column_stack([np.full(12, 3.7), rng.normal(size=(12, 4))])
        rows = scipy.sparse.csr_array(features)
        losses = np.concatenate([[0.0], rng.normal(size=11) + 2])
        arrays = (losses, rows.indptr, rows.indices, rows.data, np.zeros(5))
        changes = smo([0, 12], [0], *arrays, c=0.1).changes
        assert changes[0] == 0.0
        assert changes[1:].all()


def test_whether_a_feature_is_fixed_is_said_of_all_or_none() -> None:
    batch = ([0, 2], [0], [0.0, 1.0], [0, 1, 2], [3, 1], [1.0, 1.0], np.zeros(5))
    assert smo(*batch, fixed=[]).ids.tolist() == [1, 3]
    for wrong in ([3], np.zeros(4, dtype=bool), np.zeros((5, 1), dtype=bool)):
        with pytest.raises(ValueError, match=r"of every feature whether it is fixed|expected a vector"):
            smo(*batch, fixed=wrong)
