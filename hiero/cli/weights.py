"""`hiero weights`: puts weights into a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero import read_weights
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import load_model
from hiero.cli.io.tuned import find_weights, tuned_settings
from hiero.cli.options.common import OTHER_MODEL, Load, ModelPath


def put_weights(
    model: ModelPath,
    weights: Annotated[
        Path,
        typer.Argument(
            help="Weights file, or directory of hiero tune; features that it does not name keep theirs."
        ),
    ],
    output: Annotated[
        Path | None, Writes(over=True), typer.Option("-o", "--output", help=OTHER_MODEL)
    ] = None,
    load: Load = None,
) -> None:
    """Puts weights into a model, such as tuned ones.

    Weights of hiero tune bring the span limit and the temperature that were chosen with them. The model is
    replaced in one step. With --output, a new model is made that shares its large files.
    """
    file, origin = find_weights(weights)
    loaded = load_model(model, load)
    loaded = loaded.with_settings(**tuned_settings(origin))
    loaded.with_weights(read_weights(file), origin).save(output or model)
