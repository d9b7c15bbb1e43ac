"""Times of the runs of `hiero experiment`.

    python benchmarks/experiment_times.py RESULTS

RESULTS is a folder that `hiero experiment` has written. Prints for each of its systems the minutes of a run,
and the seconds of an iteration for decoding and for choosing weights, as means of the runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from machine import argument_parser, machine

from hiero.experiments.report import markdown_rows

HEADINGS = ("system", "minutes a run", "decoding, s", "choosing weights, s")


def rows(results: Path) -> Iterator[list[str]]:
    """Yields a row for each system's folder that has runs of `hiero tune`."""
    for folder in sorted(path.parent for path in results.glob("*/row.json")):
        runs = [_iterations(run) for run in sorted(folder.glob("run-*")) if (run / "iteration-000").exists()]
        if runs:
            decoding = sum(time["decoding"] for run in runs for time in run)
            choosing = sum(time["choosing"] for run in runs for time in run)
            decoded = sum(map(len, runs))
            chosen = decoded - len(runs)  # the first weights of a run are given
            minutes = (decoding + choosing) / len(runs) / 60
            means = np.divide([decoding, choosing], [decoded, max(chosen, 1)])
            yield [folder.name, *(f"{value:.1f}" for value in (minutes, *means))]


def _iterations(run: Path) -> list[dict[str, float]]:
    return [json.loads((folder / "times.json").read_text()) for folder in sorted(run.glob("iteration-*"))]


def print_times(results: Path) -> None:
    """Prints a table in Markdown."""
    print("\n".join(markdown_rows(HEADINGS, rows(results))), flush=True)


if __name__ == "__main__":
    arguments = argument_parser(__doc__, "results").parse_args()
    print(machine())
    print_times(arguments.results)
