"""Local features: scores of a rule application that depend on the source side and the rule alone.

They are computed for a whole sentence at once, before search, and are of one of three kinds. Most depend
on the span alone, or on the sizes of gaps and whether these are reordered: a table is looked up then, and
nothing is done in Python for each rule. All others see every rule of every application.

The calls must be pure functions of their arguments, and are made from any thread, once a sentence that has
something to translate.
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
    """The attribute that all local features have."""

    @property
    def names(self) -> Sequence[str]:
        """Feature names, which no other part of the model may use."""


class SpanFeatures(Named, Protocol):
    """The same for all rules on a span of the sentence.

    Rules of the goal, as glue is, have them only where the object's attribute ``glue`` is true.
    """

    def by_span(self, sentence: Sentence, spans: npt.NDArray[np.int32]) -> Matrix:
        """For spans (n, 2), first word and past-the-end word, a matrix of n rows and ``len(names)`` columns,
        finite values only. The sentence has tokens."""


class GapFeatures(Named, Protocol):
    """Features of every nonterminal of a rule by the number S of source words that it stands for, and whether
    it is reordered: crosses another nonterminal or a word link of the rule. Summed over the rule's
    nonterminals.

    Those of rules of the goal, as glue is, count only where the object's attribute ``glue`` is true.
    """

    def by_gap(self) -> npt.NDArray[Any]:
        """An array (sizes, 2, ``len(names)``) of finite values: row S - 1, the last one for all that are
        larger, too, and in it 0 for monotone and 1 for reordered. Asked for once a model."""


class RuleFeatures(Named, Protocol):
    """All others: of every rule of every application."""

    def by_rule(self, sentence: Sentence, batch: ApplicationBatch) -> Matrix:
        """A matrix of ``len(batch)`` rows and ``len(names)`` columns, finite values only. The sentence has
        tokens."""


LocalFeatures = SpanFeatures | GapFeatures | RuleFeatures
