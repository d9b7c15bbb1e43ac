"""MERT on pools of lists and of forests with a known answer, and its options."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from hiero import Forest
from hiero.evaluate import Bleu, Chrf, Metric, Ter
from hiero.evaluate.tokens import Hypotheses
from hiero.forest.losses import BleuColumns
from hiero.tune.methods.mert import MertOptions, hypergraph_mert, mert
from hiero.tune.methods.mert.climb import climb
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.limits import Limits
from hiero.tune.run.objective import Mix, maximised_score
from support.brute_force_forest import (
    WORDS,
    derivation_value,
    derivation_words,
    derivations,
    small_random_forest,
)
from support.paths import DOCS
from support.random_pools import METRIC, random_pool


def solved(pool: PoolArrays, start: list[float], **options: object) -> tuple[np.ndarray, float]:  # type: ignore[type-arg]
    """Returns the weights that one exact climb finds, and their score."""
    width = len(start)
    arguments = {
        "limits": Limits.unlimited(width),
        "seed": 1,
        "threads": 1,
        "options": MertOptions(smoothing=0, restarts=0),
        **options,
    }
    weights = mert(pool, METRIC, np.array(start), **arguments).weights  # type: ignore[arg-type]
    return weights, float(maximised_score(METRIC, pool.total(pool.winners(weights))))


def hidden_pool(rng: np.random.Generator, best: np.ndarray, sentences: int = 30) -> PoolArrays:  # type: ignore[type-arg]
    """Makes a pool in which only the winners by the weights ``best`` match the references."""
    features = rng.normal(size=(sentences * 20, len(best)))
    offsets = np.arange(sentences + 1, dtype=np.int32) * 20
    statistics = np.zeros((len(features), BleuColumns.WIDTH))
    statistics[:, [BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]] = 4
    statistics[:, BleuColumns.TOTALS] = [4, 3, 2, 1]
    pool = PoolArrays(offsets, scipy.sparse.csr_array(features), statistics)
    rows = pool.winners(best)
    statistics[:, BleuColumns.MATCHES] = [2, 1, 0, 0]
    statistics[rows, BleuColumns.MATCHES] = [4, 3, 2, 1]
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
        start = float(maximised_score(METRIC, pool.total(pool.winners(np.array([1.0, 0.5, -1.0, 0.0])))))
        assert one[1] >= start
    with pytest.raises(ValueError, match="all weights are zero"):
        solved(pool, [0.0] * 4)


def test_fixed_features_and_bounds() -> None:
    rng = np.random.default_rng(5)
    pool = hidden_pool(rng, np.array([1.0, -2.0, 0.5]))
    bounds = np.array([[-np.inf, np.inf], [0.0, 3.0], [-0.25, 0.25]])
    weights, _ = solved(pool, [1.0, 1.0, 0.1], limits=Limits([1, 2], bounds))
    assert weights[0] == 1.0 and 0 <= weights[1] <= 3 and abs(weights[2]) <= 0.25
    only, score = solved(pool, [1.0, 1.0, 0.1], limits=Limits.unlimited(3).narrowed([1]))
    assert only[[0, 2]].tolist() == [1.0, 0.1]
    grid = [
        float(maximised_score(METRIC, pool.total(pool.winners(np.array([1.0, x, 0.1])))))
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
        assert float(maximised_score(mix, mix.statistics(lines).sum(axis=0))) == pytest.approx(expected)
    with pytest.raises(ValueError, match="one metric or more"):
        Mix([])
    with pytest.raises(ValueError, match="one set"):
        Mix([(1.0, Bleu(references)), (1.0, Bleu(references[:1]))])


def test_features_that_tell_nothing_are_left_alone() -> None:
    rng = np.random.default_rng(6)
    pool = hidden_pool(rng, np.array([1.0, -2.0, 0.5]))
    constant = np.repeat(rng.normal(size=pool.instances), np.diff(pool.offsets))
    columns = np.column_stack([pool.features.toarray(), constant, np.zeros(len(pool))])
    wider = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns), pool.statistics)
    weights, score = solved(wider, [1.0, 1.0, 1.0, 0.5, 0.25])
    assert score == pytest.approx(100)
    # All weights are scaled together in the end.
    assert weights[3] / weights[4] == pytest.approx(2) and np.abs(weights).sum() == pytest.approx(3.75)
    flat = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns[:, 3:]), pool.statistics)
    assert solved(flat, [0.5, 0.25])[0].tolist() == [0.5, 0.25]


def test_the_mean_of_climbs() -> None:
    pool = random_pool(np.random.default_rng(9), 4)
    start, limits = np.array([1.0, 0.5, -1.0, 0.25]), Limits.unlimited(4)
    options = MertOptions(restarts=2, directions=4, smoothing=0.0)
    many = mert(pool, METRIC, start, limits=limits, seed=3, options=options)

    def lines(weights: np.ndarray, direction: np.ndarray) -> tuple[PoolArrays, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        return pool, pool.features @ weights, pool.features @ direction

    climbs = [climb(lines, METRIC, start, limits=limits, seed=[3, n], options=options) for n in range(3)]
    ends = [c.weights / np.abs(c.weights).sum() for c in climbs]
    assert not np.allclose(ends[0], ends[1])
    mean = np.mean(ends, axis=0)
    assert many.weights == pytest.approx(mean / np.abs(mean).sum() * 2.75)
    assert many.searches == sum(c.searches for c in climbs)


def documented_climbs(method: str) -> int:
    (row,) = [
        line for line in (DOCS / "tuning.md").read_text().splitlines() if line.startswith(f"| `{method}` |")
    ]
    found = re.search(r"the mean of (\d+) climbs", row)
    assert found is not None
    return int(found[1])


def test_as_many_climbs_as_documented() -> None:
    start = np.array([1.0, 0.5, -1.0, 0.25])
    shared: dict[str, Any] = {"limits": Limits.unlimited(4), "seed": 3}
    pool = random_pool(np.random.default_rng(9), 4)
    rng = random.Random(3)
    sets = [[small_random_forest(rng, 200)] for _ in range(6)]
    sets = [[forest for forest in forests if derivations(forest)] for forests in sets]
    metric = Bleu([[" ".join(rng.choices(WORDS, k=6))] for _ in sets])
    width = next(forest for forests in sets for forest in forests).features.shape[1]
    forest_settings = {**shared, "limits": Limits.unlimited(width)}
    for climbs, tuned in (
        (documented_climbs("mert"), lambda options: mert(pool, METRIC, start, options=options, **shared)),
        (
            documented_climbs("hypergraph-mert"),
            lambda options: hypergraph_mert(sets, metric, start[:width], options=options, **forest_settings),
        ),
    ):
        # Four random directions in a round, and a tenth of all intervals on either side.
        found = [
            tuned(MertOptions(restarts=restarts, directions=4, smoothing=0.1))
            for restarts in (climbs - 2, climbs - 1, climbs)
        ]
        given = tuned(None)
        assert given.weights.tolist() == found[1].weights.tolist() and given.searches == found[1].searches
        assert found[0].searches < given.searches < found[2].searches


def test_a_direction_of_nothing_keeps_none_from_being_taken() -> None:
    # Along a direction that changes nothing the smoothed score is the exact one, which is higher.
    rng = np.random.default_rng(10)
    for _ in range(10):
        pool = hidden_pool(rng, np.array([1.0, 0.0]), sentences=60)
        columns = np.column_stack([pool.features.toarray(), np.zeros(len(pool))])
        wider = PoolArrays(pool.offsets, scipy.sparse.csr_array(columns), pool.statistics)

        def lines(weights: np.ndarray, direction: np.ndarray) -> tuple[PoolArrays, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
            return wider, wider.features @ weights, wider.features @ direction  # noqa: B023

        start = np.array([1.0, 0.1, 1.0])
        limits, options = Limits.unlimited(3).narrowed([1, 2]), MertOptions(directions=0, smoothing=0.2)
        for seed in range(4):  # in both orders
            found = climb(lines, METRIC, start, limits=limits, seed=[seed], options=options)
            assert found.weights[1] != start[1]


def test_hypergraph_mert_is_mert_on_all_derivations() -> None:
    rng = random.Random(8)
    moved = 0
    for seed in range(12):
        # Several forests of each sentence, as iterations leave them.
        sets = [
            [f for f in (small_random_forest(rng, 200) for _ in range(3)) if derivations(f)] for _ in range(6)
        ]
        metric = Bleu([[" ".join(rng.choices(WORDS, k=6))] for _ in sets])
        pool = _all_derivations(sets, metric)
        columns = pool.features.toarray()
        width = columns.shape[1]
        start = np.array([1.0, -0.5, 0.25, 0.5])[:width]
        shared = {"limits": Limits.unlimited(width), "seed": seed}
        lists, forests = (
            mert(pool, metric, start, options=MertOptions(restarts=2, directions=3, smoothing=0.0), **shared),  # type: ignore[arg-type]
            hypergraph_mert(
                sets, metric, start, options=MertOptions(restarts=2, directions=3, smoothing=0.0), **shared
            ),  # type: ignore[arg-type]
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
                rows.append([derivation_value(column, derivation) for column in columns])
                text = Hypotheses.from_tokens([derivation_words(forest, derivation)])
                statistics.append(metric.token_statistics([sentence], text)[0])
        offsets.append(len(rows))
    return PoolArrays(np.array(offsets, dtype=np.int32), scipy.sparse.csr_array(rows), np.array(statistics))
