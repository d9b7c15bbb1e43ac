"""Tuning several times with other seeds: random choices make runs differ, by how much is worth knowing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiero.base.directories import run_directory
from hiero.base.weights import write_weights
from hiero.tune.iterations import TuneResult

_RECORD = "runs.json"


@dataclass(frozen=True)
class Runs:
    """Results by the names of their folders, the best of them, and the spread of their scores."""

    results: Mapping[str, TuneResult]
    best: str

    @property
    def scores(self) -> list[float]:
        return [result.score for result in self.results.values()]

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """The standard deviation of the runs as a sample of two or more."""
        return float(np.std(self.scores, ddof=1))


def tune_runs(
    tuned: Callable[[str, Path, int], TuneResult], count: int, seed: int, directory: str | os.PathLike[str]
) -> Runs:
    """Runs with the seeds ``seed``, ``seed + 1``, ... in folders ``run-1``, ``run-2``, ... of a directory;
    its ``weights.txt`` are those of the best run.

    ``tuned(name, folder, seed)`` makes one, as by ``tune``. What the directory holds is taken up. Raises
    FormatError where it holds runs with another seed, and what ``tuned`` raises.
    """
    folder = Path(directory)
    with run_directory(folder, _RECORD, {"seed": seed}):
        names = [f"run-{number + 1}" for number in range(count)]
        results = {name: tuned(name, folder / name, seed + number) for number, name in enumerate(names)}
        best = max(results, key=lambda name: results[name].score)
        write_weights(folder / "weights.txt", results[best].weights)
    return Runs(results, best)
