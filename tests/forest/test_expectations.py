"""Tests of expectations and gradients: by hand, against all derivations, finite differences and the plain
algorithm."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from hiero import Forest, FormatError
from hiero import forest as hf
from hiero._core import bleu
from hiero.forest import LogLinear
from support.brute_force_forest import derivation_value, derivations, small_random_forest
from support.finite_differences import slope
from support.seeds import each_seed

METHODS: list[hf.Method] = ["inside-outside", "inside"]


@pytest.fixture
def toy() -> Forest:
    """The forest in Figure 1 of Li and Eisner (2009), with four derivations of 垫子 上 的 猫.

    Nodes: X[0,2] the mat, X[3,4] a cat, X[0,4] a cat ... the mat, X[0,4] the mat ... a cat, the goal.
    """
    words = ["the", "mat", "a", "cat", "on", "of", "'s"]
    return Forest.from_arrays(
        source=["垫子", "上", "的", "猫"],
        node_spans=[[0, 2], [3, 4], [0, 4], [0, 4], [0, 4]],
        node_labels=[0, 0, 0, 0, 1],
        labels=["X", "S"],
        edge_offsets=[0, 1, 2, 4, 6, 8],
        tail_offsets=[0, 0, 0, 2, 4, 6, 8, 9, 10],
        tails=[0, 1, 0, 1, 0, 1, 0, 1, 2, 3],
        words=words,
        edge_targets=[0, 1, 2, 3, 4, 5, 6, 6],
        target_offsets=[0, 2, 4, 7, 10, 13, 15, 16],
        target_symbols=[0, 1, 2, 3, -2, 4, -1, -2, 5, -1, -1, 6, -2, -1, -2, -1],
    )


# Scores by which the derivations with on, of, 's and nothing have weights 2, 1, 3 and 2, and Z = 8.
SCORES = np.log([1, 1, 2, 1, 3, 2, 1, 1])
LENGTHS = [2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("method", METHODS)
def test_toy_forest_by_hand(toy: Forest, method: hf.Method) -> None:
    p = toy.distribution(SCORES)
    assert {d.text: round(math.exp(d.score)) for d in toy.kbest(9, SCORES)} == {
        "a cat on the mat": 2,
        "a cat of the mat": 1,
        "the mat 's a cat": 3,
        "the mat a cat": 2,
    }
    assert math.exp(p.log_z) == pytest.approx(8)
    # Three quarters have 5 words, one quarter 4.
    assert float(hf.expectation(p, LENGTHS, method)) == pytest.approx(4.75)
    assert float(hf.variance(p, LENGTHS, method)) == pytest.approx(0.75 * 0.25**2 + 0.25 * 0.75**2)
    expected_entropy = math.log(8) - (2 * math.log(2) + 3 * math.log(3) + 2 * math.log(2)) / 8
    assert hf.entropy(p, method) == pytest.approx(expected_entropy)
    # For the reference "a cat on the mat", each derivation without "on" has loss 1.
    loss = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert hf.risk(p, loss, method) == pytest.approx(6 / 8)
    uniform = toy.distribution(np.zeros(8))
    assert hf.cross_entropy(uniform, p, method) == pytest.approx(
        math.log(8) - (math.log(2) + math.log(3) + math.log(2)) / 4
    )
    assert hf.kl_divergence(p, uniform, method) == pytest.approx(math.log(4) - expected_entropy)
    # The covariance of the length and of "a cat comes first", which has expectation 3/8 and always 5 words.
    first = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert float(hf.covariance(p, LENGTHS, first, method)) == pytest.approx(5 * 3 / 8 - 4.75 * 3 / 8)


def enumerate_derivations(
    forest: Forest, scores: np.ndarray[Any, Any]
) -> tuple[list[tuple[int, ...]], np.ndarray[Any, Any]]:
    all_of_them = derivations(forest)
    logs = np.array([derivation_value(scores, d) for d in all_of_them])
    weights = np.exp(logs - logs.max())
    return all_of_them, weights / weights.sum()


def sums(values: np.ndarray[Any, Any], all_of_them: list[tuple[int, ...]]) -> np.ndarray[Any, Any]:
    return np.array([values[list(d)].sum(axis=0) for d in all_of_them])


@each_seed(range(300))
def test_expectations_by_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = small_random_forest(random.Random(seed), most=500)
    scale = rng.choice([1.0, 1000.0])
    scores = scale * rng.normal(size=forest.edge_count)
    other = scores + rng.normal(size=forest.edge_count)
    all_of_them, p = enumerate_derivations(forest, scores)
    _, q = enumerate_derivations(forest, other)
    one, two = forest.distribution(scores), forest.distribution(other)
    r, s = rng.normal(size=(forest.edge_count, 2)), rng.normal(size=(forest.edge_count, 3))
    s[rng.random(s.shape) < 0.5] = 0
    rd, sd = sums(r, all_of_them), sums(s, all_of_them)
    mean_r, mean_s = p @ rd, p @ sd
    cov = np.einsum("d,di,dj->ij", p, rd - mean_r, sd - mean_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        h = -np.where(p > 0, p * np.log(p), 0).sum()
        kl = np.where(p > 0, p * (np.log(p) - np.log(q)), 0).sum()
    close = {"rel": 1e-9, "abs": 1e-9 * max(1, np.abs(rd).max() * np.abs(sd).max())}
    for method in METHODS if seed % 5 == 0 else METHODS[:1]:
        assert hf.expectation(one, r, method) == pytest.approx(mean_r, **close)
        assert hf.expectation(one, scipy.sparse.csr_array(r), method) == pytest.approx(mean_r, **close)
        assert float(hf.expectation(one, r[:, 0], method)) == pytest.approx(mean_r[0], **close)
        assert hf.covariance(one, r, s, method) == pytest.approx(cov, **close)
        assert hf.covariance(one, s, r, method) == pytest.approx(cov.T, **close)
        assert hf.covariance(one, scipy.sparse.csr_array(s), r, method) == pytest.approx(cov.T, **close)
        assert hf.covariance(one, r[:, 1], s, method) == pytest.approx(cov[1], **close)
        assert hf.covariance(one, s, r[:, 1], method) == pytest.approx(cov[1], **close)
        variance = p @ (rd - mean_r) ** 2
        assert hf.variance(one, r, method) == pytest.approx(variance, **close)
        assert float(hf.variance(one, r[:, 1], method)) == pytest.approx(variance[1], **close)
        big = 1e-12 * scale * 100
        assert hf.entropy(one, method) == pytest.approx(h, rel=1e-9, abs=1e-9 + big)
        assert hf.kl_divergence(one, two, method) == pytest.approx(kl, rel=1e-9, abs=1e-9 + big)
        assert hf.cross_entropy(one, two, method) == pytest.approx(h + kl, rel=1e-9, abs=1e-9 + big)


def central_differences(
    value: Callable[[np.ndarray[Any, Any]], Any], at: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Computes central differences of a function of a vector."""
    step = 1e-5
    rows = []
    for i in range(len(at)):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        rows.append((value(up) - value(down)) / (2 * step))
    return np.array(rows)


