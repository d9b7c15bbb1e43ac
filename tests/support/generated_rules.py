"""Rules that generators make for a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from hiero import Rule
from hiero.base.text import split
from hiero.features.sentence import Sentence
from hiero.generators import (
    NumberRules,
    RuleGenerator,
)


def rules_for(generator: RuleGenerator, sentence: str) -> list[Rule]:
    return list(generator.rules(Sentence(tokens=split(sentence))))


def targets(rules: Sequence[Rule], phrase: str) -> list[str]:
    return [" ".join(rule.target) for rule in rules if " ".join(rule.source) == phrase]


def between(languages: str) -> NumberRules:
    source, target = languages.split(" ")
    return NumberRules(source=source, target=target)
