"""Soft syntactic constraints (Marton and Resnik 2008; Chiang et al. 2008, section 3): whether the source span
of a rule is a constituent of the sentence's parse, or crosses one."""

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

# As published, for coarse features and for fine ones.
COARSE_LABELS = ("NP", "PP", "S", "VP", "SBAR", "ADJP", "ADVP", "QP")
FINE_LABELS = ("NP", "PP", "S", "VP", "SBAR", "ADJP", "WHNP", "PRT", "ADVP", "PRN", "QP")


def _is_label(label: str) -> str:
    if not is_label(label):
        raise ValueError(f"{label!r} is no label of trees, which have no functions or indices")
    return label


Label = Annotated[str, AfterValidator(_is_label)]


def _distinct(labels: tuple[str, ...]) -> tuple[str, ...]:
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} is there twice")
    return labels


Labels = Annotated[tuple[Label, ...], Field(min_length=1), AfterValidator(_distinct)]


class _SoftSyntax(Settings, ABC):
    """A constituent matches a span that it equals, and crosses one that it overlaps without either containing
    the other; a feature fires once, however many constituents do."""

    kind: str
    labels: Labels
    # Whether rules of the goal, as glue is, fire them too.
    glue: bool = False

    @property
    @abstractmethod
    def names(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def columns(self) -> Sequence[int]:
        """By label, the column of its match; that of its cross is the next one."""

    def by_span(self, sentence: Sentence, spans: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
        """Raises FormatError for a sentence without a parse."""
        if sentence.parse is None:
            raise FormatError("no parse")
        found = [c for c in sentence.parse.constituents if c.label in self.labels]
        begin, end = spans[:, :1], spans[:, 1:]
        first = np.array([c.begin for c in found], dtype=np.int32)
        last = np.array([c.end for c in found], dtype=np.int32)
        equal = (begin == first) & (end == last)
        crossing = ((begin < first) & (first < end) & (end < last)) | (
            (first < begin) & (begin < last) & (last < end)
        )
        values = np.zeros((len(spans), len(self.names)))
        of_label = dict(zip(self.labels, self.columns, strict=True))
        columns = np.array([of_label[c.label] for c in found], dtype=np.intp)
        for column in set(columns.tolist()):
            values[:, column] = equal[:, columns == column].any(axis=1)
            values[:, column + 1] = crossing[:, columns == column].any(axis=1)
        return values


class CoarseSyntax(_SoftSyntax):
    """Two features: a constituent of any of the labels matches, ``Syntax_Match``, and one is crossed,
    ``Syntax_Cross``.

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
    """The same two features of each label.

    >>> FineSyntax(labels=("NP", "VP")).names
    ['Syntax_NP_Match', 'Syntax_NP_Cross', 'Syntax_VP_Match', 'Syntax_VP_Cross']
    """

    kind: Literal["fine-syntax"] = "fine-syntax"
    labels: Labels = FINE_LABELS

    @property
    def names(self) -> Sequence[str]:
        return [f"Syntax_{label}_{what}" for label in self.labels for what in ("Match", "Cross")]

    @property
    def columns(self) -> Sequence[int]:
        return range(0, 2 * len(self.labels), 2)
