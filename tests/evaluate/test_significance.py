"""Tests of significance tests: against all permutations, for known cases, and for equal systems."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from hiero.evaluate import (
    Bleu,
    Metric,
    Runs,
    Ter,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)
from hiero.evaluate.metric import Array


def with_errors(rng: random.Random, references: list[list[str]], errors: float) -> list[str]:
    """Returns the first references with a share of their words replaced."""
    return [
        " ".join("?" if rng.random() < errors else word for word in segment[0].split())
        for segment in references
    ]


@pytest.fixture(scope="module")
def references() -> list[list[str]]:
    rng = random.Random(1)
    return [[" ".join(rng.choices("abcdefghij", k=rng.randint(4, 12)))] for _ in range(60)]


def score_runs(metric: Metric, systems: list[list[str]]) -> Runs:
    return Runs.of(metric, [metric.statistics(lines) for lines in systems])


def test_means_and_deviations(references: list[list[str]]) -> None:
    metric, rng = Bleu(references), random.Random(2)
    outputs = [with_errors(rng, references, e) for e in (0.1, 0.2, 0.3)]
    several = score_runs(metric, outputs)
    scores = [float(metric.score(metric.statistics(lines).sum(axis=0))) for lines in outputs]
    assert several.scores.tolist() == scores
    assert several.mean == pytest.approx(np.mean(scores))
    assert several.deviation == pytest.approx(np.std(scores, ddof=1))
    assert score_runs(metric, outputs[:1]).deviation == 0


@pytest.mark.parametrize("kind", [Bleu, Ter])
def test_better_worse_and_equal(kind: type[Metric], references: list[list[str]]) -> None:
    metric, rng = kind(references), random.Random(3)
    good, bad = (score_runs(metric, [with_errors(rng, references, e) for _ in range(3)]) for e in (0.1, 0.4))
    for test in (paired_bootstrap, approximate_randomization):
        assert test(metric, bad, good) == pytest.approx(1 / 1001)
        assert test(metric, good, bad) == pytest.approx(1 / 1001)
        assert test(metric, good, good) == 1
        assert test(metric, bad, good, 100) == pytest.approx(1 / 101)


def test_randomization_is_a_sample_of_all_permutations() -> None:
    rng = random.Random(4)
    references = [[" ".join(rng.choices("abc", k=6))] for _ in range(5)]
    metric = Bleu(references)
    for run_count in (1, 2):
        outputs = [[with_errors(rng, references, e) for _ in range(run_count)] for e in (0.2, 0.35)]
        a, b = (score_runs(metric, system) for system in outputs)
        observed, as_large, count = abs(b.mean - a.mean), 0, 0
        for coins in itertools.product([False, True], repeat=5):
            swap = np.array(coins).reshape(1, 5, 1)
            first = np.where(swap, b.statistics, a.statistics).sum(axis=1)
            second = np.where(swap, a.statistics, b.statistics).sum(axis=1)
            difference = metric.score(second).mean() - metric.score(first).mean()
            as_large += abs(difference) >= observed - 1e-9
            count += 1
        p = approximate_randomization(metric, a, b, trials=4000)
        assert p == pytest.approx(as_large / count, abs=0.04)


def test_bootstrap_of_one_deciding_segment() -> None:
    # The systems differ in one of n segments. The better one is not ahead in samples without this segment,
    # whose share is (1 - 1/n)^n.
    references = [["a b c d e"]] * 8
    metric = Bleu(references)
    same = ["a b c d e"] * 8
    worse = ["a b c d x", *same[1:]]
    p = paired_bootstrap(metric, score_runs(metric, [worse]), score_runs(metric, [same]), samples=4000)
    assert p == pytest.approx((1 - 1 / 8) ** 8, abs=0.03)


@pytest.mark.parametrize(("runs_of_first", "runs_of_second"), [(1, 1), (1, 3), (3, 3)])
@pytest.mark.parametrize("alike", [0.0, 0.5, 0.95])
def test_p_is_uniform_without_a_difference(
    references: list[list[str]], runs_of_first: int, runs_of_second: int, alike: float
) -> None:
    """The same holds if the runs of a system share most of their translations, as real runs do."""
    metric, rng = Bleu(references), random.Random(5)

    def system(number: int) -> Runs:
        common, *independent = (with_errors(rng, references, 0.3) for _ in range(number + 1))
        shared = [
            [c if rng.random() < alike else o for c, o in zip(common, run, strict=True)]
            for run in independent
        ]
        return score_runs(metric, shared)

    p_values = [
        approximate_randomization(metric, system(runs_of_first), system(runs_of_second), trials=200)
        for _ in range(200)
    ]
    for share in (0.1, 0.5, 0.9):
        assert np.mean(np.array(p_values) <= share) == pytest.approx(share, abs=0.1)


def test_seeds_and_numbers_of_runs(references: list[list[str]]) -> None:
    metric, rng = Bleu(references), random.Random(6)
    one = score_runs(metric, [with_errors(rng, references, 0.30)])
    three = score_runs(metric, [with_errors(rng, references, 0.29) for _ in range(3)])
    for test in (paired_bootstrap, approximate_randomization):
        assert test(metric, one, three, seed=1) == test(metric, one, three, seed=1)
        assert test(metric, one, three, seed=1) != test(metric, one, three, seed=2)
    two = score_runs(metric, [with_errors(rng, references, 0.3) for _ in range(2)])
    with pytest.raises(ValueError, match="2 runs cannot be paired with 3"):
        approximate_randomization(metric, two, three)
    fewer = Runs(one.statistics[:, 1:], one.scores)
    for test in (paired_bootstrap, approximate_randomization):
        with pytest.raises(ValueError, match=rf"{metric.segments} segments cannot be paired with"):
            test(metric, one, fewer)


def random_statistics(rng: np.random.Generator, segments: int) -> Array:
    """Draws rows of BLEU statistics from one population."""
    lengths = rng.integers(5, 30, (segments, 1)).astype(np.float64)
    matched = rng.binomial(lengths.astype(int), 0.6)
    orders = [np.maximum(lengths - n, 0) for n in range(4)]
    matches = [rng.binomial(np.minimum(matched, o).astype(int), 0.8**n) for n, o in enumerate(orders)]
    return np.concatenate([lengths, lengths, *orders, *matches], axis=1)


def test_intervals_hold_what_they_say() -> None:
    rng = np.random.default_rng(7)
    metric = Bleu([["a"]] * 200)
    population = float(metric.score(random_statistics(rng, 400_000).sum(axis=0)))
    intervals = [
        confidence_interval(metric, Runs.of(metric, random_statistics(rng, 200)[None]), 300, trial)
        for trial in range(200)
    ]
    assert 180 <= sum(low <= population <= high for low, high in intervals) <= 199
    # For several runs it is the interval of their mean, over the same segments.
    rows = random_statistics(rng, 200)
    one = confidence_interval(metric, Runs.of(metric, rows[None]))
    assert one == confidence_interval(metric, Runs.of(metric, np.stack([rows, rows])))
