"""How far work has come, on a terminal: one line of stderr that is gone in the end."""

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
    """A function that shows progress; None if nobody is to see it.

    What is printed meanwhile stands above the line, also where both go to the same terminal.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    # Rich would send what goes to standard output to the terminal of this line, wherever it was to go.
    same = sys.stdout.isatty()
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _Count(), TimeElapsedColumn()]
    line = Progress(*columns, _Left(), console=console, transient=True, redirect_stdout=same)

    def report(what: str, done: int, total: int | None) -> None:
        if [(task.description, task.total) for task in line.tasks] != [(what, total)]:
            for number in line.task_ids:
                line.remove_task(number)
            line.add_task(what, total=total)
        line.update(line.task_ids[0], completed=done)

    with line:
        yield report


class _Count(ProgressColumn):
    """How much is done, of how much if that is known."""

    def render(self, task: Task) -> Text:
        total = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{total}" if task.completed or total else "")


class _Left(TimeRemainingColumn):
    """How long still, where that can be told."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task).append(" left")


def one_unit(
    report: Report | None, unit: str, total: Callable[[], int] | None = None
) -> Callable[[int], object] | None:
    """The same for work that counts one thing; how much there is is only found out if it is to be shown."""
    if report is None:
        return None
    of = None if total is None else total()
    return lambda done: report(unit, done, of)
