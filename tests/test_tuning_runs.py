"""Several runs of tuning with seeds of their own: their scores, the best of them, and more of them later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_tuning import run

from hiero import FormatError, read_weights
from hiero.tune import Iteration, TuneResult, tune_runs
from hiero.tune.iterations import best_of


def test_the_spread_of_runs(tmp_path: Path) -> None:
    scores = {1: 30.0, 2: 33.0, 3: 36.0}

    def tuned(name: str, folder: Path, seed: int) -> TuneResult:
        weights = {"a": float(seed)}
        return TuneResult([Iteration(weights, scores[seed], 66 - scores[seed], 0, 0)], 0, "")

    runs = tune_runs(tuned, 3, 1, tmp_path)
    # Judged by the held-out set, where the first is the best.
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
    # More of them take up what is there; with another seed they are others.
    seeds.clear()
    assert list(tune_runs(tuned, 4, 7, tmp_path / "out").results)[:3] == list(runs.results)
    with pytest.raises(FormatError, match=r"holds another run, see runs\.json"):
        tune_runs(tuned, 3, 8, tmp_path / "out")


def test_held_out_scores_judge(tmp_path: Path) -> None:
    iterations = [Iteration({}, 1.0, 5.0, 1, 1), Iteration({}, 2.0, 6.0, 1, 1), Iteration({}, 3.0, 6.0, 1, 1)]
    assert best_of(iterations) == 1 and TuneResult(iterations, 1, "").score == 6.0
    assert best_of([Iteration({}, score, None, 1, 1) for score in (1.0, 3.0, 2.0)]) == 1
