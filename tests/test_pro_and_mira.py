"""PRO and batch MIRA on pools made by hand: their sentence BLEU, pairs, classifier and steps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from synthetic_decoder import solvable

from hiero.evaluate import Bleu
from hiero.tune.mira_batch import MiraOptions, background_bleu, mira_batch
from hiero.tune.pool import Pool, PoolArrays
from hiero.tune.pro import ProOptions, pro, sample_pairs, smoothed_bleu

BEST = (1.0, -0.5, 2.0, 0.25)


def test_sentence_bleu_by_hand() -> None:
    # 4 words, all right, of 4: the reference counts as 5.
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
    # Of 2,000 pairs some 160 are of the best and the worst, more than are kept.
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == {(4, 0)}
    _, wide = sample_pairs(pool, quality, 1, ProOptions(samples=2000, kept=300))
    assert set(wide.tolist()) == {0, 1}
    few, _ = sample_pairs(pool, quality, 1, ProOptions(samples=3, kept=100))
    assert len(few) <= 3
    flat = pro(pool, np.ones(1), free=[0], bounds=np.array([[-np.inf, np.inf]]), seed=1)
    assert flat.tolist() == [1.0]


def test_classifier_against_gradient_descent() -> None:
    rng = np.random.default_rng(1)
    decoder, references = solvable(5, BEST, sentences=10)
    pool = Pool(10, 4, Bleu(references))
    new, _ = pool.unseen(decoder.kbest(np.ones(4), 60))
    options = ProOptions(interpolation=1.0)
    found = pro(
        new, np.ones(4), free=range(4), bounds=np.tile([-np.inf, np.inf], (4, 1)), seed=3, options=options
    )
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
    statistics[:, :2] = 23
    statistics[:, 2:6] = [23, 22, 21, 20]
    statistics[:, 6:10] = matches[:, None]
    pool = PoolArrays(np.arange(0, 4001, 100, dtype=np.int32), scipy.sparse.csr_array(features), statistics)
    for scale in (0.1, 10.0):
        weights = np.array([scale, 0.2 * scale])
        bounds = np.tile([-np.inf, np.inf], (2, 1))
        for seed in range(25):
            weights = pro(pool, weights, free=[1], bounds=bounds, seed=seed)
        assert weights[0] == scale and 0.8 < weights[1] / scale < 1.25


def test_mira_moves_by_hope_and_fear() -> None:
    # One sentence of two hypotheses, one pass: a step of min(C, loss / |difference|^2) from fear to hope.
    right, wrong = [4.0, 4, 4, 3, 2, 1, 4, 3, 2, 1], [4.0, 4, 4, 3, 2, 1, 0, 0, 0, 0]
    features = scipy.sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    pool = PoolArrays(np.array([0, 2], np.int32), features, np.array([wrong, right]))
    metric = Bleu([["a"]])
    bounds = np.tile([-np.inf, np.inf], (2, 1))
    quality = background_bleu(pool.statistics, np.ones(10))
    loss = quality[1] - quality[0] + 1.0  # the model prefers the wrong one by 1
    for c in (0.01, 10.0):
        found = mira_batch(
            pool, metric, np.array([0.0, 1.0]), free=[0, 1], bounds=bounds, seed=1, options=MiraOptions(1, c)
        )
        step = min(c, loss / 2)
        assert found.weights == pytest.approx([step, 1 - step])
    averaged = mira_batch(
        pool, metric, np.array([0.0, 1.0]), free=[0, 1], bounds=bounds, seed=1, options=MiraOptions(3, 0.01)
    )
    assert averaged.weights == pytest.approx([0.0, 1.0], abs=0.031) and len(averaged.scores) == 3
