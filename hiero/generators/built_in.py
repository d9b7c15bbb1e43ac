"""The generators of this package, as a model directory names them with their settings."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from hiero._core import FormatError
from hiero.generators.names import NameRules
from hiero.generators.numbers import NumberRules

BuiltIn = NumberRules | NameRules
BUILT_IN = get_args(BuiltIn)


def within(directory: Path, generator: BuiltIn) -> BuiltIn:
    """A generator whose files, which are read, are in a model directory. Raises OSError, FormatError."""
    if not isinstance(generator, NameRules):
        return generator
    found = generator.at(directory / generator.dictionary)
    if not found.phrases:
        raise FormatError(f"{found.dictionary}: no names")
    return found
