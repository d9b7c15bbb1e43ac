"""The table of the rules of corrections, beside the tables of the model.

Counts of corrections come on top of those of the training, as if the model had been trained on the
corrections too. What the training counted is read off the features of the model's rules, so that it is exact
for models that have all rules of their bitext. How often a target side was seen with other source sides is
not known for rules that the model does not have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hiero._core import CorrectedRules, CountedRule, ExtractOptions, Rule, RuleCounts
from hiero.decode.model import Model
from hiero.train.alignment import Links

# The feature of all rules of corrections, and of those alone.
CORRECTED = "Corrected"
_LABEL = "X"


class RuleMemory:
    """The rules of corrections. Not for several threads at once.

    ``words`` are the counts that ``model.learning`` names. The rules of the model have the features of
    ``hiero.train.score_rules``.
    """

    def __init__(self, model: Model, words: RuleCounts) -> None:
        assert model.learning is not None
        self._features = frozenset(model.feature_names)
        options = ExtractOptions(**model.learning.extraction)
        self._rules = CorrectedRules(words, model.tables[0], options)

    def __len__(self) -> int:
        """Returns the number of different rules."""
        return len(self._rules)

    def add(self, source: Sequence[str], target: Sequence[str], links: Links) -> None:
        """Adds the rules of a corrected pair."""
        self._rules.add(source, target, links)

    def rules_for(self, tokens: Sequence[str]) -> list[Rule]:
        """Returns the rules that may apply to a sentence."""
        return [self._scored(rule) for rule in self._rules.rules_for(tokens)]

    def _scored(self, rule: CountedRule) -> Rule:
        count = rule.trained_count + rule.count
        values = {
            "PhraseFE": math.log(count / (rule.trained_target_count + rule.target_count)),
            "PhraseEF": math.log(count / (rule.trained_source_count + rule.source_count)),
            "LexFE": rule.lex_fe,
            "LexEF": rule.lex_ef,
            "RuleCount": math.log(count),
            "Singleton": float(rule.trained_occurrences + rule.occurrences == 1),
        }
        features = [f"{name}={value:.9g}" for name, value in values.items() if name in self._features]
        fields = (
            f"[{_LABEL}]",
            " ".join(rule.source),
            " ".join(rule.target),
            " ".join([*features, f"{CORRECTED}=1"]),
            " ".join(f"{source}-{target}" for source, target in rule.links),
        )
        return Rule(" ||| ".join(fields))
