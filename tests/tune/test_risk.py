"""Minimum risk tuning: losses, lists and forests against slow twins, the schedule, and known weights."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from hiero import Forest
from hiero.evaluate import Bleu
from hiero.evaluate.tokens import Hypotheses
from hiero.forest.files import NO_FOREST
from hiero.forest.losses import BleuColumns, LinearBleu, totals_and_matches
from hiero.tune import TuneOptions, tune
from hiero.tune.methods.risk import Risk, RiskOptions
from hiero.tune.methods.risk.annealing import minimise, schedule
from hiero.tune.methods.risk.losses import BleuLoss, LinearLoss
from hiero.tune.methods.risk.objective import UnclippedBleu, forest_objective, list_objective
from hiero.tune.methods.risk.spaces import ListRisk
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.pool.forests import AccumulatedUnions
from hiero.tune.run.limits import Limits
from support.brute_force_forest import derivations, small_random_forest
from support.finite_differences import slope
from support.random_lists import random_lists
from support.synthetic_decoder import pooled, solvable

BEST = (1.0, -0.5, 2.0, 0.25)


@pytest.mark.parametrize("seed", range(30))
def test_lists(seed: int) -> None:
    pool, counts = random_lists(seed)
    rng = np.random.default_rng(seed)
    weights, gamma, temperature, loss = rng.normal(size=4), rng.uniform(0.2, 3), 0.3, np.array([1.0, -0.5])
    space = ListRisk(pool, counts)
    expected, entropy, variances = np.zeros(2), 0.0, []
    for a, b in itertools.pairwise(pool.offsets.tolist()):
        if a < b:
            scores = gamma * (pool.features.toarray()[a:b] @ weights)
            p = np.exp(scores) / np.exp(scores).sum()
            expected += p @ counts[a:b]
            entropy -= float(p @ np.log(p))
            variances.append(pool.features.toarray()[a:b].var(axis=0))
    found = space.risk(weights, gamma, temperature, loss)
    assert found.counts == pytest.approx(expected) and found.entropy == pytest.approx(entropy)
    assert space.counts(weights, gamma) == pytest.approx(expected)
    assert space.spread == pytest.approx(np.sqrt(np.mean(variances, axis=0)))

    def objective(theta: np.ndarray, gamma: float) -> float:  # type: ignore[type-arg]
        value = space.risk(theta, gamma, 0.0, loss)
        return float(loss @ value.counts - temperature * value.entropy)

    for feature, unit in enumerate(np.eye(4)):
        along = slope(lambda step, unit=unit: objective(weights + step * unit, gamma))  # type: ignore[misc]
        assert found.theta[feature] == pytest.approx(along, rel=1e-6, abs=1e-8)
    assert found.gamma == pytest.approx(slope(lambda step: objective(weights, gamma + step)), rel=1e-6)
    nothing = ListRisk(PoolArrays(np.zeros(3, np.int32), pool.features[:0], counts[:0]), counts[:0])
    empty = nothing.risk(weights, 1.0, 0.0, loss)
    assert (empty.entropy, empty.gamma, empty.counts.tolist(), empty.theta.tolist()) == (
        0,
        0,
        [0, 0],
        [0] * 4,
    )
    assert nothing.spread.tolist() == [0] * 4


@pytest.mark.parametrize("length", [60.0, 99.0, 100.0, 101.0, 200.0])
def test_loss_by_bleu(length: float) -> None:
    """The loss is near BLEU, and its slopes are its derivatives."""
    loss = BleuLoss(100.0, 100.0)
    totals = length - 10 * np.arange(4)
    matches = np.array([0.6, 0.3, 0.2, 0.1]) * length
    counts = np.append(totals, matches)
    penalty = min(0.0, 1 - 100 / length)
    bleu = penalty + np.log(matches / totals).mean()
    # The loss counts a thousandth of a match more than there are.
    assert -100 * bleu - 0.01 <= loss.value(counts) <= -100 * bleu + np.log(2) + 1e-9
    # Slopes are right also for an order without matches or n-grams, and for almost no words.
    few = np.array([4.0, 2, 0.5, 0, 3, 1, 0.5, 0])
    for own in (counts, counts * [*[1] * 7, 0], few, np.array([0.5, 0, 0, 0, 0.2, 0, 0, 0])):
        check_slopes(loss, own)
    for odd in (np.zeros(8), np.array([1e9, 0, 0, 0, 0, 0, 0, 0])):
        assert np.isfinite(loss.value(odd)) and np.isfinite(loss.slopes(odd)).all()


def check_slopes(loss: BleuLoss, counts: np.ndarray) -> None:  # type: ignore[type-arg]
    for column, unit in enumerate(np.eye(8)):
        step = 1e-3 if counts[column] > 1 else 1e-5
        along = slope(lambda by, unit=unit: loss.value(counts + by * unit), step)  # type: ignore[misc]
        assert loss.slopes(counts)[column] == pytest.approx(along, rel=1e-6)


def test_problems_of_lists() -> None:
    decoder, references = solvable(3, BEST, sentences=6, size=12)
    metric = UnclippedBleu(Bleu(references))
    weights = np.array([1.0, 1.0, 1.0, 1.0])
    pool = pooled(decoder, metric, weights, 12)
    chosen = pool.statistics[pool.winners(weights)].sum(axis=0)
    space, loss = list_objective(pool, weights, RiskOptions(space="nbest"))
    assert loss == BleuLoss(chosen[0], chosen[1])
    linear = list_objective(pool, weights, RiskOptions(space="nbest", loss="linear-bleu"))[1]
    known = LinearBleu.estimate(chosen[:10])
    assert isinstance(linear, LinearLoss)
    theta = -known.words * np.array(known.theta)
    assert linear.weights == pytest.approx([theta[0], 0, 0, 0, *theta[1:]]) and linear.weights[0] == 1
    counts = pool.statistics[:, [2, 3, 4, 5, 10, 11, 12, 13]].reshape(6, 12, 8)
    assert space.counts(np.zeros(4), 1.0) == pytest.approx(counts.mean(axis=1).sum(axis=0))
    sentence, one = list_objective(pool, weights, RiskOptions(space="nbest", loss="sentence-bleu"))
    even = sentence.counts(np.zeros(4), 1.0)
    quality = [1 - b for b in map(smoothed, pool.statistics)]
    assert even == pytest.approx([np.mean(np.reshape(quality, (6, 12)), axis=1).sum()])
    assert isinstance(one, LinearLoss) and one.weights.tolist() == [chosen[1] / 6]
    # Unclipped: a word that the reference has once matches as often as it is said.
    tokens = Hypotheses.from_tokens([references[0][0].split() * 2])
    assert metric.token_statistics([0], tokens)[0, 10:].tolist() == unclipped(references[0][0].split())
    assert space.sentences == 6


def unclipped(words: list[str]) -> list[int]:
    grams = [{tuple(words[i : i + n]) for i in range(len(words) - n + 1)} for n in range(1, 5)]
    twice = words * 2
    return [
        sum(tuple(twice[i : i + n]) in known for i in range(len(twice) - n + 1))
        for n, known in enumerate(grams, start=1)
    ]


def smoothed(statistics: np.ndarray) -> float:  # type: ignore[type-arg]
    """Computes sentence BLEU with one added to all counts of n > 1 and to the reference's length."""
    length, reference = statistics[BleuColumns.LENGTH], statistics[BleuColumns.REFERENCE_LENGTH]
    totals, matches = statistics[BleuColumns.TOTALS], statistics[BleuColumns.MATCHES]
    if matches[0] == 0:
        return 0.0
    ratios = [(m + (n > 0)) / (t + (n > 0)) for n, (t, m) in enumerate(zip(totals, matches, strict=True))]
    return float(np.exp(min(0, 1 - (reference + 1) / length) + np.log(ratios).mean()))


