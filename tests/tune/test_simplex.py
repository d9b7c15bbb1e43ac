"""The simplex, one decoding after another, against scipy's search in one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

from hiero.evaluate import Bleu
from hiero.tune import TuneOptions, tune
from hiero.tune.methods.simplex import next_point
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array
from support.synthetic_decoder import solvable

Score = Callable[[Array], float]


def search(
    score: Score, start: Array, most: int = 1000, **changes: object
) -> tuple[list[Array], list[float]]:
    """Returns all points that the search needs, and their scores."""
    settings = {
        "limits": Limits.unlimited(len(start)),
        "normalize": False,
        "restarts": 0,
        "seed": 1,
        **changes,
    }
    history, scores = [start], [score(start)]
    while len(history) < most and (point := next_point(history, scores, **settings)) is not None:  # type: ignore[arg-type]
        history.append(point)
        scores.append(score(point))
    return history, scores


def hill(top: Array) -> Score:
    return lambda weights: float(-np.square((weights - top) * np.arange(1, len(top) + 1)).sum())


@pytest.mark.parametrize("features", [2, 3, 5])
def test_points_are_those_of_scipy(features: int) -> None:
    rng = np.random.default_rng(features)
    start, score = rng.normal(size=features), hill(rng.normal(size=features))
    history, scores = search(score, start)
    asked: list[Array] = []

    def cost(point: Array) -> float:
        asked.append(point.copy())
        return -score(point)

    # The search begins with the corners of its first simplex.
    simplex = np.array(history[: features + 1])
    steps = simplex[1:] - start
    assert (steps[~np.eye(features, dtype=bool)] == 0).all()
    usual = np.abs(start).mean()
    assert np.abs(np.diag(steps)) == pytest.approx(np.full(features, usual))
    options = {"initial_simplex": simplex, "xatol": 0.01 * usual, "fatol": np.inf, "maxfev": 10000}
    found = scipy.optimize.minimize(cost, start, method="Nelder-Mead", options=options)
    assert found.success
    assert np.array(asked).tolist() == np.array(history).tolist()
    assert max(scores) == -found.fun


def test_the_top_is_found_and_no_point_is_decoded_twice() -> None:
    top = np.array([1.0, -2.0, 0.5, 0.0])
    history, _ = search(hill(top), np.array([0.5, 0.5, 0.5, 0.0]))
    assert min(np.abs(history - top).max(axis=1)) < 0.01
    assert len({weights.tobytes() for weights in history}) == len(history)


def test_the_scale_stays() -> None:
    top = np.array([2.0, -1.0, 1.0])
    history, scores = search(lambda w: float(w @ top / np.linalg.norm(w)), np.ones(3), normalize=True)
    assert np.abs(history).sum(axis=1) == pytest.approx(np.full(len(history), 3.0))
    assert max(scores) > 0.999 * np.linalg.norm(top)
    free, _ = search(lambda w: float(w @ top / np.linalg.norm(w)), np.ones(3))
    assert np.ptp(np.abs(free).sum(axis=1)) > 0.5


def test_features_stay_within_bounds() -> None:
    bounds = np.array([[-np.inf, np.inf], [0.4, 0.6], [-np.inf, np.inf], [-2.0, 0.5]])
    start = np.array([1.0, 0.5, 1.0, 0.5])
    history, _ = search(hill(np.array([2.0, 5.0, 9.0, -0.5])), start, limits=Limits([0, 1, 3], bounds))
    points = np.array(history)
    assert (points[:, 2] == 1.0).all()
    assert ((bounds[:, 0] <= points) & (points <= bounds[:, 1])).all()
    assert points[-1] == pytest.approx([2.0, 0.6, 1.0, -0.5], abs=0.02)


def test_new_simplexes_and_seeds() -> None:
    score = hill(np.array([1.0, 2.0, 3.0]))
    one, one_scores = search(score, np.ones(3))
    three, three_scores = search(score, np.ones(3), restarts=2)
    assert np.array(three[: len(one)]).tolist() == np.array(one).tolist()
    assert len(three) > len(one) + 6 and max(three_scores) >= max(one_scores)
    # A new simplex is around the best point so far, which is decoded already.
    best = one[int(np.argmax(one_scores))]
    corners = np.array(three[len(one) : len(one) + 3]) - best
    assert (corners[~np.eye(3, dtype=bool)] == 0).all() and (np.diag(corners) != 0).all()
    others, _ = search(score, np.ones(3), seed=4)
    assert np.array(others[1:4]).tolist() != np.array(one[1:4]).tolist()


def test_features_that_change_nothing_are_left_alone() -> None:
    top, start = np.array([1.0, 9.0, 3.0, 9.0]), np.ones(4)
    seen = [0, 2]
    history, scores = search(lambda weights: hill(top[seen])(weights[seen]), start)
    # Each of them costs a decoding, with the same score as the start.
    others = np.array([(weights[[1, 3]] == 1).all() for weights in history])
    assert np.flatnonzero(~others).tolist() == [2, 4] and scores[2] == scores[4] == scores[0]
    assert min(np.abs(np.array(history)[others][:, seen] - top[seen]).max(axis=1)) < 0.05

    # The next simplex may move them again.
    def late(weights: Array) -> float:
        rest = 1.5 - (weights[1] - 2) ** 2 if weights[0] > 2.9 else 0.0
        return float(rest - (weights[0] - 3) ** 2)

    _, one_scores = search(late, np.ones(2))
    _, two_scores = search(late, np.ones(2), restarts=1)
    assert max(one_scores) == pytest.approx(0.5, abs=0.01)
    assert max(two_scores) == pytest.approx(1.5, abs=0.01)
    # Where nothing changes the metric it ends with the corners of both simplexes, some of which are the same.
    flat, _ = search(lambda _: 1.0, np.ones(3), restarts=1)
    assert 4 < len(flat) <= 7 and (np.abs(np.array(flat[1:]) - 1).sum(axis=1) == 1).all()


def test_weights_are_never_all_zero() -> None:
    # From one weight, half of all first simplexes reach to zero.
    for seed in range(10):
        history, scores = search(hill(np.array([0.1])), np.ones(1), seed=seed)
        assert np.array(history).all() and max(scores) > -0.01


def test_runs_end_and_decode_each_point_once(tmp_path: Path) -> None:
    decoder, references = solvable(1, (1.0, -0.5, 2.0), sentences=10)
    start = {name: 1.0 for name in decoder.feature_names}
    options = TuneOptions("simplex", restarts=1)
    result = tune(decoder, Bleu(references), start, tmp_path, options)
    assert result.reason == "nothing is left to try"
    assert len(decoder.decoded) == len(result.iterations) > 20
    assert all(sum(map(abs, w)) == pytest.approx(3.0) for w in decoder.decoded)
    free = TuneOptions("simplex", fixed=("f0",))
    fixed = tune(decoder, Bleu(references), start, tmp_path / "fixed", free)
    assert {iteration.weights["f0"] for iteration in fixed.iterations} == {1.0}
    lengths = [sum(map(abs, iteration.weights.values())) for iteration in fixed.iterations]
    assert max(lengths) > min(lengths) + 0.5
