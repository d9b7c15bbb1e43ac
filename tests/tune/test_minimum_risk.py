"""The objective of minimum risk training, against enumeration and finite differences."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import hiero
from hiero import Forest, ForestError
from hiero._core import ForestSource, minimum_risk
from hiero.forest.files import NO_FOREST
from hiero.forest.losses import LinearBleu, totals_and_matches
from hiero.tune.methods.risk import RiskOptions
from hiero.tune.methods.risk.annealing import Minimum, minimise
from hiero.tune.methods.risk.losses import LinearLoss
from hiero.tune.methods.risk.spaces import ForestRisk
from hiero.tune.run.limits import Limits
from support.brute_force_forest import derivations, small_random_forest
from support.finite_differences import slope
from support.seeds import each_seed

Array = npt.NDArray[np.float64]


LOSS = np.array([1.0, -0.5, 0.25])


def enumerated(forest: Forest, counts: Array, weights: Array, gamma: float) -> Array:
    """Returns expected counts and entropy of a forest, by enumeration."""
    if forest.root < 0:
        return np.zeros(len(LOSS) + 1)
    every = [list(d) for d in derivations(forest)]
    scores = gamma * np.array([forest.features.toarray()[d].sum(axis=0) @ weights for d in every])
    p = np.exp(scores - scores.max())
    p /= p.sum()
    return np.append(
        p @ [counts[d].sum(axis=0, dtype=np.float64) for d in every], -(p @ np.log(np.where(p > 0, p, 1)))
    )


def problem(seed: int, sentences: int = 5) -> tuple[list[Forest], list[Array]]:
    rng = random.Random(seed)
    forests = [small_random_forest(rng, most=200) for _ in range(sentences)]
    forests.insert(1, NO_FOREST.with_features(np.zeros((0, 4)), forests[0].feature_names))
    shapes = [(f.edge_count, len(LOSS)) for f in forests]
    return forests, [
        np.float32(np.random.default_rng([seed, i]).normal(size=s)) for i, s in enumerate(shapes)
    ]


def flat(counts: list[Array]) -> tuple[Array, npt.NDArray[np.int64]]:
    return np.concatenate(counts), np.cumsum([0, *map(len, counts)])


@each_seed(range(100))
def test_objective_and_gradient(seed: int) -> None:
    forests, counts = problem(seed)
    rng = np.random.default_rng(seed)
    weights, gamma, temperature = rng.normal(size=4), rng.uniform(0.2, 3), rng.choice([0.0, 0.3, -0.2])
    source, edges = ForestSource(forests), flat(counts)

    def objective(theta: Array, gamma: float) -> float:
        found = minimum_risk(source, *edges, LOSS, theta, gamma=gamma, gradient=False)
        assert len(found.gradient) == 0
        return float(LOSS @ found.counts - temperature * found.entropy)

    found = minimum_risk(source, *edges, LOSS, weights, gamma=gamma, temperature=temperature)
    each = [enumerated(f, c, weights, gamma) for f, c in zip(forests, counts, strict=True)]
    assert np.append(found.counts, found.entropy) == pytest.approx(np.sum(each, axis=0), abs=1e-9)
    for feature, unit in enumerate(np.eye(4)):
        expected = slope(lambda step, unit=unit: objective(weights + step * unit, gamma))  # type: ignore[misc]
        assert found.gradient[feature] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert found.gamma == pytest.approx(
        slope(lambda step: objective(weights, gamma + step)), rel=1e-6, abs=1e-8
    )


def test_a_real_forest(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    lines = (french / "input.fr").read_text().splitlines()
    forests = [
        result.forest.annotate_ngrams(4)
        for result in map(partial(hiero.Decoder(model, pop_limit=0).translate, keep="forest"), lines)
        if result.forest is not None and result.has_parse
    ]
    counts = [totals_and_matches(f, [["i", "do", "not", "see", "the", "cat"]]) for f in forests]
    source, edges, weights = ForestSource(forests), flat(counts), model.weight_vector(model.weights)
    loss = LinearBleu(1.0).costs

    def objective(theta: Array, gamma: float) -> float:
        found = minimum_risk(source, *edges, loss, theta, gamma=gamma)
        return float(loss @ found.counts - 0.1 * found.entropy)

    found = minimum_risk(source, *edges, loss, weights, gamma=2.0, temperature=0.1)
    assert sum(f.edge_count for f in forests) > 500 and found.entropy > 1
    for feature, unit in enumerate(np.eye(len(weights))):
        expected = slope(lambda step, unit=unit: objective(weights + step * unit, 2.0))  # type: ignore[misc]
        assert found.gradient[feature] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert found.gamma == pytest.approx(slope(lambda step: objective(weights, 2 + step)), rel=1e-6)


def test_threads_and_records_change_nothing() -> None:
    forests, _ = problem(1, sentences=150)
    weights = np.random.default_rng(1).normal(size=4)
    # Edges share rows of features, of which a forest uses few.
    split = [f if f.root < 0 else f.annotate_ngrams(3) for f in forests]
    forests = [f if f.root < 0 else f.prune(f.scores(weights), margin=5.0) for f in split]
    rng = np.random.default_rng(2)
    edges = flat([rng.normal(size=(f.edge_count, len(LOSS))).astype(np.float32) for f in forests])
    records = [f.record() for f in forests]
    places = np.stack([np.cumsum([3, *map(len, records)])[:-1], list(map(len, records))], axis=1)
    stored = ForestSource.of_records(b"abc" + b"".join(records), places, forests[0].feature_names)
    results = [
        minimum_risk(source, *edges, LOSS, weights, gamma=1.5, temperature=0.1, threads=threads)
        for source in (ForestSource(forests), stored)
        for threads in (1, 2, 3, 8)
    ]
    for result in results:
        assert (result.entropy, result.gamma) == (results[0].entropy, results[0].gamma)
        assert result.counts.tobytes() == results[0].counts.tobytes()
        assert result.gradient.tobytes() == results[0].gradient.tobytes()
    assert len(stored) == len(forests)


@pytest.mark.parametrize("seed", range(20))
def test_limits(seed: int) -> None:
    """The objective with a large gamma is the best derivation's loss; at a high temperature its minimum is
    the uniform distribution."""
    forests, counts = problem(seed)
    weights = np.random.default_rng(seed).normal(size=4)
    best = np.zeros(len(LOSS))
    for forest, own in zip(forests, counts, strict=True):
        found = forest.viterbi(forest.scores(weights))
        best += own[found.edges].sum(axis=0) if found is not None else 0
    source, edges = ForestSource(forests), flat(counts)
    ties = any(
        len(top := [d.score for d in f.kbest(2, f.scores(weights))]) > 1 and top[0] - top[1] < 1e-3
        for f in forests
    )
    cold = minimum_risk(source, *edges, LOSS, weights, gamma=1e5)
    assert ties or (
        cold.counts == pytest.approx(best, abs=1e-5) and cold.entropy == pytest.approx(0, abs=1e-6)
    )
    flattest = sum(np.log(f.derivation_count) for f in forests if f.root >= 0)
    stages: list[Minimum] = []
    minimise(
        ForestRisk(source, *edges, np.ones(4)),
        LinearLoss(LOSS),
        weights,
        limits=Limits.unlimited(4),
        options=RiskOptions(annealing=True, temperature=1e4, coldest=1e4, steps=200),
        report=stages.append,
    )
    hot, *_, quenched = stages
    assert hot.stage.temperature == 1e4 and quenched.entropy < hot.entropy
    assert hot.entropy * len(forests) == pytest.approx(flattest, abs=1e-3)


def test_bad_problems() -> None:
    forests, counts = problem(3)
    edges, offsets = flat(counts)
    source, weights = ForestSource(forests), np.zeros(4)
    for changes, message in (
        ({"counts": edges[:-1]}, r"counts: sentence 5 has \d+ edges"),
        (
            {"counts": np.where(edges == edges[2, 1], np.nan, edges)},
            r"sentence \d: expected finite numbers",
        ),
        ({"counts": edges[:, 0]}, r"counts: expected a matrix \(edges, columns\)"),
        ({"counts": edges[:, :2]}, "loss: expected a number for each column"),
        ({"loss": np.full(3, np.nan)}, "nan"),
        ({"offsets": offsets[:-1]}, "offsets: expected 7"),
        ({"offsets": [-5, *offsets[1:]]}, "counts: sentence 0"),
        ({"offsets": [2**63 - len(counts[0]), -(2**63), *offsets[2:]]}, "counts: sentence 0"),
        ({"offsets": [0, 2**63 - 1, *offsets[2:]]}, "counts: sentence 0"),
        ({"weights": np.zeros(3)}, "expected 4 weights, got 3"),
        ({"gamma": 0.0}, "expected gamma > 0"),
        ({"temperature": np.inf}, "a finite temperature"),
        ({"threads": 0}, "a thread or more"),
        ({"weights": np.full(4, 1e300)}, "scores"),
    ):
        arguments = {"counts": edges, "offsets": offsets, "loss": LOSS, "weights": weights, **changes}
        with pytest.raises(ValueError, match=message):
            minimum_risk(source, **arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="None is no forest"):
        ForestSource([forests[0], None])  # type: ignore[list-item]
    # A forest without derivations may have other features.
    alone = minimum_risk(ForestSource([forests[0]]), counts[0], [0, len(counts[0])], LOSS, weights)
    behind = minimum_risk(
        ForestSource([NO_FOREST, forests[0]]), counts[0], [0, 0, len(counts[0])], LOSS, weights
    )
    assert behind.counts.tolist() == alone.counts.tolist()
    other = forests[2].with_features(forests[2].features, list("abcd"))
    with pytest.raises(ValueError, match="different features"):
        ForestSource([forests[0], other])
    record = bytearray(forests[0].record())
    with pytest.raises(ForestError, match="record 0 is beyond the end"):
        ForestSource.of_records(record, [[1, len(record)]], forests[0].feature_names)
    for view in (memoryview(record)[::-1], memoryview(record)[::2]):
        with pytest.raises(ValueError, match="record: expected bytes"):
            ForestSource.of_records(view, [[0, 10]], forests[0].feature_names)
    record[-1] ^= 1
    damaged = ForestSource.of_records(record, [[0, len(record)]], forests[0].feature_names)
    with pytest.raises(ForestError, match="sentence 0: forest: the record is damaged"):
        minimum_risk(damaged, counts[0], [0, len(counts[0])], LOSS, weights)
