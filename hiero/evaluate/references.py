"""References with an index of their n-grams, which can be sent to other processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hiero._core import ReferenceSet


class IndexedReferences(ReferenceSet):
    """The references of each segment in tokens; a copy in another process makes the index again."""

    def __init__(self, references: Sequence[Sequence[Sequence[str]]]) -> None:
        super().__init__(references)
        self._references = references

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexedReferences, (self._references,)
