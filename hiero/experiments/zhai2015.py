"""Search-aware tuning against plain tuning (Zhai, Huang and Zhao 2015, section 4).

Tables 1, 4 and 5 are MERT, batch MIRA and PRO, each plain and search-aware, judged against the plain method;
Tables 2 and 3 what MERT's and the guided backtrace's search could find, and how much their lists differ;
Table 6 the time of an iteration. Figure 4 is BLEU by beam, Figure 5 by the least span that is tuned on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hiero.base.files import write_atomically
from hiero.decode.model import Model
from hiero.experiments.results import TABLES, NamedSet, Results, scores_csv
from hiero.experiments.zhai2015_laboratory import TuningSet, Zhai2015Laboratory
from hiero.experiments.zhai2015_report import Looks, markdown, on_short_sentences, plot_shares, tables
from hiero.experiments.zhai2015_systems import GUIDED, MERT, System, Zhai2015Options, systems
from hiero.tune.analysis import plot_beams


def zhai2015(
    model: Model,
    tuning: TuningSet,
    tests: Sequence[NamedSet],
    directory: str | os.PathLike[str],
    options: Zhai2015Options | None = None,
    *,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Results[System]:
    """Tunes all systems, translates all sets and writes ``tables.md`` and ``scores.csv``, and with matplotlib
    ``figure-4.png`` and ``figure-5.png``; what is done is kept in the directory.

    Span partial BLEU is left out where the tuning set has no alignments. ``origin`` says what model and sets
    are; a directory is refused that is of others, or has begun a row with other options. Raises
    ValueError for two sets of one name, no set to test on and a tuning set without short sentences;
    FormatError, OSError and ValueError as ``hiero.tune.tune``.
    """
    chosen = options or Zhai2015Options()
    folder = Path(directory)
    laboratory = Zhai2015Laboratory(model, tuning, tests, folder, chosen, threads, report)
    if not tests:
        raise ValueError("no set to test on")
    metrics = laboratory.metrics
    if tuning.own.name == tests[0].name:  # of which analyses are kept by name
        raise ValueError("two sets have one name")
    every = systems(chosen, tuning.alignments is not None)
    with laboratory.opened(every, origin):
        outcomes = {system: laboratory.outcome(system) for system in every}
        result = Results(outcomes, laboratory.sets, metrics)
        looked_at = (tuning.own, tests[0])
        curves = {system.name: laboratory.by_beam(system, tests[0]) for system in (MERT, GUIDED)}
        looks = Looks(
            {
                (system.name, one.name): laboratory.analysis(system, one)
                for system in (MERT, GUIDED)
                for one in looked_at
            },
            curves,
        )
        write_atomically(folder / TABLES, markdown(result, looks, chosen))
        write_atomically(folder / "scores.csv", scores_csv(result, tables(result)))
        if find_spec("matplotlib") is not None:
            plot_beams(curves, folder / "figure-4.png")
            if on_short_sentences(result, chosen):
                plot_shares(result, chosen, folder / "figure-5.png")
    return result
