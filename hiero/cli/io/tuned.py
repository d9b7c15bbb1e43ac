"""The record of how weights were tuned, in a tuning directory and in the manifest of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hiero.base.files import sha256, write_atomically
from hiero.base.json_files import read_json
from hiero.base.weights import read_weights

TUNED = "tuned.json"
_WEIGHTS = "weights.txt"


class Tuned(BaseModel):
    """The record of a tuning: method, metric, scores and set.

    ``score``, and ``before`` with the first weights, are those of the held-out set if there is one.
    ``span_limit`` is that of the decoder, to which the weights belong; None in records from before it was
    chosen.
    """

    model_config = ConfigDict(extra="forbid")
    method: str
    metric: str
    score: float
    before: float
    held_out: bool
    sentences: int
    source: str
    references: list[str]
    span_limit: int | None = None


def write_tuned(directory: Path, tuned: Tuned) -> None:
    """Writes the record into a tuning directory, beside the weights."""
    write_atomically(directory / TUNED, tuned.model_dump_json(indent=1) + "\n")


def read_record(directory: Path) -> Tuned:
    """Reads the record of a tuning directory. Raises FormatError, OSError."""
    return read_json(directory / TUNED, Tuned)


def find_weights(path: Path) -> tuple[Path, dict[str, Any]]:
    """Returns the file of weights that a path stands for, which may be a tuning directory, and what a
    manifest says of its origin. Raises FormatError, OSError."""
    tuned = None
    if path.is_dir():
        tuned, path = path / TUNED, path / _WEIGHTS
    elif path.name == _WEIGHTS:
        tuned = path.with_name(TUNED)
    origin: dict[str, Any] = {"file": path.name, "sha256": sha256(path)}
    if tuned is not None and tuned.exists():
        origin = read_json(tuned, Tuned).model_dump()
    return path, origin


def read_tuned(path: Path) -> tuple[dict[str, float], dict[str, Any]]:
    """Returns the weights that a path stands for, which may be a tuning directory, and the settings of the
    decoder that belong to them: the span limit that they were tuned with, if a record says so. Raises
    FormatError, OSError."""
    file, origin = find_weights(path)
    span_limit = origin.get("span_limit")
    return read_weights(file), {} if span_limit is None else {"span_limit": span_limit}
