"""`hiero weights`: weights into a model, and what is remembered of where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict

from hiero import read_weights
from hiero.base.files import sha256, write_atomically
from hiero.base.json_files import read_json
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import Load, load_model

_TUNED = "tuned.json"
_WEIGHTS = "weights.txt"


class Tuned(BaseModel):
    """How weights were tuned, as a tuning directory says it beside them, and a model's manifest.

    ``score``, and ``before`` with the weights that it began with, are of the held-out set if there is one.
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


def write_tuned(directory: Path, tuned: Tuned) -> None:
    """Writes it beside the weights of a tuning directory."""
    write_atomically(directory / _TUNED, tuned.model_dump_json(indent=1) + "\n")


def put_weights(
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    weights: Annotated[
        Path, typer.Argument(help="Weights file, or directory of hiero tune; features not named keep theirs.")
    ],
    output: Annotated[
        Path | None, Writes(over=True), typer.Option("-o", "--output", help="Another model (the same).")
    ] = None,
    load: Load = None,
) -> None:
    """Puts weights into a model, such as tuned ones.

    The model is replaced in one step, or a new one made that shares its large files.
    """
    tuned = None
    if weights.is_dir():
        tuned, weights = weights / _TUNED, weights / _WEIGHTS
    elif weights.name == _WEIGHTS:
        tuned = weights.with_name(_TUNED)
    origin: dict[str, object] = {"file": weights.name, "sha256": sha256(weights)}
    if tuned is not None and tuned.exists():
        origin = read_json(tuned, Tuned).model_dump()
    loaded = load_model(model, load)
    loaded.with_weights(read_weights(weights), origin).save(output or model)
