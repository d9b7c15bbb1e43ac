"""The input record: a sentence with all that the decoder, its features and tuners may know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hiero._core import Rule
from hiero.base.text import TextSide
from hiero.features.trees import Tree


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate: its ``tokens``, or raw ``text`` that becomes tokens as the model says.

    ``rules`` are consulted for this sentence alone, ``parse`` is its tree, and ``annotations`` are what else
    features ask for, by name. Features see the sentence with tokens, and the parse over these.
    Raises ValueError unless there is one of text and tokens.

    >>> Sentence("he slept", parse=Tree.read("(S (NP (PRP he)) (VP (VBD slept)))")).parse.tags
    ('PRP', 'VBD')
    """

    text: str | None = None
    tokens: Sequence[str] | None = None
    id: int | str | None = None
    rules: Sequence[Rule] = ()
    parse: Tree | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.tokens is None):
            raise ValueError("a sentence has either text or tokens")
        if isinstance(self.tokens, str):
            raise TypeError("tokens: expected a list of tokens, not a string")

    @classmethod
    def of(cls, source: str | Sequence[str] | Sentence) -> Sentence:
        """The record of what may stand for one: raw text, or tokens."""
        if isinstance(source, Sentence):
            return source
        return cls(source) if isinstance(source, str) else cls(tokens=source)

    def in_tokens(self, side: TextSide) -> Sentence:
        """The same with tokens, as ``side`` makes them of text, and with the parse over them.

        Raises FormatError where the parse has other characters than the tokens.
        """
        tokens = list(self.tokens) if self.text is None and self.tokens is not None else side.tokens(self.text or "")
        return replace(self, text=None, tokens=tokens, parse=self.parse and self.parse.on(tokens))
