"""`hiero features`: gives a model other local features and rule generators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero.cli.base.commands import usage
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import load_model
from hiero.cli.options.common import OTHER_MODEL, Load, ModelPath
from hiero.cli.options.features import FeatureOptions, GeneratorOptions


def put_features(
    *,
    model: ModelPath,
    output: Annotated[
        Path | None, Writes(over=True), typer.Option("-o", "--output", help=OTHER_MODEL)
    ] = None,
    features: FeatureOptions,
    rules: GeneratorOptions,
    glue: Annotated[
        bool,
        typer.Option("--glue", help="Let the features of --syntax and --distortion score glue rules, too."),
    ] = False,
    log_base: Annotated[
        float | None,
        typer.Option(help="Base of logarithms among the features; 0: natural ones (default: the model's)."),
    ] = None,
    load: Load = None,
) -> None:
    """Gives a model other local features and rule generators.

    Features and generators without an option stay as they are, and keep their weights. New features have no
    weights. The model is replaced in one step. With --output, a new model is made that shares its large
    files.

        hiero features my-model -o with-both --syntax fine --labels-from dev.parse --distortion fine

        hiero features my-model --numbers de:en --names names.txt
    """
    if glue and not features.adds_features:
        raise typer.BadParameter("--glue is of features that are put in: --syntax or --distortion")
    loaded = load_model(model, load)
    local_features = features.apply(loaded, model, glue)
    generators = rules.apply(loaded, model)
    base = loaded.log_base if log_base is None else log_base or None
    with usage():
        other = loaded.with_features(
            local_features,
            generators=generators,
            log_base=base,
            log_features=loaded.log_features if base else (),
        )
    other.save(output or model)
