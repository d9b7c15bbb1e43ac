"""The share of the terms of a glossary that are translated as they are asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Array, LineMetric
from hiero.evaluate.tokens import Text
from hiero.features.glossary import Glossary
from hiero.text import TextProcessing


class Terms(LineMetric):
    """The terms of the source that are translated as a glossary asks, in percent of all.

    Text is compared by the words that ``sides`` make of it, before casing. A source without terms scores 100.
    """

    name = "Terms"

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        source: Sequence[str],
        glossary: Glossary,
        sides: TextProcessing | None = None,
        text: Text | None = None,
    ) -> None:
        """``source`` are the segments as lines of text. Raises ValueError if they are not as many as segments
        of ``references``."""
        super().__init__(references, text)
        if len(source) != self.segments:
            raise ValueError(f"{len(source)} lines of the source for {self.segments} segments")
        self._source = list(source)
        self._glossary = glossary
        self._sides = sides or TextProcessing()
        terms = repr(glossary.terms).encode()
        self._terms = hashlib.sha256(terms).hexdigest()[:8]

    def _rows(self, segments: Sequence[int], lines: Sequence[str]) -> Array:
        """Counts the terms of each segment, and those that its line has: float64 (n, 2)."""
        sides = self._sides
        rows = [
            self._glossary.count(self._source[segment], line, sides.source, sides.target)
            for segment, line in zip(segments, lines, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def score(self, statistics: npt.ArrayLike) -> Array:
        asked, right = np.moveaxis(np.asarray(statistics, dtype=np.float64), -1, 0)
        return np.where(asked > 0, 100 * right / np.maximum(asked, 1), 100.0)

    def details(self, statistics: Array) -> str:
        asked, right = statistics.astype(int).tolist()
        return f"{right} of {asked} terms"

    @property
    def signature(self) -> str:
        return f"{self.name}|glossary:{self._terms}"
