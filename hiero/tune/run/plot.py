"""A picture of the metric by iteration."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hiero.base.files import replacing
from hiero.tune.run.results import TuneResult


def plot_runs(runs: Mapping[str, TuneResult], metric: str, path: str | os.PathLike[str]) -> None:
    """Draws the metric of every iteration of the named runs, with a dashed line for the held-out set and a
    mark at the best iteration. Needs matplotlib; raises ModuleNotFoundError without it."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, run in runs.items():
        prefix = f"{name}: " if name else ""
        scores = [iteration.score for iteration in run.iterations]
        (line,) = axes.plot(range(len(scores)), scores, marker=".", label=f"{prefix}tuning set")
        colour = line.get_color()
        held_out = [i.held_out for i in run.iterations if i.held_out is not None]
        if held_out:
            axes.plot(range(len(held_out)), held_out, "--", color=colour, label=f"{prefix}held-out set")
        axes.plot(run.best, run.score, "o", color=colour, label=f"{prefix}best")
    axes.set_xlabel("iteration")
    axes.set_ylabel(metric)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.legend(loc="outside right upper", fontsize="small")
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