@each_seed(range(120))
def test_gradients_are_those_of_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = small_random_forest(random.Random(seed), most=500)
    theta = 0.5 * rng.normal(size=len(forest.feature_names))
    gamma = float(rng.uniform(0.3, 2))
    loss = rng.normal(size=forest.edge_count)
    model = LogLinear(forest, theta, gamma)
    cases: list[tuple[Callable[..., hf.Gradient], Callable[[LogLinear], float]]] = [
        (hf.log_z_gradient, lambda m: m.p.log_z),
        (lambda m, method="inside-outside": hf.risk_gradient(m, loss, method), lambda m: hf.risk(m.p, loss)),
        (hf.entropy_gradient, lambda m: hf.entropy(m.p)),
    ]
    for gradient, value in cases:
        for method in METHODS if seed % 5 == 0 else METHODS[:1]:
            got = gradient(model, method=method)
            close = {"rel": 1e-5, "abs": 1e-6 * (1 + np.abs(got.theta).max())}
            assert got.value == pytest.approx(value(model))
            by_theta = central_differences(lambda x, v=value: v(LogLinear(forest, x, gamma)), theta)  # type: ignore[misc]
            assert got.theta == pytest.approx(by_theta, **close)
            by_gamma = central_differences(
                lambda g, v=value: v(LogLinear(forest, theta, float(g[0]))),
                np.array([gamma]),  # type: ignore[misc]
            )
            assert got.gamma == pytest.approx(by_gamma[0], **close)
            # The derivative in gamma in another form (Li and Eisner 2009, equation 16).
            assert got.gamma == pytest.approx(theta @ got.theta / gamma)
    for method in METHODS if seed % 5 == 0 else METHODS[:1]:
        hessian = hf.log_z_hessian(model, method)
        expected = central_differences(lambda x: hf.log_z_gradient(LogLinear(forest, x, gamma)).theta, theta)
        assert hessian == pytest.approx(expected, rel=1e-4, abs=1e-5 * (1 + np.abs(hessian).max()))
        assert hessian == pytest.approx(hessian.T)


@each_seed(range(50))
def test_divergence_of_distributions_far_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = small_random_forest(random.Random(seed), most=500)
    one, two = rng.normal(size=forest.edge_count), 3000 * rng.normal(size=forest.edge_count)
    logs = []
    for scores in (one, two):
        totals = sums(scores, derivations(forest))
        logs.append(totals - np.logaddexp.reduce(totals))
    divergence = hf.kl_divergence(forest.distribution(one), forest.distribution(two))
    assert divergence == pytest.approx(np.exp(logs[0]) @ (logs[0] - logs[1]), rel=1e-9, abs=1e-9)


