"""Constituency trees of source sentences, in Penn brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Constituent(NamedTuple):
    """A label over the tokens from ``begin`` to before ``end``."""

    label: str
    begin: int
    end: int


@dataclass(frozen=True)
class Tree:
    """A sentence's tokens, the part of speech of each, and the constituents above these, in preorder."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]

    @classmethod
    def read(cls, text: str) -> Tree:
        """Of brackets, ``(S (NP (PRP he)) (VP (VBD slept)))``. Raises FormatError."""
        raise NotImplementedError

    def on(self, tokens: Sequence[str]) -> Tree:
        """The same tree over other tokens of the same characters. Raises FormatError where they differ."""
        raise NotImplementedError
