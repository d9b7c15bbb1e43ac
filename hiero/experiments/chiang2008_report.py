"""Tables and pictures of what ``hiero.experiments.chiang2008`` found."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.base.files import replacing
from hiero.experiments.chiang2008_systems import FULL, TABLE_1, TABLE_2, System
from hiero.experiments.results import (
    Outcome,
    Results,
    Table,
    columns,
    csv_text,
    deviation,
    head,
    judged,
    lengths,
    line,
    spread,
)


def tables(result: Results[System]) -> list[Table[System]]:
    """With the rows that there are."""
    first, second = (
        [system for system in rows if system in result.outcomes] for rows in (TABLE_1, (FULL, *TABLE_2))
    )
    return [
        Table("Table 1", "methods and features", first, TABLE_1[0]),
        Table("Table 2", "parts of the method", second, FULL),
    ]


def left_out(rows: Collection[System]) -> str:
    """Lists the rows of the paper that were not run; "" if all were."""
    left = [system.name for system in (*TABLE_1, *TABLE_2) if system not in rows]
    return f"Left out for want of parses or counts of distortion: {'; '.join(left)}." if left else ""


def markdown(result: Results[System]) -> str:
    """Both tables, and the weights of all features by MIRA."""
    kinds = columns(result)
    parts = [text] if (text := left_out(result.outcomes)) else []
    for table in tables(result):
        baseline = table.baseline
        names = [
            "system",
            "#",
            "tuning set",
            *(column.name for column in kinds),
            "length",
            "passes",
            "minutes",
        ]
        lines = head(names)
        for system in table.systems:
            outcome = result.outcomes[system]
            cells = [str(judged(result, system, column, baseline)) for column in kinds]
            lines.append(
                line(
                    [
                        "full system" if baseline == FULL == system else system.name,
                        str(len(outcome.weights[0])),
                        spread(outcome.tuning),
                        *cells,
                        spread(lengths(result, outcome), 3),
                        f"{np.mean(outcome.passes):.1f}",
                        f"{np.mean(outcome.seconds) / 60:.1f}",
                    ]
                )
            )
        compared = "full system" if baseline == FULL else baseline.name
        note = (
            f"BLEU, mean and deviation of {len(result.outcomes[baseline].weights)} runs. + or ++ is better "
            f"than {compared} with p < 0.05 or p < 0.01 by paired bootstrap, - or -- is worse; length: words "
            "of translations of all sets for words of references."
        )
        parts.append("\n".join([f"## {table.title}", "", *lines, "", note]))
    parts.append(
        "\n".join(["## Weights by MIRA with all features", "", *_weight_tables(result.outcomes[FULL])])
    )
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class Grid:
    """Weights of features that come in pairs: by row, and by column the weights of all runs."""

    columns: tuple[str, str]
    rows: Mapping[str, tuple[list[float], list[float]]]


def grids(outcome: Outcome) -> tuple[list[Grid], dict[str, list[float]]]:
    """Weights of constituents by label, of nonterminals by size, and those of other features."""
    weights = {name: [run[name] for run in outcome.weights] for name in outcome.weights[0]}
    found = []
    for pair, pattern in (
        (("Match", "Cross"), "Syntax_{row}_{column}"),
        (("Monotone", "Reordered"), "Distortion_{column}_{row}"),
    ):
        before, behind = pattern.format(row="\n", column=pair[0]).split("\n")
        rows = [
            name[len(before) : len(name) - len(behind)]
            for name in weights
            if name.startswith(before) and name.endswith(behind)
        ]
        names = {row: [pattern.format(row=row, column=column) for column in pair] for row in rows}
        if names:
            found.append(Grid(pair, {row: (weights[a], weights[b]) for row, (a, b) in names.items()}))
            weights = {
                name: each
                for name, each in weights.items()
                if not any(name in both for both in names.values())
            }
    return found, weights


def _weight_tables(outcome: Outcome) -> Iterator[str]:
    paired, others = grids(outcome)
    for grid in paired:
        yield from head(["", *grid.columns])
        for row, both in grid.rows.items():
            yield line([row, *(spread(values, 3) for values in both)])
        yield ""
    yield from head(["feature", "weight"])
    for name, values in others.items():
        yield line([name, spread(values, 3)])


def weights_csv(result: Results[System]) -> str:
    """A line for each system and feature: mean, deviation and the weights of all runs."""
    rows: list[Sequence[object]] = [["system", "feature", "mean", "deviation", "runs"]]
    for system, outcome in result.outcomes.items():
        for name in outcome.weights[0]:
            values = [run[name] for run in outcome.weights]
            rows.append([system.name, name, np.mean(values), deviation(values), *values])
    return csv_text(rows)


def plot_weights(result: Results[System], path: str | os.PathLike[str]) -> None:
    """Draws the weights of all features by MIRA, with the deviation between runs. Needs matplotlib; raises
    ModuleNotFoundError without it."""
    from matplotlib.figure import Figure

    paired, others = grids(result.outcomes[FULL])
    figure = Figure(figsize=(5 * (len(paired) + 1), 5), layout="constrained")
    panels = figure.subplots(1, len(paired) + 1, squeeze=False)[0]
    drawn = [{"": others}]
    drawn += [
        {column: {row: both[k] for row, both in grid.rows.items()} for k, column in enumerate(grid.columns)}
        for grid in paired
    ]
    for axes, series in zip(panels, drawn, strict=True):
        for number, (name, weights) in enumerate(series.items()):
            places = np.arange(len(weights)) + 0.2 * (number - (len(series) - 1) / 2)
            means, spread = zip(*((np.mean(each), deviation(each)) for each in weights.values()), strict=True)
            axes.errorbar(means, places, xerr=spread, fmt="os"[number], capsize=3, label=name)
            axes.set_yticks(range(len(weights)), list(weights))
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlabel("weight")
        if len(series) > 1:
            axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
