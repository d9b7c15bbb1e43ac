"""Weights of a model that is trained again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hiero.base.ownership import MANIFEST
from hiero.base.weights import read_weights
from hiero.decode.model import Model
from hiero.decode.model_directory import WEIGHTS, read_config, read_made_from


def keep_tuned_weights(model: Model, replaced: Path, report: Callable[[str], object]) -> Model:
    """Returns a model with the weights of the model directory that it replaces, if these were set after
    training, and with the span limit that they were tuned for. Raises FormatError, OSError."""
    if not (replaced / MANIFEST).is_file():
        return model
    origin = read_made_from(replaced).get(WEIGHTS)
    if origin is None:
        return model
    tuned_weights = read_weights(replaced / read_config(replaced).weights)
    if list(tuned_weights) != list(model.feature_names):
        report("warning: the tuned weights are dropped, as the model now has other features")
        return model
    if (span_limit := origin.get("span_limit")) is not None:
        model = model.with_settings(span_limit=span_limit)
    report("model: keeps the weights that were set after training")
    return model.with_weights(tuned_weights, origin)
