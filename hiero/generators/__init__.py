"""Generators of rules for single sentences: those of this package, for numbers and names, and what others
must be.

>>> import hiero
>>> generators = [hiero.generators.NumberRules(source="de", target="en")]
>>> model = hiero.Model.load("model").with_features(generators=generators)
"""

from hiero.generators.conventions import CONVENTIONS, Convention
from hiero.generators.names import NameRules
from hiero.generators.numbers import NumberRules
from hiero.generators.protocol import RuleGenerator

__all__ = ["CONVENTIONS", "Convention", "NameRules", "NumberRules", "RuleGenerator"]
