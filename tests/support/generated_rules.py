"""Runs rule generators on a sentence and selects their rules."""

from __future__ import annotations

from collections.abc import Sequence

from hiero import Rule
from hiero.base.text import split
from hiero.features.sentence import Sentence
from hiero.generators import NumberRules, RuleGenerator


def generate_rules(generator: RuleGenerator, sentence: str) -> list[Rule]:
    return list(generator.rules(Sentence(tokens=split(sentence))))


def targets(rules: Sequence[Rule], phrase: str) -> list[str]:
    """Returns the target sides of the rules with this source side."""
    return [" ".join(rule.target) for rule in rules if " ".join(rule.source) == phrase]


def number_rules(languages: str) -> NumberRules:
    """Makes the generator of number rules for a pair of languages such as "fr en"."""
    source, target = languages.split(" ")
    return NumberRules(source=source, target=target)


def all_targets(languages: str, phrase: str) -> set[str]:
    """Returns the translations of a phrase joined by " | ", as a sentence and within a sentence.

    A phrase with an x is translated only within one. A phrase that ends in a full stop is a sentence.
    """
    sentence, phrase = phrase, phrase.removesuffix(" x")
    sentences = [sentence] if sentence.endswith(".") else [sentence, f"w {sentence} w {phrase} w"]
    generator = number_rules(languages)
    return {" | ".join(targets(generate_rules(generator, text), phrase)) for text in sentences}
