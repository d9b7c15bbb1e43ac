"""Sets of sentences with references, as commands read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hiero import FormatError, Model
from hiero.evaluate.test_sets import TestSet, read_source
from hiero.text import split


def read_set(
    source: Path, references: Sequence[Path], raw: bool, model: Model
) -> tuple[list[str | list[str]], list[list[str]]]:
    """Sentences as the decoder takes them, and references as lines of tokens."""
    lines, srcset = read_source(source)
    found = TestSet.read(references, srcset).references
    if len(lines) != len(found):
        raise FormatError(f"{source}: {len(lines)} segments, where the references have {len(found)}")
    if not raw:
        return [split(line) for line in lines], found
    target = model.text.target
    return list(lines), [[" ".join(target.tokens(line)) for line in segment] for segment in found]
