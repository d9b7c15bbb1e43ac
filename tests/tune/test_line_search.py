"""The line search of MERT, against trying every breakpoint and a dense grid."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

from hiero._core import line_search
from hiero.forest.losses import BleuColumns
from hiero.tune.methods.mert.line_search import search
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.objective import maximised_score
from support.random_pools import EXACT, METRIC, random_pool


def winners(pool: PoolArrays, scores: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    rows = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in itertools.pairwise(pool.offsets)]
    return np.array(rows, dtype=np.int32)


def crossings(pool: PoolArrays, intercepts: np.ndarray, slopes: np.ndarray) -> list[float]:  # type: ignore[type-arg]
    """Returns the points where two hypotheses of a sentence have the same score."""
    found = set()
    for a, b in itertools.pairwise(pool.offsets.tolist()):
        for i, j in itertools.combinations(range(a, b), 2):
            if slopes[i] != slopes[j]:
                found.add(float((intercepts[i] - intercepts[j]) / (slopes[j] - slopes[i])))
    return sorted(found)


@pytest.mark.parametrize("integers", [False, True])
def test_changes_are_those_of_the_winners(integers: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        pool = random_pool(rng, 1, integers)
        slopes = pool.features.toarray()[:, 0]
        intercepts = (
            rng.integers(-3, 4, len(slopes)).astype(float) if integers else rng.normal(size=len(slopes))
        )
        first, gamma, old, new = line_search(pool.offsets, intercepts, slopes)
        assert (np.diff(gamma) >= 0).all()
        current = first.copy()
        sentence = np.repeat(np.arange(pool.instances), np.diff(pool.offsets))
        points = [-1e6, *crossings(pool, intercepts, slopes), 1e6]
        at = 0
        for left, right in itertools.pairwise(points):
            middle = (left + right) / 2
            while at < len(gamma) and gamma[at] < middle:
                assert current[sentence[new[at]]] == old[at]
                current[sentence[new[at]]] = new[at]
                at += 1
            if right - left > 1e-9:  # else rounding decides
                assert current.tolist() == winners(pool, intercepts + middle * slopes).tolist()
        assert at == len(gamma)


def test_many_hypotheses() -> None:
    # So many hypotheses that those which cannot win are left out before sorting.
    rng = np.random.default_rng(2)
    for integers in (False, True):
        for _ in range(50):
            slopes, intercepts = rng.normal(size=(2, 300)) * rng.uniform(0.1, 100, (2, 1))
            if integers:
                slopes, intercepts = np.round(slopes), np.round(intercepts)
            first, gamma, _, new = line_search([0, 300], intercepts, slopes)
            pieces = np.concatenate([[-1e9], gamma, [1e9]])
            for left, right, row in zip(pieces, pieces[1:], [*first, *new], strict=False):
                if right - left > 1e-9:
                    middle = (
                        (max(left, pieces[1] - 1) + min(right, pieces[-2] + 1)) / 2 if len(gamma) else 0.0
                    )
                    assert row == int((intercepts + middle * slopes).argmax())
            hull = {int((intercepts + x * slopes).argmax()) for x in np.linspace(-50, 50, 2001)}
            assert hull <= {*first.tolist(), *new.tolist()}


def test_ties_and_parallel_lines() -> None:
    # Equal lines: the first. Parallel: the higher. Three lines through one point: the middle one never wins.
    assert [a.tolist() for a in line_search([0, 2], [1.0, 1.0], [2.0, 2.0])] == [[0], [], [], []]
    assert line_search([0, 3], [1.0, 3.0, 3.0], [2.0, 2.0, 2.0])[0].tolist() == [1]
    found = line_search([0, 3], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0])
    assert [a.tolist() for a in found] == [[0], [0.0], [0], [2]]
    assert [a.tolist() for a in line_search([0, 0, 1], [1.0], [1.0])] == [[-1, 0], [], [], []]


@pytest.mark.parametrize(
    ("offsets", "intercepts", "slopes"),
    [
        ([0, 1], [0.0, 1.0], [0.0, 1.0]),
        ([1, 2], [0.0, 1.0], [0.0, 1.0]),
        ([0, 2, 1, 2], [0.0, 1.0], [0.0, 1.0]),
        ([], [], []),
        ([0, 2], [0.0, 1.0], [0.0]),
        ([0, 2], [0.0, np.nan], [0.0, 1.0]),
        ([0, 2], [0.0, 1.0], [0.0, np.inf]),
        ([0, 2], np.zeros((2, 1)), np.zeros((2, 1))),
    ],
)
def test_bad_arrays(offsets: list[int], intercepts: list[float], slopes: list[float]) -> None:
    with pytest.raises(ValueError, match=r"offsets|finite|slope|vectors"):
        line_search(offsets, intercepts, slopes)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([[0, 1], [1, 2]], "offsets: expected a vector"),
        (0, "offsets: expected a vector"),
        ([0, 2**32 + 2], "offsets: 4294967298 is out of range"),
        (np.array([0, 2**64 - 1], dtype=np.uint64), "offsets: -1 is out of range"),
        ([0.0, 2.0], "offsets: expected integers"),
        ([0, 2**31 - 1], "rise from 0 to the number of hypotheses"),
        ([0, -1], "rise from 0"),
        ([0, 2, 1, 2], "rise from 0"),
    ],
)
def test_offsets_of_no_hypotheses(offsets: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        line_search(offsets, [0.0, 0.0], [0.0, 1.0])  # type: ignore[arg-type]


@pytest.mark.parametrize("features", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("integers", [False, True])
def test_search_finds_the_best_interval(features: int, integers: bool) -> None:
    rng = np.random.default_rng(features)
    for _ in range(60):
        pool = random_pool(rng, features, integers)
        weights, direction = rng.choice(EXACT, (2, features)) if integers else rng.normal(size=(2, features))
        intercepts, slopes = pool.features @ weights, pool.features @ direction
        low, high = (-np.inf, np.inf) if rng.random() < 0.5 else sorted(rng.normal(size=2) * 3)
        found = search(pool, METRIC, intercepts, slopes, low, high)

        def score(gamma: float) -> float:
            rows = winners(pool, intercepts + gamma * slopes)  # noqa: B023
            return float(maximised_score(METRIC, pool.total(rows)))  # noqa: B023

        assert low <= found.gamma <= high
        places = crossings(pool, intercepts, slopes)
        edges = [max(low, -1e6), *(p for p in places if low < p < high), min(high, 1e6)]
        # Points between all breakpoints, and a dense grid.
        middles = [(a + b) / 2 for a, b in itertools.pairwise(edges) if b - a > 1e-9]
        grid = np.clip(np.linspace(-5, 5, 101) + 1e-4 * rng.random(), low, high).tolist()
        if not any(abs(found.gamma - p) < 1e-9 for p in places):
            assert score(found.gamma) == pytest.approx(found.score)
        assert found.score == pytest.approx(max(map(score, middles)))
        near = [g for g in grid if all(abs(g - p) > 1e-9 for p in places)]
        assert all(score(g) <= found.score + 1e-9 for g in near)
        if all(abs(p) > 1e-9 for p in places) and low < 0 < high:
            assert found.start == pytest.approx(score(0.0))


def test_smoothing_passes_over_lonely_peaks() -> None:
    rng = np.random.default_rng(7)
    passed = 0
    for _ in range(60):
        pool = random_pool(rng, 4)
        intercepts, slopes = pool.features @ rng.normal(size=4), pool.features @ rng.normal(size=4)
        places = crossings(pool, intercepts, slopes)
        # Only points where a winner changes.
        sides = [winners(pool, intercepts + (p + d) * slopes) for p in places for d in (-1e-9, 1e-9)]
        changes = [p for k, p in enumerate(places) if (sides[2 * k] != sides[2 * k + 1]).any()]
        for smoothing, (low, high) in itertools.product((0.05, 0.2), ((-1e6, 1e6), (-0.7, 0.9))):
            # Intervals beyond the limits do not count.
            places = [p for p in changes if low < p < high]
            middles = [(a + b) / 2 for a, b in itertools.pairwise([low, *places, high])]
            rows = [winners(pool, intercepts + x * slopes) for x in middles]
            scores = [float(maximised_score(METRIC, pool.total(found))) for found in rows]
            width = int(smoothing * len(scores))
            means = [np.mean(scores[max(i - width, 0) : i + width + 1]) for i in range(len(scores))]
            found = search(pool, METRIC, intercepts, slopes, low, high, smoothing)
            here = sum(p <= 0 for p in places)
            able = [i for i, score in enumerate(scores) if score > scores[here] + 1e-9 or i == here]
            inside = sum(found.gamma > p for p in places)
            assert inside in able and means[inside] == pytest.approx(max(means[i] for i in able))
            assert found.score == pytest.approx(scores[inside])
            assert found.start == pytest.approx(scores[here])
            passed += scores[inside] < max(scores) - 1e-9
    assert passed > 5


def test_where_in_the_best_interval() -> None:
    # A sentence whose best interval is from 1 to 3.
    statistics = np.zeros((3, 10))
    statistics[:, [BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]] = 4
    statistics[:, BleuColumns.TOTALS] = [4, 3, 2, 1]
    statistics[1, BleuColumns.MATCHES] = [4, 3, 2, 1]
    pool = PoolArrays(np.array([0, 3], dtype=np.int32), scipy.sparse.csr_array((3, 1)), statistics)
    lines = np.array([0.0, -1.0, -4.0]), np.array([0.0, 1.0, 2.0])
    assert (search(pool, METRIC, *lines).gamma, search(pool, METRIC, *lines).score) == (
        2.0,
        pytest.approx(100),
    )
    assert search(pool, METRIC, *lines, 0.0, 2.0).gamma == 1.5
    assert search(pool, METRIC, *lines, -5.0, 0.5).score == 0
    assert search(pool, METRIC, *lines, 0.0, 0.0) == search(pool, METRIC, *lines, 1.0, -1.0)
    unbounded = np.array([0.0, -1.0]), np.array([0.0, 1.0])
    two = PoolArrays(np.array([0, 2], dtype=np.int32), scipy.sparse.csr_array((2, 1)), statistics[:2])
    assert search(two, METRIC, *unbounded).gamma == 2.0
    assert search(two, METRIC, unbounded[0] + [0, 11], unbounded[1]).gamma == 0.0
