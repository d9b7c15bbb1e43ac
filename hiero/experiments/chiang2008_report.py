"""Tables and pictures of what ``hiero.experiments.chiang2008`` found."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero.base.files import replacing
from hiero.evaluate import Runs, approximate_randomization, paired_bootstrap
from hiero.experiments.chiang2008_systems import FULL, TABLE_1, TABLE_2, Chiang2008, Outcome, System


@dataclass(frozen=True)
class Column:
    """A set, or the segments of one genre in it."""

    set: str
    genre: str
    segments: Sequence[int]

    @property
    def name(self) -> str:
        return f"{self.set} {self.genre}".strip()


@dataclass(frozen=True)
class Judged:
    """A system's runs on a column, and p of the difference to the system that it is compared with; None for
    that system itself."""

    runs: Runs
    difference: float
    bootstrap: float | None
    randomisation: float | None

    def __str__(self) -> str:
        """With the paper's marks."""
        p = 1.0 if self.bootstrap is None else self.bootstrap
        mark = ("+" if self.difference > 0 else "-") * ((p < 0.05) + (p < 0.01))
        return f"{self.runs.mean:.2f} ±{self.runs.deviation:.2f} {mark}".rstrip()


def columns(result: Chiang2008) -> list[Column]:
    """Every set, and where it has two genres or more, each of these."""
    found = []
    for one in result.sets:
        found.append(Column(one.name, "", range(len(one.sentences))))
        if len(one.genres) > 1:
            found += [Column(one.name, genre or "other", numbers) for genre, numbers in one.genres.items()]
    return found


def judged(result: Chiang2008, system: System, column: Column, baseline: System) -> Judged:
    metric = result.metrics[column.set]

    def runs(of: System) -> Runs:
        return Runs.of(metric, result.outcomes[of].statistics[column.set][:, list(column.segments)])

    ours, theirs = runs(system), runs(baseline)
    if system == baseline:
        return Judged(ours, 0.0, None, None)
    p = paired_bootstrap(metric, theirs, ours), approximate_randomization(metric, theirs, ours)
    return Judged(ours, ours.mean - theirs.mean, *p)


def tables(result: Chiang2008) -> list[tuple[str, list[System], System]]:
    """Titles, rows that there are, and what these are compared with."""
    first, second = (
        [system for system in rows if system in result.outcomes] for rows in (TABLE_1, (FULL, *TABLE_2))
    )
    return [
        ("Table 1: methods and features", first, TABLE_1[0]),
        ("Table 2: parts of the method", second, FULL),
    ]


def left_out(rows: Collection[System]) -> str:
    """What is said of rows of the paper that there are not; nothing if there are all."""
    left = [system.name for system in (*TABLE_1, *TABLE_2) if system not in rows]
    return f"Left out for want of parses or counts of distortion: {'; '.join(left)}." if left else ""


