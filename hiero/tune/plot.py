"""The metric by iteration, as a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hiero.base.files import replacing
from hiero.tune.iterations import TuneResult


def plot_runs(runs: Mapping[str, TuneResult], metric: str, path: str | os.PathLike[str]) -> None:
    """Draws the metric of every iteration of named runs, dashed that of the held-out set, and marks the best
    ones. Needs matplotlib; raises ModuleNotFoundError without it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, run in runs.items():
        scores = [iteration.score for iteration in run.iterations]
        (line,) = axes.plot(range(len(scores)), scores, marker=".", label=name)
        axes.plot(run.best, scores[run.best], marker="o", color=line.get_color())
        held_out = [i.held_out for i in run.iterations if i.held_out is not None]
        if held_out:
            axes.plot(range(len(held_out)), held_out, linestyle="--", color=line.get_color())
    axes.set_xlabel("iteration")
    axes.set_ylabel(metric)
    if len(runs) > 1:
        axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
