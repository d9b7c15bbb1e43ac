"""The end of what `hiero run` prints: the scores of each system on each set, and what to know of the sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hiero.cli.io.results import Result
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import FEW
from hiero.cli.system.data import HELD_OUT, SetFiles
from hiero.cli.system.system import BEFORE


def table_lines(
    results: Mapping[str, Sequence[Result]], systems: Sequence[str], final: str, output: Path
) -> Iterator[str]:
    """Yields the lines of a table with a row for each system, the first of which is that before tuning.

    ``results`` are those of each set, by its metrics. Of the held-out set only the first metric is shown,
    which chooses the ``final`` system, of the others 95 % intervals by that metric and p values, too.
    """
    columns = [["system", *(f"{name} *" if name == final else name for name in systems)]]
    for name, metrics in results.items():
        for place, result in enumerate(metrics):
            if place == 0 or name != HELD_OUT:
                columns.append([f"{name} {result.metric}", *(f"{one.score:.2f}" for one in result.systems)])
            if place == 0 and name != HELD_OUT:
                intervals = (one.interval for one in result.systems)
                columns.append(["95 %", *(f"{low:.2f} to {high:.2f}" for low, high in intervals)])
            if name != HELD_OUT:
                tests = (one.p_bootstrap for one in result.systems)
                columns.append(["p", *("" if p is None else f"{p:.3f}" for p in tests)])
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        first, *cells = (
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *cells]).rstrip()
    yield f"* {output}, {reason(final, HELD_OUT in results, len(systems) > 2)}"


def reason(final: str, has_held_out: bool, has_choice: bool) -> str:
    """Returns why a system is the final one, in words."""
    chooser = f"{HELD_OUT if has_held_out else 'tuning'} set"
    if final == BEFORE:
        return f"not tuned, as tuned weights make worse the {chooser}"
    return f"tuned by {final}" + (f", which is best on the {chooser}" if has_choice else "")


def unknown_lines(unknown: Mapping[str, UnknownWords]) -> Iterator[str]:
    """Yields the unknown words of each set, which are a warning if they are many."""
    for name, words in unknown.items():
        yield f"{'warning: ' if words.is_much else ''}{name} set: {words.describe()}"


def few_sentences(tests: Mapping[str, SetFiles]) -> Iterator[str]:
    """Yields a warning for each test set with too few sentences."""
    for name, files in tests.items():
        count = len(files.lines()[0])
        if count < FEW:
            yield f"{name} set: {count:,} sentences are too few to tell systems apart"
