"""Results of experiments with several systems: the sets, the translations of each system, their scores, and
tables of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from hiero.evaluate import Bleu, Runs, approximate_randomization, paired_bootstrap
from hiero.features.sentence import Sentence
from hiero.tune.protocol import Array

# The file that tables are written to.
TABLES = "tables.md"


class AnySystem(Protocol):
    """A row of a table, hashable: its name there, and that of its folder."""

    @property
    def name(self) -> str: ...
    @property
    def slug(self) -> str: ...


S = TypeVar("S", bound=AnySystem)


@dataclass(frozen=True)
class NamedSet:
    """A set by its name: sentences, lines of reference tokens for each, and segments by genre."""

    name: str
    sentences: Sequence[Sentence]
    references: Sequence[Sequence[str]]
    genres: Mapping[str, Sequence[int]]

    @property
    def is_parsed(self) -> bool:
        """Whether all sentences have a parse but those that have nothing to parse."""
        return all(sentence.parse is not None or sentence.is_blank for sentence in self.sentences)

    @property
    def has_parses(self) -> bool:
        """Whether a sentence has one."""
        return any(sentence.parse is not None for sentence in self.sentences)


@dataclass(frozen=True)
class Outcome:
    """Runs of a system: the weights that were free, BLEU of the tuning set with them, how often weights had
    been chosen when the run stopped, seconds for decoding and for choosing weights in all of it, and by the
    name of a set its statistics of BLEU, float64 (runs, segments, 10)."""

    weights: Sequence[Mapping[str, float]]
    tuning: Sequence[float]
    passes: Sequence[int]
    decoding: Sequence[float]
    choosing: Sequence[float]
    statistics: Mapping[str, Array]

    @property
    def seconds(self) -> Array:
        """The seconds that each run took."""
        return np.add(self.decoding, self.choosing)


@dataclass(frozen=True)
class Results(Generic[S]):
    """The runs of all systems, the sets that were translated, and their metrics."""

    outcomes: Mapping[S, Outcome]
    sets: Sequence[NamedSet]
    metrics: Mapping[str, Bleu]


@dataclass(frozen=True)
class Table(Generic[S]):
    """A table's number and what it is about, its rows, and the one that they are judged against."""

    number: str
    about: str
    systems: Sequence[S]
    baseline: S

    @property
    def title(self) -> str:
        return f"{self.number}: {self.about}"


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
        """With the marks of Chiang et al. (2008)."""
        p = 1.0 if self.bootstrap is None else self.bootstrap
        mark = ("+" if self.difference > 0 else "-") * ((p < 0.05) + (p < 0.01))
        return f"{self.runs.mean:.2f} ±{self.runs.deviation:.2f} {mark}".rstrip()


def columns(result: Results[S]) -> list[Column]:
    """Every set, and where it has two genres or more, each of these."""
    found = []
    for one in result.sets:
        found.append(Column(one.name, "", range(len(one.sentences))))
        if len(one.genres) > 1:
            found += [Column(one.name, genre or "other", numbers) for genre, numbers in one.genres.items()]
    return found


def judged(result: Results[S], system: S, column: Column, baseline: S) -> Judged:
    """By paired bootstrap and approximate randomisation."""
    metric = result.metrics[column.set]

    def runs(of: S) -> Runs:
        return Runs.of(metric, result.outcomes[of].statistics[column.set][:, list(column.segments)])

    ours, theirs = runs(system), runs(baseline)
    if system == baseline:
        return Judged(ours, 0.0, None, None)
    p = paired_bootstrap(metric, theirs, ours), approximate_randomization(metric, theirs, ours)
    return Judged(ours, ours.mean - theirs.mean, *p)


def lengths(result: Results[S], outcome: Outcome) -> list[float]:
    """By run, words of translations of all sets for words of references."""
    sums = sum(outcome.statistics[one.name].sum(axis=1) for one in result.sets)
    assert isinstance(sums, np.ndarray)
    return [float(ratio) for ratio in sums[:, 0] / sums[:, 1]]


def head(names: Sequence[str]) -> list[str]:
    """The first lines of a table in Markdown, whose first column is of text."""
    return [line(names), line(["---", *["---:"] * (len(names) - 1)])]


def line(cells: Sequence[str]) -> str:
    """Makes a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean and deviation, of a sample."""
    return f"{np.mean(values):.{digits}f} ±{deviation(values):.{digits}f}"


def deviation(values: Sequence[float]) -> float:
    """Computes the standard deviation of a sample; 0 of one value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def scores_csv(result: Results[S], tables: Iterable[Table[S]]) -> str:
    """A line for each table, system, set and genre; p of the difference to the table's baseline."""
    names = ["table", "system", "features", "set", "genre", "runs", "BLEU", "deviation", "difference"]
    rows: list[Sequence[object]] = [[*names, "p bootstrap", "p randomisation"]]
    for table in tables:
        for system in table.systems:
            features = len(result.outcomes[system].weights[0])
            for column in columns(result):
                found = judged(result, system, column, table.baseline)
                cells = [table.number, system.name, features, column.set, column.genre]
                cells += [len(found.runs.scores), found.runs.mean, found.runs.deviation, found.difference]
                rows.append([*cells, found.bootstrap, found.randomisation])
    return csv_text(rows)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Writes rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
