"""Minimum risk on lists and forests, with annealing, and with many features, against MERT (Li and Eisner
2009, section 7): Table 5, judged against MERT. Runs after the first start from weights that are displaced at
random, as minimum risk draws nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hiero.base.files import write_atomically
from hiero.decode.model import Model
from hiero.experiments.li2009_laboratory import Li2009Laboratory, Pass, Trained
from hiero.experiments.li2009_systems import LARGE, MERT, TABLE_5, Li2009Options, System
from hiero.experiments.results import (
    TABLES,
    NamedSet,
    Results,
    Table,
    columns,
    head,
    judged,
    line,
    scores_csv,
    spread,
)


def li2009(
    model: Model,
    tuning: NamedSet,
    tests: Sequence[NamedSet],
    directory: str | os.PathLike[str],
    options: Li2009Options | None = None,
    *,
    trained: Trained | None = None,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Results[System]:
    """Tunes all systems, translates all sets and writes ``tables.md`` and ``scores.csv``; what is done is
    kept in the directory.

    The row with a second stage is left out where it is not said what the model was ``trained`` on. ``origin``
    says what model and sets are; a directory is refused that is of others, or has begun a row with other
    options. Raises ValueError for
    two sets of one name, no set to test on, and more runs of the second stage than of the first; FormatError,
    OSError and ValueError as ``hiero.tune.tune`` and ``hiero.rerank.train_second_stage``.
    """
    chosen = options or Li2009Options()
    folder = Path(directory)
    laboratory = Li2009Laboratory(model, tuning, tests, folder, chosen, trained, threads, report)
    if not tests:
        raise ValueError("no set to test on")
    if chosen.large_runs not in (1, chosen.runs):
        raise ValueError(f"large_runs: 1, or all {chosen.runs} runs")
    if tuning.name in laboratory.metrics:
        raise ValueError("two sets have one name")
    rows = [system for system in TABLE_5 if system != LARGE or trained is not None]
    with laboratory.opened(rows, origin):
        outcomes = {system: laboratory.outcome(system) for system in rows}
        result = Results(outcomes, laboratory.sets, laboratory.metrics)
        passes = {system: laboratory.a_pass(system) for system in rows}
        write_atomically(folder / TABLES, markdown(result, passes))
        write_atomically(folder / "scores.csv", scores_csv(result, [_table(result)]))
    return result


def _table(result: Results[System]) -> Table[System]:
    return Table("Table 5", "minimum risk", list(result.outcomes), MERT)


def markdown(result: Results[System], passes: Mapping[System, Pass | None]) -> str:
    """Table 5."""
    note = (
        f"BLEU, mean and deviation of {len(result.outcomes[MERT].weights)} runs"
        f"{_large_note(result)}. + or ++ is better than {MERT.name} with p < 0.05 or p < 0.01 by paired"
        " bootstrap, - or -- is worse. A pass is one evaluation of risk and gradient."
    )
    return "\n".join([f"## {_table(result).title}", "", *_rows(result, passes), "", note, ""])


def _large_note(result: Results[System]) -> str:
    large = result.outcomes.get(LARGE)
    return "" if large is None else f", of {LARGE.name} of {len(large.weights)}"


def _rows(result: Results[System], passes: Mapping[System, Pass | None]) -> Iterator[str]:
    kinds = columns(result)
    sets = [column.name for column in kinds]
    yield from head(["system", "features", "tuning set", *sets, "iterations", "s a pass", "MB"])
    for system, outcome in result.outcomes.items():
        features = np.mean([sum(weight != 0 for weight in each.values()) for each in outcome.weights])
        found = [judged(result, system, column, MERT) for column in kinds]
        cells = [system.name, f"{features:,.0f}", spread(outcome.tuning), *map(str, found)]
        one = passes[system]
        cells.append("" if system == LARGE else f"{np.mean(outcome.passes):.1f}")
        cells += ["", ""] if one is None else [f"{one.seconds:.2f}", f"{one.megabytes:.0f}"]
        yield line(cells)
