"""How far work has come, on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

# Called with a unit, how many are done and, where it is known, how many there are.
Report = Callable[[str, int, int | None], object]


@contextlib.contextmanager
def progress_line(quiet: bool) -> Iterator[Report | None]:
    """A function that shows progress in one line of stderr; None if nobody is to see it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = [SpinnerColumn(), TextColumn("{task.completed:,.0f} {task.description}"), BarColumn()]
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda unit, done, total: progress.update(task, description=unit, completed=done, total=total)


def one_unit(report: Report | None, unit: str) -> Callable[[int], object] | None:
    """The same for work that counts one thing."""
    return None if report is None else lambda done: report(unit, done, None)
