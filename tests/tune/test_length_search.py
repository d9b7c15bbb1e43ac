"""Tests of the search for the best WordPenalty, in every method that has it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hiero.evaluate import Bleu
from hiero.tune import METHODS, TuneOptions, TuneResult, tune
from hiero.tune.methods import length
from hiero.tune.methods.mert.climb import Lines
from hiero.tune.run.method import TuningState
from hiero.tune.run.protocol import Array
from support.synthetic_decoder import WORDS, TableDecoder

SEARCHING = ["mira", "mira-batch", "pro", "risk"]
NAMES = ["Model", "WordPenalty", "Noise"]
START = {"Model": 1.0, "WordPenalty": 0.3, "Noise": 0.2}


def by_length(seed: int) -> tuple[TableDecoder, Bleu]:
    """Makes hypotheses of several lengths, of which longer ones have a better Model and the right length
    wins with some WordPenalty."""
    rng = np.random.default_rng(seed)
    hypotheses, features, references = [], [], []
    for _ in range(20):
        words = rng.choice(WORDS, 14).tolist()
        references.append([" ".join(words[: rng.integers(8, 11)])])
        lengths = rng.permutation(np.repeat(np.arange(4, 15), 2)).tolist()
        hypotheses.append([words[:n] if k % 2 else [*words[: n - 1], "x"] for k, n in enumerate(lengths)])
        values = [[0.5 * n + rng.normal(), -n, rng.normal()] for n in lengths]
        features.append(np.array(values))
    decoder = TableDecoder(hypotheses, features)
    decoder.feature_names = NAMES
    return decoder, Bleu(references)


def tuned(
    folder: Path, method: str, fixed: tuple[str, ...] = (), names: list[str] = NAMES, **more: object
) -> TuneResult:
    decoder, metric = by_length(1)
    decoder.feature_names = names
    start = dict(zip(names, START.values(), strict=True))
    options = TuneOptions(method, iterations=2, fixed=fixed, **more)  # type: ignore[arg-type]
    return tune(decoder, metric, start, folder, options)


def vector(result: TuneResult) -> Array:
    """Returns the weights that a run chose first."""
    return np.array(list(result.iterations[1].weights.values()))


def metric_of(weights: Array) -> float:
    """Returns the metric of the best of all hypotheses."""
    return metric_of_choice(tuple(int((features @ weights).argmax()) for features in first_set()[0].features))


@cache
def first_set() -> tuple[TableDecoder, Bleu]:
    return by_length(1)


@cache
def metric_of_choice(choice: Sequence[int]) -> float:
    """Returns the metric of one hypothesis of each sentence, given by number."""
    decoder, metric = first_set()
    lines = [" ".join(words[k]) for words, k in zip(decoder.hypotheses, choice, strict=True)]
    return float(metric.score(metric.statistics(lines).sum(axis=0)))


def test_which_methods_search() -> None:
    assert sorted(n for n, m in METHODS.items() if isinstance(m, length.LengthSearch)) == SEARCHING
    assert all(not METHODS[name].length_search for name in SEARCHING)  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", SEARCHING)
def test_the_best_word_penalty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Weights differ from those without the search by WordPenalty and a common factor, and no other
    WordPenalty is better among all hypotheses."""
    monkeypatch.setattr(length, "_SMOOTHING", 0.0)
    plain = vector(tuned(tmp_path / "plain", method))
    found = vector(tuned(tmp_path / "found", method, length_search=True))
    assert np.abs(found).sum() == pytest.approx(np.abs(plain).sum())
    assert found[2] / found[0] == pytest.approx(plain[2] / plain[0])
    tried = [plain + np.array([0, gamma, 0]) for gamma in np.linspace(-10, 10, 2001) * np.abs(plain).max()]
    assert metric_of(found) >= max(map(metric_of, tried)) - 1e-9
    assert method in ("mira-batch", "risk") or metric_of(found) > metric_of(plain)


@pytest.mark.parametrize("method", [*SEARCHING, "risk on lists"])
def test_methods_hand_over_what_they_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The search gets the method's weights, and lines of all hypotheses; what it returns is decoded with."""
    handed: list[Array] = []

    def recorded(self: object, weights: Array, lines: Lines, state: TuningState) -> Array:
        handed.append(weights)
        pool, intercepts, slopes = lines(weights, np.array([0.0, 1.0, 0.0]))
        # The shortest and the longest are on the envelope of any line, and a few of those between.
        assert pool.instances == 20 and len(pool) >= 60
        assert set(slopes.tolist()) == set(range(-14, -3))
        assert len(intercepts) == len(slopes) == len(pool)
        return np.array([3.0, 2.0, 1.0])

    more = {"space": "nbest"} if method == "risk on lists" else {}
    name = method.split()[0]
    plain = vector(tuned(tmp_path / "plain", name, **more))
    monkeypatch.setattr(length.LengthSearch, "with_best_length", recorded)
    found = tuned(tmp_path / "found", name, length_search=True, **more)
    assert vector(found).tolist() == [3.0, 2.0, 1.0]
    assert len(handed) == 1 and handed[0].tolist() == plain.tolist()


@pytest.mark.parametrize("method", SEARCHING)
def test_what_is_left_alone(tmp_path: Path, method: str) -> None:
    """A fixed WordPenalty, and weights of a model without one."""
    for name, more in (
        ("fixed", {"fixed": ("WordPenalty",)}),
        ("other", {"names": ["Model", "Other", "Noise"]}),
    ):
        plain = vector(tuned(tmp_path / f"{name}-plain", method, **more))  # type: ignore[arg-type]
        found = vector(tuned(tmp_path / f"{name}-found", method, length_search=True, **more))  # type: ignore[arg-type]
        assert (found == plain).all()


@pytest.mark.parametrize("method", SEARCHING)
def test_bounds_are_kept(tmp_path: Path, method: str) -> None:
    decoder, metric = by_length(1)
    options = TuneOptions(method, iterations=2, length_search=True, bounds={"WordPenalty": (0.2, 0.35)})
    chosen = tune(decoder, metric, START, tmp_path / "out", options).iterations[1].weights
    assert 0.2 <= chosen["WordPenalty"] <= 0.35


def test_mira_keeps_lists_for_the_search_alone(tmp_path: Path) -> None:
    """Workers go on from their own weights: passes are the same with the search and without it."""
    decoder, metric = by_length(2)
    for name, searches in (("with", True), ("without", False)):
        options = TuneOptions("mira", iterations=3, patience=3, length_search=searches)
        tune(decoder, metric, START, tmp_path / name, options)
    passes = [(tmp_path / name / "pass-001.npz").read_bytes() for name in ("with", "without")]
    assert passes[0] == passes[1]
