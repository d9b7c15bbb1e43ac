"""The input record: a sentence with all that the decoder, its features and tuners may know of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hiero._core import FormatError, Rule
from hiero.base.arguments import described, several
from hiero.base.json_files import complaint
from hiero.base.text import TextSide, split
from hiero.features.trees import Tree


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate: raw ``text`` that becomes tokens as the model says, or else its ``tokens``.

    ``rules`` are consulted for this sentence alone, ``parse`` is its tree, and ``annotations`` are what else
    features ask for, by name. Features see the sentence with tokens, and the parse over these.
    Raises ValueError where both text and tokens are given, FormatError for tokens that are empty or have
    white space in them, TypeError for fields of other types, such as a string in place of tokens or of rules.

    >>> Sentence("he slept", parse=Tree.read("(S (NP (PRP he)) (VP (VBD slept)))")).parse.tags
    ('PRP', 'VBD')
    """

    text: str | None = None
    tokens: Sequence[str] = ()
    id: int | str | None = None
    rules: Sequence[Rule] = ()
    parse: Tree | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            given = described(self.text)
            raise TypeError(f"text: expected a string, not {given}; tokens are given as tokens=[...]")
        tokens = several("tokens", self.tokens, str, "tokens")
        if self.text is not None and tokens:
            raise ValueError("a sentence has text or tokens, not both")
        if split(" ".join(tokens)) != list(tokens):
            bad = next(token for token in tokens if split(token) != [token])
            raise FormatError(f"tokens: {bad!r} is empty, or has white space in it")
        object.__setattr__(self, "tokens", tokens)
        rules = several("rules", self.rules, Rule, "hiero.Rule, each made of its text by hiero.Rule(text)")
        object.__setattr__(self, "rules", rules)
        if self.parse is not None and not isinstance(self.parse, Tree):
            given = described(self.parse)
            raise TypeError(f"parse: expected a hiero.Tree, as hiero.Tree.read(text) gives one, not {given}")

    @classmethod
    def of(cls, source: str | Sequence[str] | Sentence, **more: Any) -> Sentence:
        """The record of what may stand for one, raw text or tokens, with ``more`` of its fields. Raises
        TypeError for anything else."""
        if isinstance(source, Sentence):
            return replace(source, **more) if more else source
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            given = described(source)
            raise TypeError(
                f"expected a sentence (raw text, a list of tokens or a hiero.Sentence), not {given}"
            )
        return cls(source, **more) if isinstance(source, str) else cls(tokens=source, **more)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return not self.tokens and not (self.text and self.text.strip())

    def in_tokens(self, side: TextSide) -> Sentence:
        """The same with tokens, as ``side`` makes them of text, and with the parse over them.

        Raises FormatError where the parse has other characters than the tokens.
        """
        tokens = self.tokens if self.text is None else side.tokens(self.text)
        parse = None if self.parse is None else self.parse.on(tokens)
        return replace(self, text=None, tokens=tokens, parse=parse)

    @classmethod
    def from_json(cls, line: str) -> Sentence:
        """Reads an object with ``text`` or ``tokens``, and optionally ``id``, ``rules`` as in rule tables,
        ``parse`` in brackets and ``annotations``. Raises FormatError."""
        try:
            record = _Record.model_validate_json(line)
        except ValidationError as error:
            raise FormatError(complaint(error, _Record)) from None
        if (record.text is None) == (record.tokens is None):
            raise FormatError("expected text or tokens, one of them")
        return cls(
            record.text,
            record.tokens or (),
            record.id,
            [Rule(rule) for rule in record.rules],
            None if record.parse is None else Tree.read(record.parse),
            record.annotations,
        )

    @staticmethod
    def id_in_json(line: str) -> int | str | None:
        """Reads the id of a line, also of one that is no sentence otherwise; None if it has none."""
        try:
            return _Name.model_validate_json(line).id
        except ValidationError:
            return None

    def to_json(self) -> str:
        """The line that ``from_json`` reads. Raises TypeError for annotations that JSON cannot hold."""
        record: dict[str, Any] = {"tokens": list(self.tokens)} if self.text is None else {"text": self.text}
        if self.id is not None:
            record["id"] = self.id
        if self.rules:
            record["rules"] = [str(rule) for rule in self.rules]
        if self.parse is not None:
            record["parse"] = self.parse.brackets()
        if self.annotations:
            record["annotations"] = dict(self.annotations)
        return json.dumps(record, ensure_ascii=False)


class _Name(BaseModel):
    model_config = ConfigDict(strict=True)

    id: int | str | None = None


class _Record(_Name):
    """The object that ``from_json`` reads."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str | None = None
    tokens: list[str] | None = None
    rules: list[str] = []
    parse: str | None = None
    annotations: dict[str, Any] = {}