@pytest.mark.parametrize("seed", range(20))
def test_problems_of_forests(seed: int) -> None:
    """Expected counts are those of an enumeration of all derivations."""
    rng = random.Random(seed)
    forests = [small_random_forest(rng, most=100) for _ in range(3)]
    references = [[" ".join(rng.choice("abcd") for _ in range(5))] for _ in range(4)]
    metric = Bleu(references)
    weights = np.array([rng.gauss(0, 1) for _ in range(4)])
    unions = [*forests, NO_FOREST]
    space, loss = forest_objective(unions, metric, weights, RiskOptions())
    expected, first, variances = np.zeros(8), np.zeros(10), []
    for number, forest in enumerate(forests):
        found = [forest.derivation(d, weights_of(forest, weights)) for d in derivations(forest)]
        p = np.exp([d.score for d in found])
        counts = [
            [
                *(max(len(d.tokens) - n, 0) for n in range(4)),
                *metric.unclipped([number], Hypotheses.from_tokens([d.tokens]))[0],
            ]
            for d in found
        ]
        expected += p / p.sum() @ counts
        best = forest.viterbi(forest.scores(weights))
        assert best is not None
        first += metric.token_statistics([number], Hypotheses.from_tokens([best.tokens]))[0]
        variances.append(forest.kbest_arrays(50, forest.scores(weights)).features.toarray().var(axis=0))
    first += metric.token_statistics([3], Hypotheses.from_tokens([[]]))[0]
    assert space.counts(weights, 1.0) == pytest.approx(expected)
    assert loss == BleuLoss(max(first[0], 1), first[1])
    assert space.spread == pytest.approx(np.sqrt(np.mean(variances, axis=0)))


def weights_of(forest: Forest, weights: np.ndarray) -> dict[str, float]:  # type: ignore[type-arg]
    return dict(zip(forest.feature_names, weights.tolist(), strict=True))


