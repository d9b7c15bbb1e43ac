"""Several runs of tuning with different seeds: their scores, the best of them, and more runs later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiero import FormatError, read_weights
from hiero.evaluate import Bleu
from hiero.tune import HeldOut, Iteration, TuneOptions, TuneResult, tune, tune_runs
from hiero.tune.run.results import best_iteration
from support.synthetic_decoder import solvable
from support.tuning import BEST, run


def test_the_spread_of_runs(tmp_path: Path) -> None:
    scores = {1: 30.0, 2: 33.0, 3: 36.0}

    def tuned(name: str, folder: Path, seed: int) -> TuneResult:
        weights = {"a": float(seed)}
        return TuneResult([Iteration(weights, scores[seed], 66 - scores[seed], 0, 0)], 0, "")

    runs = tune_runs(tuned, 3, 1, tmp_path)
    # Iterations are judged by the held-out set, where the first is the best.
    assert (runs.scores, runs.mean, runs.deviation, runs.best) == ([36, 33, 30], 33, 3, "run-1")
    assert read_weights(tmp_path / "weights.txt") == {"a": 1}


def test_runs_with_several_seeds(tmp_path: Path) -> None:
    seeds: dict[str, int] = {}

    def tuned(name: str, folder: Path, seed: int) -> TuneResult:
        seeds[name] = seed
        assert folder == tmp_path / "out" / name
        return run(folder, k=5, iterations=3, seed=seed)

    runs = tune_runs(tuned, 3, 7, tmp_path / "out")
    assert seeds == {"run-1": 7, "run-2": 8, "run-3": 9} and list(runs.results) == list(seeds)
    assert runs.results["run-2"] == run(tmp_path / "alone", k=5, iterations=3, seed=8)
    scores = [result.iterations[result.best].score for result in runs.results.values()]
    assert runs.scores == scores and runs.mean == np.mean(scores)
    assert runs.deviation == pytest.approx(np.std(scores, ddof=1))
    assert runs.results[runs.best].score == max(scores)
    assert read_weights(tmp_path / "out" / "weights.txt") == runs.results[runs.best].weights
    # More runs take up those that are there; another seed is refused.
    seeds.clear()
    assert list(tune_runs(tuned, 4, 7, tmp_path / "out").results)[:3] == list(runs.results)
    with pytest.raises(FormatError, match=r"holds another run, see runs\.json"):
        tune_runs(tuned, 3, 8, tmp_path / "out")


def test_held_out_scores_judge(tmp_path: Path) -> None:
    iterations = [Iteration({}, 1.0, 5.0, 1, 1), Iteration({}, 2.0, 6.0, 1, 1), Iteration({}, 3.0, 6.0, 1, 1)]
    assert best_iteration(iterations) == 1 and TuneResult(iterations, 1, "").score == 6.0
    assert best_iteration([Iteration({}, score, None, 1, 1) for score in (1.0, 3.0, 2.0)]) == 1


def test_what_makes_another_run(tmp_path: Path) -> None:
    """A change of anything that weights depend on is refused, and named."""
    decoder, references = solvable(1, BEST, sentences=5, size=8)
    other, other_references = solvable(2, BEST, sentences=5, size=8)
    start = dict.fromkeys(decoder.feature_names, 1.0)
    options = TuneOptions(k=4, iterations=2)
    given = {
        **{"metric": Bleu(references), "start": start, "origin": {"model": "a"}},
        "held_out": HeldOut(other, Bleu(other_references)),
    }

    def again(**change: Any) -> None:
        tune(decoder, directory=tmp_path, options=options, **(given | change))

    again()
    again(start=start | {"f0": np.float32(1)})
    for name, change in (
        ("start.f1", {"start": start | {"f1": 1.5}}),
        ("metric", {"metric": Bleu([["a b c"], *references[1:]])}),
        ("metric", {"metric": Bleu(references, effective_length="shortest")}),
        ("held_out", {"held_out": None}),
        ("held_out", {"held_out": HeldOut(other, Bleu([["a b c"], *other_references[1:]]))}),
        ("origin.model", {"origin": {"model": "b"}}),
    ):
        with pytest.raises(FormatError, match=f"holds another run, see run.json, {name};"):
            again(**change)


def test_translations_are_those_of_the_best_weights(tmp_path: Path) -> None:
    """The best weights need not be the last."""
    decoder, references = solvable(1, BEST, sentences=8, size=20)
    start = dict.fromkeys(decoder.feature_names, 1.0)
    other, other_references = solvable(2, list(start.values()), sentences=8, size=20)
    held_out = HeldOut(other, Bleu(other_references))
    options = TuneOptions(k=5, iterations=3)
    result = tune(decoder, Bleu(references), start, tmp_path, options, held_out=held_out)
    assert result.best == 0 < len(result.iterations) - 1

    def lines(weights: Mapping[str, float]) -> list[str]:
        vector = np.array([weights[name] for name in decoder.feature_names])
        return [found.hypotheses.texts()[0] for found in decoder.kbest(vector, 1)]

    found = (tmp_path / "translations.txt").read_text().splitlines()
    assert found == lines(result.weights) != lines(result.iterations[-1].weights)
