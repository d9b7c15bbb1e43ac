"""The generators of this package, as a model directory names them with their settings."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from hiero.generators.names import NameRules
from hiero.generators.numbers import NumberRules

BuiltIn = NumberRules | NameRules
BUILT_IN = get_args(BuiltIn)


def within(directory: Path, generator: BuiltIn) -> BuiltIn:
    """A generator whose files are in a model directory."""
    return generator.at(directory / generator.dictionary) if isinstance(generator, NameRules) else generator