def test_weights_by_name_and_bad_arguments(toy: Forest) -> None:
    forest = small_random_forest(random.Random(3), most=500)
    theta = [0.5, -1.0, 2.0, 0.25]
    named = LogLinear(forest, dict(zip(forest.feature_names, theta, strict=True)))
    assert named.p.log_z == LogLinear(forest, theta).p.log_z
    assert LogLinear(forest, {"f1": 2.0}).theta.tolist() == [0.0, 2.0, 0.0, 0.0]
    with pytest.raises(FormatError, match=r"no such feature: x \(features: f0, f1, f2, f3\)"):
        _ = LogLinear(forest, {"f0": 1.0, "x": 1.0}).p
    p = toy.distribution(SCORES)
    for values in ([1.0], np.zeros((8, 1, 1)), np.zeros((1, 8)), [math.nan] * 8):
        with pytest.raises(ValueError, match="values: expected"):
            hf.expectation(p, values)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="values: expected finite numbers"):
            hf.expectation(p, scipy.sparse.csr_array([[bad]] * 8))
    with pytest.raises(ValueError, match="different forests"):
        hf.cross_entropy(p, named.p)
    impossible = toy.distribution(np.where(np.arange(8) == 2, -np.inf, SCORES))
    assert hf.kl_divergence(p, impossible) == hf.cross_entropy(p, impossible) == math.inf
    assert hf.kl_divergence(impossible, p) == pytest.approx(math.log(8 / 6))
    assert hf.entropy(impossible) == pytest.approx(math.log(6) - (3 * math.log(3) + 2 * math.log(2)) / 6)


@each_seed(range(100))
def test_variance_and_its_gradient(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300)
    weights = np.array([rng.gauss(0, 1) for _ in range(4)])
    model = LogLinear(forest, weights, gamma=rng.uniform(0.3, 2))
    r = np.array([rng.gauss(3, 1) for _ in range(forest.edge_count)])
    every = [list(d) for d in derivations(forest)]
    p = np.exp([derivation_value(model.gamma * model.scores, tuple(d)) for d in every])
    p /= p.sum()
    sums = np.array([r[d].sum() for d in every])
    moments = model.p.edge_second_moments(r)
    for edge in range(forest.edge_count):
        uses = [d.count(edge) for d in every]
        assert moments[edge] == pytest.approx(float((p * uses) @ np.square(sums)))
    gradient = hf.variance_gradient(model, r)
    assert gradient.value == pytest.approx(float(p @ np.square(sums - p @ sums)), abs=1e-9)

    def variance(theta: np.ndarray, gamma: float) -> float:  # type: ignore[type-arg]
        return float(hf.variance(LogLinear(forest, theta, gamma).p, r))

    for feature, unit in enumerate(np.eye(4)):
        along = slope(lambda step, unit=unit: variance(weights + step * unit, model.gamma))  # type: ignore[misc]
        assert gradient.theta[feature] == pytest.approx(along, rel=1e-6, abs=1e-7)
    along = slope(lambda step: variance(weights, model.gamma + step))
    assert gradient.gamma == pytest.approx(along, rel=1e-6, abs=1e-7)


@each_seed(range(60))
@pytest.mark.parametrize("effective_length", ["shortest", "closest", "average"])
def test_expected_bleu(seed: int, effective_length: str) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300).annotate_ngrams(4)
    references = [[rng.choice("abcd") for _ in range(rng.randint(4, 9))] for _ in range(2)] + [[]]
    weights = np.array([rng.gauss(0, 1) for _ in range(4)])
    model = LogLinear(forest, weights)
    gradient = hf.expected_bleu_gradient(model, references, effective_length)
    every = [forest.derivation(d, model.scores) for d in derivations(forest)]
    p = np.exp([d.score for d in every])
    expected = np.zeros(10)
    for d, mass in zip(every, p / p.sum(), strict=True):
        words = d.tokens
        for n in range(1, 5):
            grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
            reference_grams = {tuple(r[i : i + n]) for r in references for i in range(len(r) - n + 1)}
            expected[1 + n] += mass * len(grams)
            expected[5 + n] += mass * sum(gram in reference_grams for gram in grams)
        expected[0] += mass * len(words)
    lengths = [len(r) for r in references if r]
    length = round(expected[0])
    expected[1] = {
        "shortest": min(lengths),
        "closest": min(lengths, key=lambda n: (abs(n - length), n)),
        "average": np.mean(lengths),
    }[effective_length]
    assert gradient.value == pytest.approx(float(bleu(expected)), abs=1e-12)
    if gradient.value == 0:
        assert not gradient.theta.any() and gradient.gamma == 0
        return

    def value(theta: np.ndarray) -> float:  # type: ignore[type-arg]
        return hf.expected_bleu_gradient(LogLinear(forest, theta), references, effective_length).value

    for feature, unit in enumerate(np.eye(4)):
        along = slope(lambda step, unit=unit: value(weights + step * unit), 1e-5)  # type: ignore[misc]
        if abs(expected[0] - expected[1]) > 1e-3 and abs(expected[0] - length) < 0.49:
            assert gradient.theta[feature] == pytest.approx(along, rel=1e-5, abs=1e-8)
    with pytest.raises(ValueError, match="annotate the forest with n = 4"):
        hf.expected_bleu_gradient(LogLinear(forest.annotate_ngrams(2), weights), references)
    with pytest.raises(ValueError, match="references: all are empty"):
        hf.expected_bleu_gradient(model, [[]])
