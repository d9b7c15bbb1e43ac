"""The protocol of rule generators, which make rules for single sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Protocol

from pydantic import Field

from hiero._core import Error, Rule, escape
from hiero.base.text import format_links
from hiero.features.sentence import Sentence


class RuleGenerator(Protocol):
    """A generator of rules for a sentence, made from its tokens, its parse or its annotations.

    It is called once for each sentence, from any thread. It must not have state that changes: the same
    sentence always gives the same rules. The labels of the rules are labels of the model.
    """

    @property
    def name(self) -> str:
        """Name of the generator in messages and model directories."""

    @property
    def features(self) -> Sequence[str]:
        """Features of its rules that the model may not have. Several generators may share a feature."""

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        """Makes the rules for a sentence that has tokens."""


def feature_names(generators: Sequence[RuleGenerator]) -> list[str]:
    """Returns the features of all generators without duplicates. Raises TypeError if they are a string."""
    for generator in generators:
        if isinstance(generator.features, str):
            raise TypeError(f"rule generator {generator.name}: features: expected a list, not a string")
    return list(dict.fromkeys(name for generator in generators for name in generator.features))


# The left-hand label of generated rules.
Label = Annotated[str, Field(pattern=r"^[^\s\[\],]+$")]


def add_generated_rules(sentence: Sentence, generators: Sequence[RuleGenerator]) -> Sentence:
    """Returns the sentence with generated rules added after its rules. The sentence must have tokens.

    Raises Error, naming the generator, if it raises an exception or returns anything that is not a rule.
    """
    generated: list[Rule] = []
    for generator in generators:
        try:
            generated += _checked_rules(generator, sentence)
        except Exception as error:  # a generator of the user may raise anything
            raise Error(f"rule generator {generator.name}: {type(error).__name__}: {error}") from error
    return replace(sentence, rules=(*sentence.rules, *generated)) if generated else sentence


def _checked_rules(generator: RuleGenerator, sentence: Sentence) -> list[Rule]:
    rules = list(generator.rules(sentence))
    for rule in rules:
        if not isinstance(rule, Rule):
            raise TypeError(f"expected rules, found {rule!r}")
    return rules


def phrase_rule(
    label: str, source: Sequence[str], target: Sequence[str], feature: str, links: Iterable[tuple[int, int]]
) -> Rule:
    """Makes a rule without nonterminals. All tokens are words, even if they look like nonterminals."""
    sides = (" ".join(map(escape, side)) for side in (source, target))
    return Rule(" ||| ".join([f"[{label}]", *sides, f"{feature}=1", format_links(links)]))
