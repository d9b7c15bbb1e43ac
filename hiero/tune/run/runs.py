"""Several runs of tuning with different seeds: random choices make runs differ, and their spread tells how
much."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiero.base.directories import run_directory
from hiero.base.weights import write_weights
from hiero.tune.run.results import TuneResult

# The file that tells that a directory has several runs.
RUNS_RECORD = "runs.json"


@dataclass(frozen=True)
class Runs:
    """Results of runs by the names of their folders, and the name of the best run."""

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
        """The sample standard deviation of the scores of two or more runs."""
        return float(np.std(self.scores, ddof=1))


def tune_runs(
    run: Callable[[str, Path, int], TuneResult], count: int, seed: int, directory: str | os.PathLike[str]
) -> Runs:
    """Makes runs with the seeds ``seed``, ``seed + 1``, ... in folders ``run-1``, ``run-2``, ... of a
    directory, and writes the weights of the best to its ``weights.txt``.

    ``run(name, folder, seed)`` makes one of them, by ``tune``. Runs that the directory holds are taken up.
    Raises FormatError if they have another seed, and what ``run`` raises.
    """
    folder = Path(directory)
    with run_directory(folder, RUNS_RECORD, {"seed": seed}):
        names = [f"run-{number + 1}" for number in range(count)]
        results = {name: run(name, folder / name, seed + number) for number, name in enumerate(names)}
        best = max(results, key=lambda name: results[name].score)
        write_weights(folder / "weights.txt", results[best].weights)
    return Runs(results, best)
