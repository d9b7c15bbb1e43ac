"""The input sentence with everything that the decoder, features and tuning methods may need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hiero._core import Derivation, FormatError, Rule, SourceMarkup, TargetConstraint, Translation
from hiero.base.arguments import checked_tuple, describe
from hiero.base.json_files import validation_message
from hiero.base.text import split
from hiero.features.lattice import Lattice, LatticeRecord, is_lattice_feature
from hiero.features.markup import MARKUP_FEATURES, Markup, MarkupRecord, Mode, checked_words
from hiero.features.moses_markup import read_markup
from hiero.features.trees import Tree
from hiero.text import TextSide

_UNMARKED = Markup()


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate: raw ``text``, which the model tokenises, or ``tokens``.

    ``rules`` are used only for this sentence. Rules of the model that are ``hidden`` are not used: those with
    the label and the sides of one of these, whose features do not matter. ``parse`` is the sentence's tree,
    and ``annotations`` are other data for local features, by name. Features get a sentence with tokens, and a
    parse of the same tokens. ``rule_span_limit`` is the most source words that ``rules`` with nonterminals
    may span; 0 is any number.

    What is said of the translation holds for all derivations that the search makes, or there is none:
    ``prefix`` is how it begins, ``references`` are what it may be in all, and phrases that are ``required``
    or ``forbidden`` occur in it at least once each, or not at all. Each is raw text, which the model
    tokenises as its target side, or a list of tokens. The last word of a prefix of raw text may be
    unfinished, unless a blank follows. ``markup`` is what is said of words of the sentence: translations of
    phrases, zones and walls. In place of text or tokens there may be a ``lattice``, whose words are the
    tokens.

    Raises ValueError for both text and tokens, FormatError for tokens that are empty or contain white space
    and for a lattice with text, a parse or marks, TypeError for fields of a wrong type, such as a string
    instead of a list of tokens or rules.

    >>> Sentence("he slept", parse=Tree.read("(S (NP (PRP he)) (VP (VBD slept)))")).parse.tags
    ('PRP', 'VBD')
    """

    text: str | None = None
    tokens: Sequence[str] = ()
    id: int | str | None = None
    rules: Sequence[Rule] = ()
    parse: Tree | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    prefix: str | Sequence[str] = ()
    references: Sequence[str | Sequence[str]] = ()
    required: Sequence[str | Sequence[str]] = ()
    forbidden: Sequence[str | Sequence[str]] = ()
    markup: Markup = _UNMARKED
    lattice: Lattice | None = None
    hidden: Sequence[Rule] = ()
    rule_span_limit: int = 0

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            message = "text: expected a string, or tokens passed as tokens=[...]"
            raise TypeError(f"{message}, not {describe(self.text)}")
        tokens = checked_tuple("tokens", self.tokens, str, "tokens")
        if self.lattice is not None:
            tokens = self._words_of_lattice(self.lattice, tokens)
        if self.text is not None and tokens:
            raise ValueError("a sentence has text or tokens, not both")
        if split(" ".join(tokens)) != list(tokens):
            token = next(token for token in tokens if split(token) != [token])
            raise FormatError(f"tokens: {token!r} is empty or contains white space")
        object.__setattr__(self, "tokens", tokens)
        for name in ("rules", "hidden"):
            rules = checked_tuple(name, getattr(self, name), Rule, "hiero.Rule, such as hiero.Rule(text)")
            object.__setattr__(self, name, rules)
        if not 0 <= self.rule_span_limit < 2**32:
            raise ValueError(f"rule_span_limit: expected 0 or more, not {self.rule_span_limit}")
        if self.parse is not None and not isinstance(self.parse, Tree):
            message = "parse: expected a hiero.Tree, as hiero.Tree.read(text) returns one"
            raise TypeError(f"{message}, not {describe(self.parse)}")
        object.__setattr__(self, "prefix", checked_words("prefix", self.prefix))
        for name in ("references", "required", "forbidden"):
            phrases = getattr(self, name)
            if isinstance(phrases, str | bytes) or not isinstance(phrases, Iterable):
                raise TypeError(f"{name}: expected a list of texts, not {describe(phrases)}")
            object.__setattr__(self, name, tuple(checked_words(name, phrase) for phrase in phrases))
        if not isinstance(self.markup, Markup):
            raise TypeError(f"markup: expected a hiero.Markup, not {describe(self.markup)}")

    def _words_of_lattice(self, lattice: Lattice, tokens: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(lattice, Lattice):
            raise TypeError(f"lattice: expected a hiero.Lattice, not {describe(lattice)}")
        if self.text is not None or tokens not in ((), lattice.words):
            raise FormatError("a sentence has a lattice, or text or tokens, not both")
        if self.parse is not None or self.markup:
            raise FormatError("a lattice has neither a parse nor marks, which are of one string")
        if not lattice.raw and lattice.has_empty_arcs:
            object.__setattr__(self, "lattice", lattice := lattice.without_empty_arcs())
        return () if lattice.raw else lattice.words

    @property
    def is_raw(self) -> bool:
        """Whether the sentence is raw text, which the model tokenises."""
        return self.text is not None or (self.lattice is not None and self.lattice.raw)

    @classmethod
    def from_source(cls, source: str | Sequence[str] | Sentence, **fields: Any) -> Sentence:
        """Makes a sentence from raw text, a list of tokens or another sentence, with other ``fields``.

        Raises TypeError for anything else.
        """
        if isinstance(source, Sentence):
            if source.lattice is not None and "lattice" in fields:
                fields = {"tokens": (), **fields}  # its tokens are those of the lattice
            return replace(source, **fields) if fields else source
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            expected = "expected a sentence (raw text, a list of tokens or a hiero.Sentence)"
            raise TypeError(f"{expected}, not {describe(source)}")
        return cls(source, **fields) if isinstance(source, str) else cls(tokens=source, **fields)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return not self.tokens and not (self.text and self.text.strip()) and self.lattice is None

    def with_tokens(self, side: TextSide) -> Sentence:
        """Returns the sentence with tokens instead of text, and with parse and marks transferred to these.

        ``side`` tokenises raw text. Raises FormatError if the parse has other characters than the tokens, and
        for marks that are of no tokens.
        """
        if self.lattice is not None:
            return replace(self, tokens=(), lattice=self.lattice.with_tokens(side))
        tokens, markup = self.tokens, self.markup
        if self.text is not None and markup:
            tokens, markup = markup.with_tokens(self.text, side)
        elif self.text is not None:
            tokens = side.tokens(self.text)
        parse = self.parse
        if parse is not None and self.text is None:
            parse = parse.retokenize(tokens)
        elif parse is not None:
            # Both without what normalisation and marks change.
            plain = replace(parse, tokens=tuple(map(side.characters, parse.tokens)))
            parse = replace(plain.retokenize(side.bare(tokens)), tokens=tuple(tokens))
        return replace(self, text=None, tokens=tokens, parse=parse, markup=markup)

    @classmethod
    def from_markup(cls, text: str, mode: Mode | Literal["ignore"] = "exclusive", **fields: Any) -> Sentence:
        """Makes a sentence from raw text with marks, as Moses has them, and other ``fields``.

        >>> Sentence.from_markup('das <np translation="apple||Apple" prob="0.3||0.7">Apfel</np>').text
        'das Apfel'

        ``<wall/>`` is a wall and ``<zone>...</zone>`` a zone. A tag of any other name marks a phrase by its
        attribute ``translation``, and ``prob``; what is in one with ``translate="no"`` is not translated.
        ``mode`` is that of the phrases with translations; with "ignore" they are not marked. All other tags
        are text. Raises FormatError, which names the column, from 1, for marks that are malformed.
        """
        plain, markup = read_markup(text, mode)
        return cls(plain, markup=markup, **fields)

    @property
    def is_constrained(self) -> bool:
        """Whether anything is said of the translation."""
        return bool(self.prefix or self.references or self.required or self.forbidden or self.markup)

    def source_markup(self, source: TextSide, target: TextSide) -> SourceMarkup:
        """Returns the marks of a sentence with tokens for the decoder; protected parts of its text are words
        that are kept."""
        return self.markup.to_core(target, source.parts(self.tokens), len(self.tokens))

    def constraint(self, side: TextSide) -> TargetConstraint:
        """Returns what is said of the translation in tokens of the model's target side.

        Raises ValueError for a phrase without words.
        """

        def begin(text: str | Sequence[str]) -> list[str]:
            return side.tokens(text) if isinstance(text, str) else list(text)

        def phrase(text: str | Sequence[str]) -> list[str]:
            # A truecaser would change the first word, as that of a sentence.
            return side.words(text) if isinstance(text, str) and side.truecaser else begin(text)

        prefix, unfinished = begin(self.prefix), []
        if isinstance(self.prefix, str) and prefix and not self.prefix[-1].isspace():
            last = prefix.pop()
            # The truecaser does not know how a word of which it sees a part is written.
            first_in_any_case = side.truecaser and not prefix
            unfinished = (
                [last[0].lower() + last[1:], last[0].upper() + last[1:]] if first_in_any_case else [last]
            )
        return TargetConstraint(
            prefix,
            unfinished,
            [begin(text) for text in self.references],
            [phrase(text) for text in self.required],
            [phrase(text) for text in self.forbidden],
        )

    def given_places(self, translation: Derivation | Translation, target: TextSide) -> set[int]:
        """Returns the positions of words of a translation that marked phrases are to be written as.

        The sentence must have tokens."""
        if not self.markup.phrases:
            return set()
        return self.markup.given_places(translation.tokens, translation.alignment, target)

    @classmethod
    def from_json(cls, line: str) -> Sentence:
        """Reads a sentence from a JSON object.

        It has ``text`` or ``tokens``, and optionally ``id``, ``rules`` and ``hidden`` as in rule tables,
        ``rule_span_limit``, ``parse`` in Penn brackets, ``annotations``, ``prefix``, ``references``,
        ``required``, ``forbidden``, ``markup``, an object with the fields of ``Markup``, and in place of text
        and tokens ``lattice``, one with those of ``Lattice``. Raises FormatError.
        """
        try:
            record = _Record.model_validate_json(line)
        except ValidationError as error:
            raise FormatError(validation_message(error, _Record)) from None
        if [record.text, record.tokens, record.lattice].count(None) != 2:
            raise FormatError("expected either text or tokens, or a lattice")
        return cls(
            record.text,
            record.tokens or (),
            record.id,
            [Rule(rule) for rule in record.rules],
            None if record.parse is None else Tree.read(record.parse),
            record.annotations,
            record.prefix,
            record.references,
            record.required,
            record.forbidden,
            record.markup.markup(),
            None if record.lattice is None else record.lattice.lattice(),
            [Rule(rule) for rule in record.hidden],
            record.rule_span_limit,
        )

    @staticmethod
    def id_in_json(line: str) -> int | str | None:
        """Reads the id of a JSON line, even if it is not a valid sentence. Returns None if it has no id."""
        try:
            return _NamedRecord.model_validate_json(line).id
        except ValidationError:
            return None

    def to_json(self) -> str:
        """Returns a line for ``from_json``. Raises TypeError for annotations that JSON cannot represent."""
        record: dict[str, Any] = {"tokens": list(self.tokens)} if self.text is None else {"text": self.text}
        if self.lattice is not None:
            record = {"lattice": self.lattice.to_json()}
        if self.id is not None:
            record["id"] = self.id
        for name in ("rules", "hidden"):
            if rules := getattr(self, name):
                record[name] = [str(rule) for rule in rules]
        if self.rule_span_limit:
            record["rule_span_limit"] = self.rule_span_limit
        if self.parse is not None:
            record["parse"] = self.parse.brackets()
        if self.annotations:
            record["annotations"] = dict(self.annotations)
        for name in ("prefix", "references", "required", "forbidden"):
            if value := getattr(self, name):
                record[name] = value
        if self.markup:
            record["markup"] = self.markup.to_json()
        return json.dumps(record, ensure_ascii=False)


class _NamedRecord(BaseModel):
    model_config = ConfigDict(strict=True)

    id: int | str | None = None


class _Record(_NamedRecord):
    """The object that ``from_json`` reads."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str | None = None
    tokens: list[str] | None = None
    rules: list[str] = []
    parse: str | None = None
    annotations: dict[str, Any] = {}
    prefix: str | list[str] = []
    references: list[str | list[str]] = []
    required: list[str | list[str]] = []
    forbidden: list[str | list[str]] = []
    markup: MarkupRecord = MarkupRecord()
    lattice: LatticeRecord | None = None
    hidden: list[str] = []
    rule_span_limit: Annotated[int, Field(ge=0, lt=2**32)] = 0


def features_of_other_sentences(weights: Iterable[str], model_features: Iterable[str]) -> set[str]:
    """Returns the names of weights that are of marked phrases or lattices, and of no feature of a model.

    Weights that were tuned with such sentences are for all others, too."""
    names = {name for name in weights if name in MARKUP_FEATURES or is_lattice_feature(name)}
    return names.difference(model_features)


def sentence_features(sentence: Sentence) -> set[str]:
    """Returns the names of the features that the rules of a sentence and of its marked phrases have."""
    lattice = [] if sentence.lattice is None else sentence.lattice.features
    return {name for rule in sentence.rules for name in rule.features}.union(
        sentence.markup.features, lattice
    )
