"""Generators of rules for single sentences: for numbers, for names, and a protocol for other generators.

>>> import hiero
>>> generators = [hiero.generators.NumberRules(source="de", target="en")]
>>> model = hiero.Model.load("model").with_features(generators=generators)
"""

from hiero.generators.conventions import CONVENTIONS, Convention, Language, convention_for
from hiero.generators.names import NameRules
from hiero.generators.numbers import NumberRules
from hiero.generators.protocol import RuleGenerator
from hiero.generators.sentence_features import SentenceFeatures

__all__ = [
    "CONVENTIONS",
    "Convention",
    "Language",
    "NameRules",
    "NumberRules",
    "RuleGenerator",
    "SentenceFeatures",
    "convention_for",
]
