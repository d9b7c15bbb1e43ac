"""Progress of long work on a terminal: one line of stderr, which disappears at the end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from hiero.base.progress import Report


@contextlib.contextmanager
def progress_line(quiet: bool) -> Iterator[Report | None]:
    """Yields a function that shows progress, or None if ``quiet`` or if stderr is no terminal.

    Other output stands above the line, even if it goes to the same terminal.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    # Without this, rich would redirect standard output to the terminal, even if it goes to a file.
    redirect = sys.stdout.isatty()
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _Count(), TimeElapsedColumn()]
    line = Progress(*columns, _Left(), console=console, transient=True, redirect_stdout=redirect)

    def report(what: str, done: int, total: int | None) -> None:
        if [(task.description, task.total) for task in line.tasks] != [(what, total)]:
            for number in line.task_ids:
                line.remove_task(number)
            line.add_task(what, total=total)
        line.update(line.task_ids[0], completed=done)

    with line:
        yield report


class _Count(ProgressColumn):
    """A column with the work that is done, and the whole work if it is known."""

    def render(self, task: Task) -> Text:
        total = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{total}" if task.completed or total else "")


class _Left(TimeRemainingColumn):
    """A column with the time that is left, empty if the whole work is not known."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task).append(" left")


def one_unit(
    report: Report | None, unit: str, total: Callable[[], int] | None = None
) -> Callable[[int], object] | None:
    """Returns a function that reports how many of one unit are done, None without a report. ``total`` counts
    all of them, and is only called if there is a report."""
    if report is None:
        return None
    count = None if total is None else total()
    return lambda done: report(unit, done, count)
