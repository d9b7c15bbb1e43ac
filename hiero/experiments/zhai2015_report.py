"""Tables and pictures of what ``hiero.experiments.zhai2015`` found."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.base.files import replacing
from hiero.experiments.results import (
    Column,
    Results,
    Table,
    columns,
    deviation,
    head,
    judged,
    line,
    spread,
)
from hiero.experiments.zhai2015_systems import (
    TABLE_1,
    TABLE_4,
    TABLE_5,
    System,
    Zhai2015Options,
    figure_5,
)
from hiero.tune.analysis import Analysis


@dataclass(frozen=True)
class Looks:
    """Analyses by the names of system and set, and BLEU by beam by the name of the system."""

    analyses: Mapping[tuple[str, str], Analysis]
    curves: Mapping[str, Mapping[int, float]]


def tables(result: Results[System]) -> list[Table[System]]:
    """Those that have rows, judged against the plain method."""
    methods = (("Table 1", "MERT", TABLE_1), ("Table 4", "batch MIRA", TABLE_4), ("Table 5", "PRO", TABLE_5))
    return [
        Table(number, method, there, rows[0])
        for number, method, rows in methods
        if (there := [system for system in rows if system in result.outcomes])
    ]


def markdown(result: Results[System], looks: Looks, options: Zhai2015Options) -> str:
    """All tables, and the points of the figures."""
    kinds = columns(result)
    parts = []
    for table in tables(result):
        lines = [*_scores(result, table.systems, kinds), "", _note(result, table.baseline)]
        parts.append("\n".join([f"## {table.title}", "", *lines]))
    parts.append("\n".join(["## Tables 2 and 3: what search could find", "", *_looks(looks)]))
    parts.append("\n".join(["## Table 6: seconds an iteration", "", *_times(result)]))
    parts.append("\n".join(["## Figure 4: BLEU by beam", "", *_beams(looks)]))
    if short := on_short_sentences(result, options):
        lines = [*_scores(result, short, kinds), "", _note(result, short[0])]
        parts.append("\n".join(["## Figure 5: tuning on short sentences", "", *lines]))
    return "\n\n".join(parts) + "\n"


def on_short_sentences(result: Results[System], options: Zhai2015Options) -> list[System]:
    """The rows of Figure 5 that there are: none, or the plain one and others."""
    return [system for system in figure_5(options) if system in result.outcomes]


def _note(result: Results[System], baseline: System) -> str:
    return (
        f"BLEU, mean and deviation of {len(result.outcomes[baseline].weights)} runs. + or ++ is better than "
        f"{baseline.name} with p < 0.05 or p < 0.01 by paired bootstrap, - or -- is worse."
    )


def _scores(result: Results[System], rows: Sequence[System], kinds: Sequence[Column]) -> Iterator[str]:
    yield from head(["system", "tuning set", *(column.name for column in kinds), "mean", "iterations"])
    for system in rows:
        outcome = result.outcomes[system]
        found = [judged(result, system, column, rows[0]) for column in kinds]
        mean = np.mean([each.runs.mean for each, kind in zip(found, kinds, strict=True) if not kind.genre])
        cells = [system.name, spread(outcome.tuning), *map(str, found)]
        yield line([*cells, f"{mean:.2f}", f"{np.mean(outcome.passes):.1f}"])


def _looks(looks: Looks) -> Iterator[str]:
    names = ["system", "set", "best", "k-best oracle", "guided oracle", "diversity", "top-down", "guided"]
    yield from head(names)
    for (system, own), found in looks.analyses.items():
        scores = [f"{score:.2f}" for score in (found.best, found.kbest_oracle, found.guided_oracle)]
        reached = [f"{share:.1%}" for share in (found.top_down, found.guided)]
        yield line([system, own, *scores, f"{found.diversity:.4f}", *reached])
    yield ""
    yield "BLEU of oracles by Bleu+1, diversity of the k best, and the share of spans that are reached."


def _times(result: Results[System]) -> Iterator[str]:
    yield from head(["system", "decoding", "choosing weights"])
    for table in tables(result):
        for system in table.systems:
            outcome = result.outcomes[system]
            # An iteration more than weights are chosen.
            decoding = np.sum(outcome.decoding) / np.sum(np.add(outcome.passes, 1))
            choosing = np.sum(outcome.choosing) / max(np.sum(outcome.passes), 1)
            yield line([system.name, f"{decoding:.1f}", f"{choosing:.1f}"])


def _beams(looks: Looks) -> Iterator[str]:
    beams = list(next(iter(looks.curves.values())))
    yield from head(["system", *map(str, beams)])
    for name, curve in looks.curves.items():
        yield line([name, *(f"{curve[beam]:.2f}" for beam in beams)])


def plot_shares(result: Results[System], options: Zhai2015Options, path: str | os.PathLike[str]) -> None:
    """Draws Figure 5: BLEU of the first set by the share of a sentence that spans have more than, with the
    deviation between runs. Needs matplotlib; raises ModuleNotFoundError without it."""
    from matplotlib.figure import Figure

    one = result.sets[0]
    column = Column(one.name, "", range(len(one.sentences)))
    plain, *aware = on_short_sentences(result, options)
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    scores = [judged(result, system, column, plain).runs.scores for system in aware]
    means, spreads = [np.mean(each) for each in scores], [deviation(list(each)) for each in scores]
    shares = [float(system.share or 0) for system in aware]
    axes.errorbar(shares, means, yerr=spreads, marker="o", capsize=3, label="guided backtrace")
    axes.axhline(judged(result, plain, column, plain).runs.mean, color="grey", label="MERT")
    axes.set_xlabel("least span, as a share of the sentence")
    axes.set_ylabel("BLEU")
    axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
