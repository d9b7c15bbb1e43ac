"""PRO and batch MIRA on pools made by hand: their sentence BLEU, pairs, classifier and steps."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from hiero.evaluate import Bleu
from hiero.forest.losses import BleuColumns
from hiero.tune import TuneOptions, tune
from hiero.tune.methods.mira import batch
from hiero.tune.methods.mira.averaged_weights import AveragedWeights
from hiero.tune.methods.mira.batch import (
    MiraBatch,
    MiraOptions,
    MiraResult,
    background_bleu,
    feature_variance,
    mira_batch,
)
from hiero.tune.methods.pro import ProOptions, pro, sample_pairs
from hiero.tune.methods.sentence_bleu import smoothed_bleu
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.limits import Limits
from support.paths import DOCS
from support.synthetic_decoder import pooled, solvable

BEST = (1.0, -0.5, 2.0, 0.25)


def test_sentence_bleu_by_hand() -> None:
    # 4 words, all of which match, and a reference of 4 words, which counts as 5.
    right = np.array([4.0, 4, 4, 3, 2, 1, 4, 3, 2, 1])
    assert smoothed_bleu(right) == pytest.approx(np.exp(1 - 5 / 4))
    half = np.array([6.0, 4, 6, 5, 4, 3, 3, 1, 0, 0])
    assert smoothed_bleu(half) == pytest.approx((3 / 6 * 2 / 6 * 1 / 5 * 1 / 4) ** 0.25)
    none = np.array([3.0, 3, 3, 2, 1, 0, 0, 0, 0, 0])
    assert smoothed_bleu(np.stack([none, np.zeros(10)])).tolist() == [0, 0]
    # B: counts with the background's, times the reference lengths of both.
    background = np.array([4.0, 6, 4, 3, 2, 1, 4, 3, 2, 1])
    expected = 10 * np.exp(1 - 10 / 8)
    assert background_bleu(right[None], background) == pytest.approx([expected])
    assert background_bleu(none[None], np.zeros(10)).tolist() == [0]


def test_pairs_are_those_that_differ_most() -> None:
    pool = PoolArrays(np.array([0, 5, 5, 8], np.int32), scipy.sparse.csr_array((8, 1)), np.zeros((8, 10)))
    quality = np.array([0.0, 0.01, 0.2, 0.21, 1.0, 0.5, 0.5, 0.52])
    better, worse = sample_pairs(pool, quality, 1, ProOptions(samples=2000, kept=100))
    assert len(better) == len(worse) == 100  # of the first sentence; the last one's are too near
    # Some 160 of 2,000 pairs are the best and the worst hypothesis, more than are kept.
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == {(4, 0)}
    _, wide = sample_pairs(pool, quality, 1, ProOptions(samples=2000, kept=300))
    assert set(wide.tolist()) == {0, 1}
    few, _ = sample_pairs(pool, quality, 1, ProOptions(samples=3, kept=100))
    assert len(few) <= 3
    flat = pro(pool, np.ones(1), limits=Limits.unlimited(1), seed=1)
    assert flat.tolist() == [1.0]


def test_pairs_of_a_sentence_do_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(1)
    quality = rng.uniform(size=9)
    for seed in range(5):
        found = []
        for before in (0, 1, 2, 30):  # hypotheses of the sentence before
            offsets = np.array([0, before, before + 9, before + 12], np.int32)
            features, statistics = scipy.sparse.csr_array((before + 12, 1)), np.zeros((before + 12, 10))
            all_quality = np.concatenate([rng.uniform(size=before), quality, rng.uniform(size=3)])
            pool = PoolArrays(offsets, features, statistics)
            better, worse = sample_pairs(pool, all_quality, seed, ProOptions(samples=40, kept=20))
            mine = (better >= before) & (better < before + 9)
            found.append((better[mine] - before, worse[mine] - before))
        for better, worse in found[1:]:
            assert better.tolist() == found[0][0].tolist() and worse.tolist() == found[0][1].tolist()
        # Pairs differ between sentences with equal qualities.
        twice = PoolArrays(
            np.array([0, 9, 18], np.int32), scipy.sparse.csr_array((18, 1)), np.zeros((18, 10))
        )
        both = sample_pairs(twice, np.tile(quality, 2), seed, ProOptions(samples=40, kept=20))[0]
        assert (both[both < 9]).tolist() != (both[both >= 9] - 9).tolist()


def test_classifier_against_gradient_descent() -> None:
    rng = np.random.default_rng(1)
    decoder, references = solvable(5, BEST, sentences=10)
    new = pooled(decoder, Bleu(references), np.ones(4), 60)
    options = ProOptions(interpolation=1.0)
    found = pro(new, np.ones(4), limits=Limits.unlimited(4), seed=3, options=options)
    better, worse = sample_pairs(new, smoothed_bleu(new.statistics), 3, options)
    differences = (new.features[better] - new.features[worse]).toarray()
    weights = rng.normal(size=4)
    for _ in range(20000):
        slope = -differences.T @ (1 / (1 + np.exp(differences @ weights))) + weights / options.variance
        weights -= 0.5 * slope / len(differences)
    assert found == pytest.approx(weights * 4 / np.abs(weights).sum(), abs=1e-4)


def test_pro_learns_beside_fixed_features() -> None:
    # The fixed feature leads the wrong way unless the free one outweighs it.
    rng = np.random.default_rng(1)
    first = rng.normal(size=4000)
    second = -0.8 * first + 0.6 * rng.normal(size=4000)
    features = np.stack([first, second], axis=1)
    matches = np.clip(np.round(10 + 4 * (first + second)), 0, 20)
    statistics = np.zeros((4000, 10))
    statistics[:, [BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]] = 23
    statistics[:, BleuColumns.TOTALS] = [23, 22, 21, 20]
    statistics[:, BleuColumns.MATCHES] = matches[:, None]
    pool = PoolArrays(np.arange(0, 4001, 100, dtype=np.int32), scipy.sparse.csr_array(features), statistics)
    for scale in (0.1, 10.0):
        weights = np.array([scale, 0.2 * scale])
        limits = Limits.unlimited(2).narrowed([1])
        for seed in range(25):
            weights = pro(pool, weights, limits=limits, seed=seed)
        assert weights[0] == scale and 0.8 < weights[1] / scale < 1.25


def test_mira_moves_by_hope_and_fear() -> None:
    # One sentence of two hypotheses, one pass: a step of min(C, loss / |difference|^2) from fear to hope.
    right, wrong = [4.0, 4, 4, 3, 2, 1, 4, 3, 2, 1], [4.0, 4, 4, 3, 2, 1, 0, 0, 0, 0]
    features = scipy.sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    pool = PoolArrays(np.array([0, 2], np.int32), features, np.array([wrong, right]))
    metric = Bleu([["a"]])
    quality = background_bleu(pool.statistics, np.ones(10))
    loss = quality[1] - quality[0] + 1.0  # the model prefers the wrong one by 1
    for c in (0.01, 10.0):
        found = mira_batch(
            pool,
            metric,
            np.array([0.0, 1.0]),
            limits=Limits.unlimited(2),
            seed=1,
            options=MiraOptions(passes=1, c=c),
        )
        step = min(c, loss / 2)
        assert found.weights == pytest.approx([step, 1 - step])


def test_averages_are_the_means_after_all_updates() -> None:
    """Updates of some features, clipped to their bounds, and updates that change nothing."""
    rng = np.random.default_rng(3)
    limits = Limits(range(5), np.tile([-1.0, 1.5], (5, 1)))
    start = rng.normal(size=5).clip(-1, 1)
    averaged, expected, visited = AveragedWeights(start.copy()), start.copy(), []
    assert averaged.average().tolist() == start.tolist()
    for number in range(40):
        if number % 3 == 0:
            averaged.skip()
        else:
            ids, changes = rng.permutation(5)[:2], rng.normal(size=2)
            averaged.update(ids, changes, limits)
            expected[ids] = np.clip(expected[ids] + changes, -1.0, 1.5)
        visited.append(expected.copy())
        assert averaged.current.tolist() == expected.tolist()
        assert averaged.average() == pytest.approx(np.mean(visited, axis=0))
    assert {-1.0, 1.5} <= set(np.ravel(visited))


def documented() -> MiraOptions:
    """Returns the options of batch MIRA in docs/tuning.md."""
    text = (DOCS / "tuning.md").read_text()
    found = re.search(r"mira-batch.* (\d+) passes over the pool, C = ([\d.]+), .* decays by ([\d.]+) ", text)
    assert found is not None
    return MiraOptions(passes=int(found[1]), c=float(found[2]), decay=float(found[3]))


@pytest.mark.parametrize("seed", range(7))
def test_mira_against_a_plain_twin(seed: int) -> None:
    """Batch MIRA does what a plain transcription does: every pass, the average, the background, and the best
    pass; once with the documented settings."""
    decoder, references = solvable(seed, BEST, sentences=7, size=12)
    metric = Bleu(references)
    pool = pooled(decoder, metric, np.ones(4), 12)
    start, least, most = np.array([1.0, 1.0, -0.5, 0.0]), [-np.inf, 0.5, -1.0, -np.inf], [1.2, 1, np.inf, 0.6]
    bounds = np.stack([least, most], axis=1)
    options = None if seed == 6 else MiraOptions(passes=5, c=0.05, decay=0.9)
    used = options or documented()
    found = mira_batch(pool, metric, start, limits=Limits([0, 2, 3], bounds), seed=seed, options=options)

    rng, h = np.random.default_rng(seed), pool.features.toarray()
    weights, background, visited = list(start), [1.0] * 10, []
    passes = []
    for _ in range(used.passes):
        for s in rng.permutation(range(7)).tolist():
            rows = range(pool.offsets[s], pool.offsets[s + 1])
            model = {i: sum(x * w for x, w in zip(h[i], weights, strict=True)) for i in rows}
            quality = {i: float(background_bleu(pool.statistics[i : i + 1], background)[0]) for i in rows}
            hope = max(rows, key=lambda i: model[i] + quality[i])
            fear = max(rows, key=lambda i: model[i] - quality[i])
            if hope != fear:
                move = [
                    a - b if f != 1 else 0.0 for f, (a, b) in enumerate(zip(h[hope], h[fear], strict=True))
                ]
                loss = quality[hope] - quality[fear] - (model[hope] - model[fear])
                step = max(0.0, min(used.c, loss / sum(x * x for x in move)))
                moved = [w + step * x for w, x in zip(weights, move, strict=True)]
                weights = [min(max(w, a), b) for w, a, b in zip(moved, least, most, strict=True)]
                counts = pool.statistics[hope]
                background = [used.decay * (b + n) for b, n in zip(background, counts, strict=True)]
            visited.append(weights)
        average = np.mean(visited, axis=0)
        total = pool.total(pool.winners(average))
        passes.append((float(metric.score(total)), average))
    assert found.scores == pytest.approx([score for score, _ in passes])
    best = max(passes, key=lambda each: each[0])  # the first of equal ones
    assert found.weights == pytest.approx(best[1])
    assert found.weights[1] == 1.0 and not np.allclose(found.weights, start)


def test_mira_as_documented() -> None:
    assert MiraOptions() == documented()


def test_no_hypotheses_tell_nothing() -> None:
    pool = PoolArrays(np.zeros(3, np.int32), scipy.sparse.csr_array((0, 2)), np.zeros((0, 10)))
    start = np.array([1.0, 2.0])
    metric = Bleu([["a"], ["b"]])
    shared: dict[str, Any] = {"limits": Limits.unlimited(2), "seed": 1}
    assert mira_batch(pool, metric, start, **shared).weights.tolist() == [1.0, 2.0]
    assert pro(pool, start, **shared).tolist() == [1.0, 2.0]


def test_pro_moves_a_tenth_of_the_way() -> None:
    assert ProOptions() == ProOptions(
        samples=5000, kept=50, threshold=0.05, variance=1.0, interpolation=0.1
    )  # as published
    decoder, references = solvable(5, BEST, sentences=10)
    pool = pooled(decoder, Bleu(references), np.ones(4), 60)
    start, limits = np.array([1.0, 1.0, 0.5, 1.0]), Limits.unlimited(4)
    whole = pro(pool, start, limits=limits, seed=3, options=ProOptions(interpolation=1.0))
    part = pro(pool, start, limits=limits, seed=3)
    assert np.abs(whole - start).max() > 0.5 and part == pytest.approx(0.9 * start + 0.1 * whole)
    limits.bounds[1], limits.bounds[2] = (0.95, 1.0), (0.0, 0.55)
    bound = pro(pool, start, limits=limits, seed=3)
    assert part[1] < 0.95 and part[2] > 0.55
    assert bound == pytest.approx([part[0], 0.95, 0.55, part[3]])
    better, _ = sample_pairs(pool, smoothed_bleu(pool.statistics), 3, ProOptions())
    assert np.bincount(better // 60).tolist() == [50] * 10


@pytest.mark.parametrize("scale", [0.01, 3.0, math.log(100)])
def test_steps_of_mira_fit_the_scale_of_features(tmp_path: Path, scale: float) -> None:
    """Features in another unit, such as logarithms to another base, have weights in the other unit."""
    start = {"f0": 1.0, "f1": 1.0, "f2": 1.0, "f3": 1.0}

    def chosen(name: str, unit: float) -> np.ndarray:
        decoder, references = solvable(1, BEST, sentences=8, size=20)
        decoder.features = [features * unit for features in decoder.features]
        first = {feature: weight / unit for feature, weight in start.items()}
        options = TuneOptions("mira-batch", iterations=2)
        result = tune(decoder, Bleu(references), first, tmp_path / name, options)
        return np.array(list(result.iterations[1].weights.values()))

    plain = chosen("plain", 1.0)
    assert chosen("scaled", scale) * scale == pytest.approx(plain, rel=1e-6)
    assert plain.tolist() != [1.0] * 4


def test_the_published_step_is_for_logarithms_to_base_100(monkeypatch: pytest.MonkeyPatch) -> None:
    """C is the published one where features vary as they do on ja-en."""
    rows = scipy.sparse.csr_array([[0.0, 1.0], [4.0, 1.0], [0.0, 2.0], [0.0, 2.0]])
    pool = PoolArrays(np.array([0, 2, 4, 4], dtype=np.int32), rows, np.zeros((4, 10)))
    assert feature_variance(pool) == (4 + 0) / 2
    one = PoolArrays(np.array([0, 1], dtype=np.int32), rows[:1], np.zeros((1, 10)))
    assert feature_variance(one) == 1
    steps = []

    def recorded(*arguments: object, options: MiraOptions, **more: object) -> MiraResult:
        steps.append(options.c)
        return MiraResult(np.ones(2), [])

    monkeypatch.setattr(batch, "mira_batch", recorded)

    class Lists:
        def arrays(self) -> PoolArrays:
            return pool

    state = SimpleNamespace(
        metric=None, weights=None, limits=None, seed=1, decoder=SimpleNamespace(feature_names=["a", "b"])
    )
    MiraBatch(c=0.02).choose(Lists(), state)  # type: ignore[arg-type]
    assert steps == [pytest.approx(0.02 * 4.1 / 2)]
