"""The protocol of generators, which make rules for single sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Protocol

from pydantic import Field

from hiero._core import Error, Rule, escape
from hiero.base.text import format_links
from hiero.features.sentence import Sentence


class RuleGenerator(Protocol):
    """Rules for one sentence, from its tokens and whatever else it tells.

    Called once a sentence that is decoded, from any thread: it has no state that changes, and the same
    sentence always gives the same rules. Their labels are the model's.
    """

    @property
    def name(self) -> str:
        """The generator's name in messages and model directories."""

    @property
    def features(self) -> Sequence[str]:
        """The features that its rules may have besides the model's; others may have them too."""

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        """The sentence has tokens."""


def features_of(generators: Sequence[RuleGenerator]) -> list[str]:
    """All that their rules may have, each once. Raises TypeError for a string in place of several."""
    for generator in generators:
        if isinstance(generator.features, str):
            raise TypeError(f"rule generator {generator.name}: features: expected several, not a string")
    return list(dict.fromkeys(name for generator in generators for name in generator.features))


# The left-hand label of what is generated.
Label = Annotated[str, Field(pattern=r"^[^\s\[\],]+$")]


def with_generated(sentence: Sentence, generators: Sequence[RuleGenerator]) -> Sentence:
    """A sentence with tokens, and with the rules that generators have for it behind its own.

    Raises Error naming a generator that raises, or has other things than rules.
    """
    made: list[Rule] = []
    for generator in generators:
        try:
            made += _rules(generator, sentence)
        except Exception as error:  # those of users may raise anything
            raise Error(f"rule generator {generator.name}: {type(error).__name__}: {error}") from error
    return replace(sentence, rules=(*sentence.rules, *made)) if made else sentence


def _rules(generator: RuleGenerator, sentence: Sentence) -> list[Rule]:
    made = list(generator.rules(sentence))
    for rule in made:
        if not isinstance(rule, Rule):
            raise TypeError(f"expected rules, found {rule!r}")
    return made


def phrase_rule(
    label: str, source: Sequence[str], target: Sequence[str], feature: str, links: Iterable[tuple[int, int]]
) -> Rule:
    """A rule without nonterminals: all tokens are words, also those that look like syntax."""
    sides = (" ".join(map(escape, side)) for side in (source, target))
    return Rule(" ||| ".join([f"[{label}]", *sides, f"{feature}=1", format_links(links)]))
