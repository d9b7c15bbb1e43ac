"""The rule generators of this package that ``model.toml`` can describe."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from hiero._core import FormatError
from hiero.generators.names import NameRules
from hiero.generators.numbers import NumberRules
from hiero.generators.sentence_features import SentenceFeatures

BuiltIn = NumberRules | NameRules | SentenceFeatures
BUILT_IN = get_args(BuiltIn)


def with_paths_in(directory: Path, generator: BuiltIn) -> BuiltIn:
    """Returns a generator that reads its files from a model directory. Raises OSError, FormatError."""
    if not isinstance(generator, NameRules):
        return generator
    name_rules = generator.with_dictionary(directory / generator.dictionary)
    if not name_rules.phrases:
        raise FormatError(f"{name_rules.dictionary}: no names")
    return name_rules
