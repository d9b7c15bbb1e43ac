"""Protocols of local features: scores of a rule application that depend only on the source side and the rule.

Local features are computed before the search, for a complete sentence at once. There are three kinds.
Features of spans, and features of gaps (the sizes of nonterminals and whether they are reordered), are looked
up in tables, so that no Python code runs for single rules. Features of rules are computed for every rule
application.

The methods must be pure functions of their arguments. They are called from any thread, once for each sentence
that has something to translate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from hiero._core import ApplicationBatch
from hiero.features.sentence import Sentence

if TYPE_CHECKING:  # a decoder without local features or forests need not load scipy
    import scipy.sparse

    Matrix: TypeAlias = scipy.sparse.sparray | npt.NDArray[Any]


class Named(Protocol):
    """The attribute that all kinds of local features have."""

    @property
    def names(self) -> Sequence[str]:
        """Feature names. No other part of the model may have features with the same names."""


class SpanFeatures(Named, Protocol):
    """Features that are equal for all rules on a span of the sentence.

    Rules of the goal, such as glue rules, have these features only if the attribute ``glue`` is true.
    """

    def by_span(self, sentence: Sentence, spans: npt.NDArray[np.int32]) -> Matrix:
        """Computes a matrix with a row for every span and ``len(names)`` columns.

        ``spans`` has the shape (n, 2): the first word and the word after the last one, counted from 0.
        Values must be finite. ``sentence`` has tokens.
        """


class GapFeatures(Named, Protocol):
    """Features of the nonterminals of a rule, summed over its nonterminals.

    They depend on the number S of source words that the nonterminal covers, and on whether it is reordered,
    which means that it crosses another nonterminal or a word link of the rule.
    Rules of the goal, such as glue rules, have these features only if the attribute ``glue`` is true.
    """

    def by_gap(self) -> npt.NDArray[Any]:
        """Computes an array of finite values with the shape (sizes, 2, ``len(names)``).

        The first index is S - 1; the last row is for larger sizes, too. The second index is 0 for monotone
        and 1 for reordered nonterminals. Called once for each model.
        """


class RuleFeatures(Named, Protocol):
    """Features of single rule applications."""

    def by_rule(self, sentence: Sentence, batch: ApplicationBatch) -> Matrix:
        """Computes a matrix with a row for every rule application and ``len(names)`` columns.

        Values must be finite. ``sentence`` has tokens.
        """


LocalFeatures = SpanFeatures | GapFeatures | RuleFeatures
