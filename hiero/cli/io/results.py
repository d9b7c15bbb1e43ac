"""Scores of systems as `hiero eval` writes them: text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from hiero import FormatError
from hiero.base.json_files import validation_message


@dataclass
class System:
    """Scores of a system."""

    name: str
    # The mean of its runs.
    score: float
    # The score lies in it for 95 % of resampled test sets.
    interval: tuple[float, float]
    runs: int
    # The standard deviation between runs.
    deviation: float
    # The difference to the first system, and the p values of two tests; None for the first system itself.
    difference: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None


@dataclass
class Result:
    """Scores of systems by one metric, on the test set and on parts of it."""

    metric: str
    better: Literal["higher", "lower"]
    details: str
    signature: str
    systems: list[System]
    parts: list[tuple[str, float]] = field(default_factory=list)


def read_results(path: Path) -> list[Result]:
    """Reads results that were written as JSON. Raises FormatError for a damaged file."""
    try:
        return TypeAdapter(list[Result]).validate_json(path.read_bytes())
    except ValidationError as error:
        raise FormatError(f"{path}: damaged: {validation_message(error)}") from None


def results_json(results: Sequence[Result]) -> str:
    """Returns results as ``read_results`` reads them."""
    return json.dumps([asdict(result) for result in results], indent=1, ensure_ascii=False)


def result_lines(result: Result, quiet: bool) -> Iterator[str]:
    """Yields the lines of a metric's result; with ``quiet``, only the score."""
    if len(result.systems) > 1:
        yield from _table(result)
    elif quiet:
        yield f"{result.systems[0].score:.4f}"
    else:
        yield from _score(result)
    yield from (f"{result.metric}\t{name}\t{score:.4f}" for name, score in result.parts)
    if not quiet:
        yield result.signature


def _score(result: Result) -> Iterator[str]:
    system = result.systems[0]
    low, high = system.interval
    yield f"{result.metric} = {system.score:.4f}{_deviation(system, 4)} {result.details}".rstrip()
    yield f"95 % of samples: {low:.2f} to {high:.2f}; {result.better} is better"


def _deviation(system: System, digits: int) -> str:
    return f" ± {system.deviation:.{digits}f}" if system.runs > 1 else ""


def _table(result: Result) -> Iterator[str]:
    metric = f"{result.metric} ({result.better} is better)"
    rows = [("system", metric, "95 %", "runs", "difference", "p bootstrap", "p randomisation")]
    for system in result.systems:
        low, high = system.interval
        tests = ("", "", "")
        if system.difference is not None:
            tests = (
                f"{system.difference:+.2f}",
                f"{system.p_bootstrap:.4f}",
                f"{system.p_randomisation:.4f}",
            )
        score = f"{system.score:.2f}{_deviation(system, 2)}"
        rows.append((system.name, score, f"{low:.2f} to {high:.2f}", str(system.runs), *tests))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
