"""Line search and MERT: against trying every breakpoint and a dense grid, and pools with a known answer."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from brute_force_forest import WORDS, derivations, small_random_forest, total, words

from hiero import Forest
from hiero._core import line_search
from hiero.evaluate import Bleu, Chrf, Metric, Ter
from hiero.evaluate.metrics import Hypotheses
from hiero.tune.hypergraph_mert import hypergraph_mert, pruned
from hiero.tune.mert import MertOptions, climb, mert, search
from hiero.tune.objective import Mix, gain
from hiero.tune.pool import PoolArrays

METRIC = Bleu([["a"]])
EXACT = [0.0, 0.5, 1.0, -0.5, -1.0, 2.0]


def random_pool(rng: np.random.Generator, features: int, integers: bool = False) -> PoolArrays:
    """Pools of a few sentences, some without hypotheses; with integers, full of ties and parallels."""
    sizes = rng.integers(0, 8, rng.integers(1, 6))
    sizes[0] += 1
    count = int(sizes.sum())
    values = rng.integers(-2, 3, (count, features)) if integers else rng.normal(size=(count, features))
    lengths = rng.integers(1, 9, count).astype(float)
    statistics = np.zeros((count, 10))
    statistics[:, 0], statistics[:, 1] = lengths, np.repeat(rng.integers(1, 9, len(sizes)), sizes)
    for n in range(4):
        statistics[:, 2 + n] = np.maximum(lengths - n, 0)
        statistics[:, 6 + n] = rng.binomial(statistics[:, 2 + n].astype(int), 0.6)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return PoolArrays(offsets, scipy.sparse.csr_array(values.astype(float)), statistics)


def winners(pool: PoolArrays, scores: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    rows = [a + int(scores[a:b].argmax()) if b > a else -1 for a, b in itertools.pairwise(pool.offsets)]
    return np.array(rows, dtype=np.int32)


def crossings(pool: PoolArrays, intercepts: np.ndarray, slopes: np.ndarray) -> list[float]:  # type: ignore[type-arg]
    """Where any two hypotheses of a sentence score the same."""
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
        sentence = np.repeat(np.arange(pool.sentences), np.diff(pool.offsets))
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
    # So many that those that cannot win are left out before sorting.
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
            return float(gain(METRIC, pool.total(rows)))  # noqa: B023

        assert low <= found.gamma <= high
        places = crossings(pool, intercepts, slopes)
        edges = [max(low, -1e6), *(p for p in places if low < p < high), min(high, 1e6)]
        # Between all breakpoints, and a dense grid.
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
        # Only those where a winner changes.
        sides = [winners(pool, intercepts + (p + d) * slopes) for p in places for d in (-1e-9, 1e-9)]
        changes = [p for k, p in enumerate(places) if (sides[2 * k] != sides[2 * k + 1]).any()]
        for smoothing, (low, high) in itertools.product((0.05, 0.2), ((-1e6, 1e6), (-0.7, 0.9))):
            # What is beyond the limits does not count.
            places = [p for p in changes if low < p < high]
            middles = [(a + b) / 2 for a, b in itertools.pairwise([low, *places, high])]
            rows = [winners(pool, intercepts + x * slopes) for x in middles]
            scores = [float(gain(METRIC, pool.total(found))) for found in rows]
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
    # One sentence, best from 1 to 3.
    statistics = np.zeros((3, 10))
    statistics[:, 0:2] = 4
    statistics[:, 2:6] = [4, 3, 2, 1]
    statistics[1, 6:10] = [4, 3, 2, 1]
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


def solved(pool: PoolArrays, start: list[float], **options: object) -> tuple[np.ndarray, float]:  # type: ignore[type-arg]
    """The weights that one exact climb finds, and their score."""
    width = len(start)
    arguments = {
        "free": list(range(width)),
        "bounds": np.tile([-np.inf, np.inf], (width, 1)),
        "seed": 1,
        "threads": 1,
        "options": MertOptions(smoothing=0, restarts=0),
        **options,
    }
    weights = mert(pool, METRIC, np.array(start), **arguments).weights  # type: ignore[arg-type]
    return weights, float(gain(METRIC, pool.total(pool.winners(weights))))


def hidden_pool(rng: np.random.Generator, best: np.ndarray, sentences: int = 30) -> PoolArrays:  # type: ignore[type-arg]
    """Pools in which the winners by the weights ``best`` are the only ones that match."""
    features = rng.normal(size=(sentences * 20, len(best)))
    offsets = np.arange(sentences + 1, dtype=np.int32) * 20
    statistics = np.zeros((len(features), 10))
    statistics[:, 0:2] = 4
    statistics[:, 2:6] = [4, 3, 2, 1]
    pool = PoolArrays(offsets, scipy.sparse.csr_array(features), statistics)
    rows = pool.winners(best)
    statistics[:, 6:10] = [2, 1, 0, 0]
    statistics[rows, 6:10] = [4, 3, 2, 1]
    return pool


def test_known_weights_are_found() -> None:
    rng = np.random.default_rng(3)
    for width in (2, 4, 6):
        best = rng.normal(size=width)
        weights, score = solved(hidden_pool(rng, best), [1.0] * width)
        assert score == pytest.approx(100)
        assert np.abs(weights).sum() == pytest.approx(width)
        cosine = weights @ best / np.linalg.norm(weights) / np.linalg.norm(best)
        assert cosine > 0.95


def test_threads_seeds_and_the_start() -> None:
    rng = np.random.default_rng(4)
    pool = random_pool(rng, 4)
    for seed in range(5):
        one, two = (solved(pool, [1.0, 0.5, -1.0, 0.0], seed=seed, threads=t) for t in (1, 2))
        means = [
            solved(pool, [1.0, 0.5, -1.0, 0.0], seed=seed, threads=t, options=MertOptions(restarts=5))[0]
            for t in (1, 2)
        ]
        assert means[0].tolist() == means[1].tolist()
        assert one[0].tolist() == two[0].tolist()
        start = float(gain(METRIC, pool.total(pool.winners(np.array([1.0, 0.5, -1.0, 0.0])))))
        assert one[1] >= start
    with pytest.raises(ValueError, match="all weights are zero"):
        solved(pool, [0.0] * 4)


def test_fixed_features_and_bounds() -> None:
    rng = np.random.default_rng(5)
    pool = hidden_pool(rng, np.array([1.0, -2.0, 0.5]))
    bounds = np.array([[-np.inf, np.inf], [0.0, 3.0], [-0.25, 0.25]])
    weights, _ = solved(pool, [1.0, 1.0, 0.1], free=[1, 2], bounds=bounds)
    assert weights[0] == 1.0 and 0 <= weights[1] <= 3 and abs(weights[2]) <= 0.25
    only, score = solved(pool, [1.0, 1.0, 0.1], free=[1])
    assert only[[0, 2]].tolist() == [1.0, 0.1]
    grid = [
        float(gain(METRIC, pool.total(pool.winners(np.array([1.0, x, 0.1])))))
        for x in np.linspace(-9, 9, 999)
    ]
    assert score >= max(grid) - 1e-9


def test_mixed_metrics() -> None:
    references = [["a b c d"], ["e f"]]
    parts: list[tuple[float, Metric]] = [
        (0.5, Bleu(references)),
        (0.25, Ter(references)),
        (0.25, Chrf(references)),
    ]
    mix = Mix(parts)
    rng = random.Random(1)
    for _ in range(20):
        lines = [" ".join(rng.choices("abcdef", k=4)), " ".join(rng.choices("ef", k=2))]
        scores = [float(m.score(m.statistics(lines).sum(axis=0))) for _, m in parts]
        expected = 0.5 * scores[0] + 0.25 * (100 - scores[1]) + 0.25 * scores[2]
        assert float(gain(mix, mix.statistics(lines).sum(axis=0))) == pytest.approx(expected)
    with pytest.raises(ValueError, match="one metric or more"):
        Mix([])
    with pytest.raises(ValueError, match="one set"):
        Mix([(1.0, Bleu(references)), (1.0, Bleu(references[:1]))])


def test_features_that_tell_nothing_are_left_alone() -> None:
    rng = np.random.default_rng(6)
    pool = hidden_pool(rng, np.array([1.0, -2.0, 0.5]))
    constant = np.repeat(rng.normal(size=pool.sentences), np.diff(pool.offsets))
    columns = np.column_stack([pool.features.toarray(), constant, np.zeros(len(pool))])
    wider = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns), pool.statistics)
    weights, score = solved(wider, [1.0, 1.0, 1.0, 0.5, 0.25])
    assert score == pytest.approx(100)
    # All are scaled together in the end.
    assert weights[3] / weights[4] == pytest.approx(2) and np.abs(weights).sum() == pytest.approx(3.75)
    flat = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns[:, 3:]), pool.statistics)
    assert solved(flat, [0.5, 0.25])[0].tolist() == [0.5, 0.25]


def test_the_mean_of_climbs() -> None:
    pool = random_pool(np.random.default_rng(9), 4)
    start, bounds = np.array([1.0, 0.5, -1.0, 0.25]), np.tile([-np.inf, np.inf], (4, 1))
    many = mert(pool, METRIC, start, free=range(4), bounds=bounds, seed=3, options=MertOptions(2, 4, 0.0))

    def lines(weights: np.ndarray, direction: np.ndarray) -> tuple[PoolArrays, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        return pool, pool.features @ weights, pool.features @ direction

    settings = {"free": range(4), "bounds": bounds, "directions": 4, "smoothing": 0.0}
    climbs = [climb(lines, METRIC, start, seed=[3, n], **settings) for n in range(3)]  # type: ignore[arg-type]
    ends = [c.weights / np.abs(c.weights).sum() for c in climbs]
    assert not np.allclose(ends[0], ends[1])
    mean = np.mean(ends, axis=0)
    assert many.weights == pytest.approx(mean / np.abs(mean).sum() * 2.75)
    assert many.searches == sum(c.searches for c in climbs)


def documented_climbs(method: str) -> int:
    (row,) = [
        line
        for line in (Path(__file__).parent.parent / "docs" / "tuning.md").read_text().splitlines()
        if line.startswith(f"| `{method}` |")
    ]
    found = re.search(r"the mean of (\d+) climbs", row)
    assert found is not None
    return int(found[1])


def test_as_many_climbs_as_documented() -> None:
    start, bounds = np.array([1.0, 0.5, -1.0, 0.25]), np.tile([-np.inf, np.inf], (4, 1))
    shared: dict[str, Any] = {"free": range(4), "bounds": bounds, "seed": 3}
    pool = random_pool(np.random.default_rng(9), 4)
    rng = random.Random(3)
    sets = [[small_random_forest(rng, 200)] for _ in range(6)]
    sets = [[forest for forest in forests if derivations(forest)] for forests in sets]
    metric = Bleu([[" ".join(rng.choices(WORDS, k=6))] for _ in sets])
    width = next(forest for forests in sets for forest in forests).features.shape[1]
    forest_settings = {**shared, "free": range(width), "bounds": bounds[:width]}
    for climbs, tuned in (
        (documented_climbs("mert"), lambda options: mert(pool, METRIC, start, options=options, **shared)),
        (
            documented_climbs("hypergraph-mert"),
            lambda options: hypergraph_mert(sets, metric, start[:width], options=options, **forest_settings),
        ),
    ):
        # Four random directions a round, and a tenth of all intervals on either side.
        found = [tuned(MertOptions(restarts, 4, 0.1)) for restarts in (climbs - 2, climbs - 1, climbs)]
        given = tuned(None)
        assert given.weights.tolist() == found[1].weights.tolist() and given.searches == found[1].searches
        assert found[0].searches < given.searches < found[2].searches


def test_a_direction_of_nothing_keeps_none_from_being_taken() -> None:
    # Along it the smoothed score is the exact one, higher than the smoothed score along any other.
    rng = np.random.default_rng(10)
    for _ in range(10):
        pool = hidden_pool(rng, np.array([1.0, 0.0]), sentences=60)
        columns = np.column_stack([pool.features.toarray(), np.zeros(len(pool))])
        wider = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns), pool.statistics)

        def lines(weights: np.ndarray, direction: np.ndarray) -> tuple[PoolArrays, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
            return wider, wider.features @ weights, wider.features @ direction  # noqa: B023

        start = np.array([1.0, 0.1, 1.0])
        settings = {"free": [1, 2], "bounds": np.tile([-np.inf, np.inf], (3, 1)), "directions": 0}
        for seed in range(4):  # in both orders
            found = climb(lines, METRIC, start, seed=[seed], smoothing=0.2, **settings)  # type: ignore[arg-type]
            assert found.weights[1] != start[1]


def test_hypergraph_mert_is_mert_on_all_derivations() -> None:
    rng = random.Random(8)
    moved = 0
    for seed in range(12):
        # Of one sentence several forests, as iterations leave them.
        sets = [
            [f for f in (small_random_forest(rng, 200) for _ in range(3)) if derivations(f)] for _ in range(6)
        ]
        metric = Bleu([[" ".join(rng.choices(WORDS, k=6))] for _ in sets])
        pool = _all_derivations(sets, metric)
        columns = pool.features.toarray()
        width = columns.shape[1]
        start = np.array([1.0, -0.5, 0.25, 0.5])[:width]
        shared = {"free": range(width), "bounds": np.tile([-np.inf, np.inf], (width, 1)), "seed": seed}
        lists, forests = (
            mert(pool, metric, start, options=MertOptions(2, 3, 0.0), **shared),  # type: ignore[arg-type]
            hypergraph_mert(sets, metric, start, options=MertOptions(2, 3, 0.0), **shared),  # type: ignore[arg-type]
        )
        assert forests.weights == pytest.approx(lists.weights) and forests.searches == lists.searches
        moved += not np.allclose(lists.weights, start)
    assert moved > 8


def _all_derivations(sets: list[list[Forest]], metric: Metric) -> PoolArrays:
    rows, statistics, offsets = [], [], [0]
    for sentence, forests in enumerate(sets):
        for forest in forests:
            columns = forest.features.toarray().T
            for derivation in derivations(forest):
                rows.append([total(column, derivation) for column in columns])
                text = Hypotheses.of_tokens([words(forest, derivation)])
                statistics.append(metric.token_statistics([sentence], text)[0])
        offsets.append(len(rows))
    return PoolArrays(np.array(offsets, dtype=np.int32), scipy.sparse.csr_array(rows), np.array(statistics))


def test_forests_are_pruned_to_a_size_and_no_further() -> None:
    """Margins fall by three tenths from 8; the first that leaves few enough edges is taken."""
    margins = [8.0 * 0.7**n for n in range(60)]
    steps = set()
    for seed in range(150):
        rng = random.Random(seed)
        forest = small_random_forest(rng, most=10**6, nodes=9)
        weights = np.array([rng.gauss(0, rng.choice([0.5, 5])) for _ in forest.feature_names])
        scores = forest.scores(weights)
        if forest.edge_count < 4:
            continue
        sizes = [forest.prune(scores, margin=margin).edge_origins.tolist() for margin in margins]
        for most in (1, forest.edge_count // 2, forest.edge_count - 1):
            fitting = [n for n, edges in enumerate(sizes) if len(edges) <= most]
            small = pruned(forest, weights, most)
            assert small.edge_origins.tolist() == sizes[fitting[0] if fitting else -1]
            steps.add(fitting[0] if fitting else None)
        assert pruned(forest, weights, forest.edge_count) is forest
        least = pruned(forest, weights, 1)
        best = least.viterbi(least.scores(weights))
        assert best is not None and best.score == pytest.approx(forest.viterbi(scores).score)
    assert len(steps) > 10
