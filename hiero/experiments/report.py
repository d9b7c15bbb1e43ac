"""The report of an experiment: tables in Markdown, scores as CSV, figures.

A table has a row for each of its systems, and columns for BLEU of all sets as mean and deviation of the runs,
marked where paired bootstrap tells a row from the first one; ``Measure`` adds other columns.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hiero.base.files import replacing, write_atomically
from hiero.evaluate import Runs, approximate_randomization, paired_bootstrap
from hiero.experiments.systems import LabelledSet, Outcome, Results, System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The files that reports are written to.
TABLES, SCORES = "tables.md", "scores.csv"


@dataclass(frozen=True)
class Measure:
    """A column beside those of scores: its heading, and the text of its cell for a system."""

    heading: str
    cell: Callable[[Results, System], str]


def mean_iterations(heading: str) -> Measure:
    """Returns the column of how often weights were chosen."""
    return Measure(heading, lambda results, system: f"{np.mean(results.outcomes[system].iterations):.1f}")


TUNING_SCORE = Measure("tuning set", lambda results, system: spread(results.outcomes[system].tuning))


@dataclass(frozen=True)
class Table:
    """A table of systems by the headings of their rows, each compared with the first.

    Columns ``before`` those of scores and ``after`` them; ``note`` is added to the text under the table.
    """

    number: str
    subject: str
    rows: Mapping[str, System]
    before: Sequence[Measure] = ()
    after: Sequence[Measure] = ()
    note: str = ""

    @property
    def baseline(self) -> System:
        """The system that all rows are compared with."""
        return next(iter(self.rows.values()))


def rows(results: Results, systems: Iterable[System]) -> dict[str, System]:
    """Returns those systems that have results, by their names."""
    return {system.name: system for system in systems if system in results.outcomes}


@dataclass(frozen=True)
class Column:
    """The segments of a set, or those of one genre in it."""

    set: str
    genre: str
    segments: Sequence[int]

    @property
    def name(self) -> str:
        return f"{self.set} {self.genre}".strip()


def whole(one: LabelledSet) -> Column:
    """Returns the column of all segments of a set."""
    return Column(one.name, "", range(len(one.sentences)))


def columns(results: Results) -> list[Column]:
    """Returns a column for each set, and for each genre of a set that has several."""
    every = []
    for one in results.sets:
        every.append(whole(one))
        if len(one.genres) > 1:
            every += [Column(one.name, genre or "other", numbers) for genre, numbers in one.genres.items()]
    return every


@dataclass(frozen=True)
class Comparison:
    """A system's runs on a column, and the difference to another system with p of two tests; these are None
    for a system compared with itself."""

    runs: Runs
    difference: float
    bootstrap: float | None
    randomisation: float | None

    def __str__(self) -> str:
        """Returns mean, deviation, and the marks of Chiang et al. (2008)."""
        p = 1.0 if self.bootstrap is None else self.bootstrap
        mark = ("+" if self.difference > 0 else "-") * ((p < 0.05) + (p < 0.01))
        return f"{self.runs.mean:.2f} ±{self.runs.deviation:.2f} {mark}".rstrip()


def compare(results: Results, system: System, column: Column, baseline: System) -> Comparison:
    """Compares two systems by paired bootstrap and approximate randomisation."""
    metric = results.metrics[column.set]

    def runs(one: System) -> Runs:
        return Runs.of(metric, results.outcomes[one].statistics[column.set][:, list(column.segments)])

    ours, theirs = runs(system), runs(baseline)
    if system == baseline:
        return Comparison(ours, 0.0, None, None)
    p = paired_bootstrap(metric, theirs, ours), approximate_randomization(metric, theirs, ours)
    return Comparison(ours, ours.mean - theirs.mean, *p)


def length_ratios(results: Results, outcome: Outcome) -> list[float]:
    """Returns for each run the words of translations of all sets over the words of references."""
    sums = np.sum([outcome.statistics[one.name].sum(axis=1) for one in results.sets], axis=0)
    return [float(ratio) for ratio in sums[:, 0] / sums[:, 1]]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Returns mean and standard deviation as text."""
    return f"{np.mean(values):.{digits}f} ±{deviation(values):.{digits}f}"


def deviation(values: Sequence[float]) -> float:
    """Returns the standard deviation of a sample; 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def markdown_rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns the lines of a table in Markdown, whose first column is text."""
    every = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return [f"| {' | '.join(cells)} |" for cells in every]


def section(title: str, lines: Iterable[str]) -> str:
    """Returns lines under a heading in Markdown."""
    return "\n".join([f"## {title}", "", *lines])


def score_table(results: Results, table: Table) -> str:
    """Returns a table in Markdown with its heading and a note."""
    kinds = columns(results)
    headings = [
        "system",
        *(measure.heading for measure in table.before),
        *(column.name for column in kinds),
        *(measure.heading for measure in table.after),
    ]
    cells = [
        [
            heading,
            *(measure.cell(results, system) for measure in table.before),
            *(str(compare(results, system, column, table.baseline)) for column in kinds),
            *(measure.cell(results, system) for measure in table.after),
        ]
        for heading, system in table.rows.items()
    ]
    return section(
        f"{table.number}: {table.subject}", [*markdown_rows(headings, cells), "", _note(results, table)]
    )


def _note(results: Results, table: Table) -> str:
    runs = {heading: len(results.outcomes[system].weights) for heading, system in table.rows.items()}
    first = next(iter(runs))
    others = "".join(f", of {heading} of {count}" for heading, count in runs.items() if count != runs[first])
    return (
        f"BLEU, mean and deviation of {runs[first]} runs{others}. + or ++ is better than {first} with"
        f" p < 0.05 or p < 0.01 by paired bootstrap, - or -- is worse.{table.note}"
    )


def scores_csv(results: Results, tables: Iterable[Table]) -> str:
    """Returns a line for each table, system, set and genre, with p of the difference to the baseline."""
    names = ["table", "system", "features", "set", "genre", "runs", "BLEU", "deviation", "difference"]
    lines: list[Sequence[object]] = [[*names, "p bootstrap", "p randomisation"]]
    for table in tables:
        for system in table.rows.values():
            features = len(results.outcomes[system].weights[0])
            for column in columns(results):
                score = compare(results, system, column, table.baseline)
                cells = [table.number, system.name, features, column.set, column.genre]
                cells += [len(score.runs.scores), score.runs.mean, score.runs.deviation, score.difference]
                lines.append([*cells, score.bootstrap, score.randomisation])
    return csv_text(lines)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Returns rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_report(folder: Path, results: Results, sections: Iterable[str], tables: Iterable[Table]) -> None:
    """Writes sections in Markdown, and the scores of tables as CSV."""
    write_atomically(folder / TABLES, "\n\n".join(sections) + "\n")
    write_atomically(folder / SCORES, scores_csv(results, tables))


def can_draw() -> bool:
    """Tells whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


@contextlib.contextmanager
def figure(path: str | os.PathLike[str], width: float, height: float) -> Iterator[Figure]:
    """Yields an empty figure, in inches, that is saved as PNG after the block. Raises ModuleNotFoundError
    without matplotlib."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(width, height), layout="constrained")
    yield drawn
    with replacing(path) as temporary:
        drawn.savefig(temporary, format="png", dpi=150)
