"""MERT and online MIRA with soft syntax and structural distortion (Chiang et al. 2008, section 5).

Table 1 is both methods on several sets of features, judged against MERT on those of the baseline; Table 2
takes parts of the method from MIRA with all features, judged against that. Every system is tuned several
times with other seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hiero.base.files import write_atomically
from hiero.decode.model import Model
from hiero.experiments.chiang2008_laboratory import Chiang2008Laboratory
from hiero.experiments.chiang2008_report import (
    left_out,
    markdown,
    plot_weights,
    tables,
    weights_csv,
)
from hiero.experiments.chiang2008_systems import Chiang2008Options, System, systems
from hiero.experiments.results import TABLES, NamedSet, Results, scores_csv


def chiang2008(
    model: Model,
    tuning: NamedSet,
    held_out: NamedSet | None,
    tests: Sequence[NamedSet],
    directory: str | os.PathLike[str],
    options: Chiang2008Options | None = None,
    *,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Results[System]:
    """Tunes all systems, translates all sets and writes ``tables.md``, ``scores.csv``, ``weights.csv``, and
    with matplotlib ``weights.png`` and ``figure-1.png``; what is done is kept in the directory.

    MIRA's passes are chosen by the held-out set, MERT's iterations by the tuning set. Systems with syntax
    need parses of all sets, and one with coarse distortion needs counts of training: rows are left out that
    cannot be had, or then are the same as others, which the tables say. ``origin`` says what model and sets
    are; a directory is refused that is of others, or has begun a row with other options. Raises
    ValueError for two sets of one name and where only some sets have parses, FormatError for features of
    the baseline that the model has not, and FormatError, OSError and ValueError as ``hiero.tune.tune``.
    """
    chosen = options or Chiang2008Options()
    folder = Path(directory)
    laboratory = Chiang2008Laboratory(model, tuning, held_out, tests, folder, chosen, threads, report)
    metrics = laboratory.metrics
    if chosen.sentence >= len(tuning.sentences):
        raise ValueError(f"no sentence {chosen.sentence}, the tuning set has {len(tuning.sentences)}, from 0")
    chosen.baseline_of(model.feature_names)
    rows = systems(model, laboratory.parsed)
    outcomes = {}
    with laboratory.opened(rows, origin):
        if left := left_out(rows):
            report(left)
        for system in rows:
            outcomes[system] = laboratory.outcome(system)
        result = Results(outcomes, laboratory.sets, metrics)
        write_atomically(folder / TABLES, markdown(result))
        write_atomically(folder / "scores.csv", scores_csv(result, tables(result)))
        write_atomically(folder / "weights.csv", weights_csv(result))
        if find_spec("matplotlib") is not None:
            plot_weights(result, folder / "weights.png")
            laboratory.scatter(folder / "figure-1.png")
    return result
