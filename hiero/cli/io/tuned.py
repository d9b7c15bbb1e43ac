"""The record of how weights were tuned, in a tuning directory and in the manifest of a model."""

from __future__ import annotations

from collections.abc import Mapping
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
    ``span_limit`` and ``confidence_temperature`` are settings of the decoder that belong to the weights; None
    in records from before they were chosen. ``calibration`` has bins of words of the tuning set: how many,
    their mean confidence, and the share that is right.
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
    confidence_temperature: float | None = None
    calibration: list[tuple[int, float, float]] = []


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
    decoder that belong to them. Raises FormatError, OSError."""
    file, origin = find_weights(path)
    return read_weights(file), tuned_settings(origin)


def tuned_settings(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of the decoder that belong to weights of this origin, those that a record has."""
    return {
        name: origin[name]
        for name in ("span_limit", "confidence_temperature")
        if origin.get(name) is not None
    }