def markdown(result: Chiang2008) -> str:
    """Both tables, and the weights of all features by MIRA."""
    kinds = columns(result)
    parts = [text] if (text := left_out(result.outcomes)) else []
    for title, rows, baseline in tables(result):
        names = [
            "system",
            "#",
            "tuning set",
            *(column.name for column in kinds),
            "length",
            "passes",
            "minutes",
        ]
        lines = _head(names)
        for system in rows:
            outcome = result.outcomes[system]
            cells = [str(judged(result, system, column, baseline)) for column in kinds]
            lines.append(
                _row(
                    [
                        "full system" if baseline == FULL == system else system.name,
                        str(len(outcome.weights[0])),
                        _spread(outcome.tuning),
                        *cells,
                        _spread(lengths(result, outcome), 3),
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
        parts.append("\n".join([f"## {title}", "", *lines, "", note]))
    parts.append(
        "\n".join(["## Weights by MIRA with all features", "", *_weight_tables(result.outcomes[FULL])])
    )
    return "\n\n".join(parts) + "\n"


def lengths(result: Chiang2008, outcome: Outcome) -> list[float]:
    """By run, words of translations of all sets for words of references."""
    sums = sum(outcome.statistics[one.name].sum(axis=1) for one in result.sets)
    assert isinstance(sums, np.ndarray)
    return [float(ratio) for ratio in sums[:, 0] / sums[:, 1]]


@dataclass(frozen=True)
class Grid:
    """Weights of features that come in pairs: by row, and by column the weights of all runs."""

    columns: tuple[str, str]
    rows: Mapping[str, tuple[list[float], list[float]]]


def grids(outcome: Outcome) -> tuple[list[Grid], dict[str, list[float]]]:
    """Weights of constituents by label, of nonterminals by size, and those of other features."""
    weights = {name: [run[name] for run in outcome.weights] for name in outcome.weights[0]}
    found = []
    for columns, pattern in (
        (("Match", "Cross"), "Syntax_{row}_{column}"),
        (("Monotone", "Reordered"), "Distortion_{column}_{row}"),
    ):
        before, behind = pattern.format(row="\n", column=columns[0]).split("\n")
        rows = [
            name[len(before) : len(name) - len(behind)]
            for name in weights
            if name.startswith(before) and name.endswith(behind)
        ]
        names = {row: [pattern.format(row=row, column=column) for column in columns] for row in rows}
        if names:
            found.append(Grid(columns, {row: (weights[a], weights[b]) for row, (a, b) in names.items()}))
            weights = {
                name: each
                for name, each in weights.items()
                if not any(name in pair for pair in names.values())
            }
    return found, weights


def _weight_tables(outcome: Outcome) -> Iterator[str]:
    paired, others = grids(outcome)
    for grid in paired:
        yield from _head(["", *grid.columns])
        for row, both in grid.rows.items():
            yield _row([row, *(_spread(values, 3) for values in both)])
        yield ""
    yield from _head(["feature", "weight"])
    for name, values in others.items():
        yield _row([name, _spread(values, 3)])


def _head(names: Sequence[str]) -> list[str]:
    return [_row(names), _row(["---", *["---:"] * (len(names) - 1)])]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean and deviation, of a sample."""
    return f"{np.mean(values):.{digits}f} ±{_deviation(values):.{digits}f}"


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def scores_csv(result: Chiang2008) -> str:
    """A line for each table, system, set and genre; p of the difference to the system of that table that
    others are compared with."""
    names = ["table", "system", "features", "set", "genre", "runs", "BLEU", "deviation", "difference"]
    rows: list[Sequence[object]] = [[*names, "p bootstrap", "p randomisation"]]
    for title, systems, baseline in tables(result):
        for system in systems:
            features = len(result.outcomes[system].weights[0])
            for column in columns(result):
                found = judged(result, system, column, baseline)
                cells = [title.partition(":")[0], system.name, features, column.set, column.genre]
                cells += [len(found.runs.scores), found.runs.mean, found.runs.deviation, found.difference]
                rows.append([*cells, found.bootstrap, found.randomisation])
    return _csv(rows)


def weights_csv(result: Chiang2008) -> str:
    """A line for each system and feature: mean, deviation and the weights of all runs."""
    rows: list[Sequence[object]] = [["system", "feature", "mean", "deviation", "runs"]]
    for system, outcome in result.outcomes.items():
        for name in outcome.weights[0]:
            values = [run[name] for run in outcome.weights]
            rows.append([system.name, name, np.mean(values), _deviation(values), *values])
    return _csv(rows)


def _csv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def plot_weights(result: Chiang2008, path: str | os.PathLike[str]) -> None:
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
            means, spread = zip(
                *((np.mean(each), _deviation(each)) for each in weights.values()), strict=True
            )
            axes.errorbar(means, places, xerr=spread, fmt="os"[number], capsize=3, label=name)
            axes.set_yticks(range(len(weights)), list(weights))
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlabel("weight")
        if len(series) > 1:
            axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
