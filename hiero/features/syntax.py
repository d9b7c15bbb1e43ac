"""Soft syntactic constraints (Marton and Resnik 2008; Chiang et al. 2008, section 3).

The features say whether the source span of a rule is a constituent of the sentence's parse, or crosses one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from hiero._core import FormatError
from hiero.base.settings import Settings
from hiero.features.sentence import Sentence
from hiero.features.trees import is_label

# The labels of the published experiments, for coarse and for fine features.
COARSE_LABELS = ("NP", "PP", "S", "VP", "SBAR", "ADJP", "ADVP", "QP")
FINE_LABELS = ("NP", "PP", "S", "VP", "SBAR", "ADJP", "WHNP", "PRT", "ADVP", "PRN", "QP")


def _is_label(label: str) -> str:
    if not is_label(label):
        raise ValueError(f"{label!r} is not a label of a tree, which has no functions and no indices")
    return label


Label = Annotated[str, AfterValidator(_is_label)]


def _distinct(labels: tuple[str, ...]) -> tuple[str, ...]:
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} occurs twice")
    return labels


Labels = Annotated[tuple[Label, ...], Field(min_length=1), AfterValidator(_distinct)]


class _SoftSyntax(Settings, ABC):
    """The common part of coarse and fine features.

    A constituent matches a span if they are equal. It crosses a span if they overlap and neither contains the
    other. The value of a feature is 0 or 1, even if several constituents match or cross.
    """

    kind: str
    labels: Labels
    # Whether rules of the goal, such as glue rules, have the features, too.
    glue: bool = False

    @property
    @abstractmethod
    def names(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def columns(self) -> Sequence[int]:
        """Columns of the match features, by label. The cross feature of a label is in the next column."""

    def by_span(self, sentence: Sentence, spans: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
        """Computes the features of spans; see ``SpanFeatures``. Raises FormatError without a parse."""
        if sentence.parse is None:
            raise FormatError("no parse")
        constituents = [c for c in sentence.parse.constituents if c.label in self.labels]
        span_begin, span_end = spans[:, :1], spans[:, 1:]
        begin = np.array([c.begin for c in constituents], dtype=np.int32)
        end = np.array([c.end for c in constituents], dtype=np.int32)
        equal = (span_begin == begin) & (span_end == end)
        crosses_begin = (span_begin < begin) & (begin < span_end) & (span_end < end)
        crosses_end = (begin < span_begin) & (span_begin < end) & (end < span_end)
        crossing = crosses_begin | crosses_end
        values = np.zeros((len(spans), len(self.names)))
        column_of = dict(zip(self.labels, self.columns, strict=True))
        columns = np.array([column_of[c.label] for c in constituents], dtype=np.intp)
        for column in set(columns.tolist()):
            values[:, column] = equal[:, columns == column].any(axis=1)
            values[:, column + 1] = crossing[:, columns == column].any(axis=1)
        return values


class CoarseSyntax(_SoftSyntax):
    """Two features: ``Syntax_Match`` if any constituent matches, ``Syntax_Cross`` if any is crossed.

    >>> CoarseSyntax().names
    ['Syntax_Match', 'Syntax_Cross']
    """

    kind: Literal["coarse-syntax"] = "coarse-syntax"
    labels: Labels = COARSE_LABELS

    @property
    def names(self) -> Sequence[str]:
        return ["Syntax_Match", "Syntax_Cross"]

    @property
    def columns(self) -> Sequence[int]:
        return [0] * len(self.labels)


class FineSyntax(_SoftSyntax):
    """A match feature and a cross feature for each label.

    >>> FineSyntax(labels=("NP", "VP")).names
    ['Syntax_NP_Match', 'Syntax_NP_Cross', 'Syntax_VP_Match', 'Syntax_VP_Cross']
    """

    kind: Literal["fine-syntax"] = "fine-syntax"
    labels: Labels = FINE_LABELS

    @property
    def names(self) -> Sequence[str]:
        return [f"Syntax_{label}_{kind}" for label in self.labels for kind in ("Match", "Cross")]

    @property
    def columns(self) -> Sequence[int]:
        return range(0, 2 * len(self.labels), 2)