@pytest.mark.parametrize(
    "options",
    [
        {"annealing": True},
        {"space": "nbest", "k": 15},
        {"space": "nbest", "k": 15, "annealing": True},
        {"space": "nbest", "k": 15, "loss": "sentence-bleu"},
        {"loss": "linear-bleu"},
        {"fixed": ["f2"]},
    ],
    ids=str,
)
def test_settings_find_known_weights(options: dict[str, object], tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST)
    start = {"f0": 1.0, "f1": 1.0, "f2": 1.0, "f3": 1.0}
    settings = TuneOptions("risk", iterations=4, **options)  # type: ignore[arg-type]
    result = tune(decoder, Bleu(references), start, tmp_path, settings)
    found = np.array(list(result.weights.values()))
    assert found @ np.array(BEST) / np.linalg.norm(found) / np.linalg.norm(BEST) > 0.9
    rows = (tmp_path / "risk-000.tsv").read_text().splitlines()
    assert rows[0].split("\t") == ["temperature", "gamma", "risk", "entropy", "gradient", "evaluations"]
    assert len(rows) == 1 + len(list(schedule(settings.settings)))  # type: ignore[arg-type]
    if "fixed" in options:
        assert result.weights["f2"] == 1.0


def test_a_set_that_begins_with_nothing() -> None:
    forest = small_random_forest(random.Random(2), most=100)
    metric, weights = Bleu([["a b"], ["a b c"]]), np.array([1.0, 0.5, -1.0, 0.25])
    space, _ = forest_objective([NO_FOREST, forest], metric, weights, RiskOptions())
    only, _ = forest_objective([forest], Bleu([["a b c"]]), weights, RiskOptions())
    assert space.counts(weights, 1.0).tolist() == only.counts(weights, 1.0).tolist()


def test_options() -> None:
    assert TuneOptions("risk").settings == Risk()
    for endless in ({"temperature": np.inf}, {"coldest": np.nan}, {"greatest_gamma": np.inf}):
        with pytest.raises(ValueError, match="finite"):
            TuneOptions("risk", **endless)  # type: ignore[arg-type]
    forests: dict[str, object] = {"space": "forest", "annealing": True, "edges": 5, "temperature": 2.0}
    for options in (forests, {"space": "nbest", "k": 5}):
        TuneOptions("risk", **options)  # type: ignore[arg-type]
    for useless, of in (
        ({"k": 5}, "k is of lists"),
        ({"space": "nbest", "edges": 5}, "edges is of forests"),
        ({"temperature": 2.0}, "temperature is of annealing"),
        ({"coldest": 2.0}, "coldest is of annealing"),
        ({"greatest_gamma": 2.0}, "greatest gamma is of annealing"),
        ({"annealing": True, "temperature": 0.01}, "0.01 is below the coldest, 0.05"),
    ):
        with pytest.raises(ValueError, match=of):
            TuneOptions("risk", **useless)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sentence-bleu is a loss of lists"):
        TuneOptions("risk", loss="sentence-bleu")
    with pytest.raises(ValueError, match="mert takes no annealing"):
        TuneOptions("mert", annealing=True)


def test_counts_of_several_threads_are_the_same() -> None:
    rng = random.Random(1)
    forests = [small_random_forest(rng, most=100) for _ in range(40)]
    metric = Bleu([["a b c d a"]] * 40)
    weights = np.array([0.5, -1.0, 0.25, 1.0])
    results = []
    for threads in (1, 3):
        space, loss = forest_objective(forests, metric, weights, RiskOptions(), threads)
        options = RiskOptions(annealing=True)
        tuned = minimise(space, loss, weights, limits=Limits.unlimited(4), options=options)
        results.append(tuned.tobytes())
    assert results[0] == results[1]
    assert totals_and_matches(forests[0].annotate_ngrams(4), [["a"]]).dtype == np.float32


def test_unions_are_bounded(tmp_path: Path) -> None:
    """A union keeps twice as many edges as a forest, the best."""
    rng = random.Random(3)
    forests = [small_random_forest(rng, most=200) for _ in range(20)]
    accumulated, known = AccumulatedUnions(Bleu([["a b"]]), edges=4), NO_FOREST
    bounded = False
    for number, forest in enumerate([*forests, None]):
        weights = np.array([rng.gauss(0, 1) for _ in range(4)])
        folder = tmp_path / str(number)
        folder.mkdir()
        decoder = SimpleNamespace(forests=lambda _, then, forest=forest: iter([then(0, forest)]))
        accumulated.decode(decoder, weights, folder)  # type: ignore[arg-type]
        accumulated.restore(folder)
        if forest is not None:
            best = forest.prune(forest.scores(weights), edges=4)
            both = best if known.root < 0 else Forest.union([known, best])
            known = both.prune(both.scores(weights), edges=8)
            bounded |= known.edge_count < both.edge_count
            better = known.viterbi(known.scores(weights)), both.viterbi(both.scores(weights))
            assert [d and d.tokens for d in better[:1]] == [d and d.tokens for d in better[1:]]
        assert accumulated.unions[0].edge_count == known.edge_count <= 8
        assert strings(accumulated.unions[0]) == strings(known)
    assert bounded


def strings(forest: Forest) -> set[str]:
    return {" ".join(d.tokens) for d in forest.kbest(10_000, [0.0] * forest.edge_count)}
