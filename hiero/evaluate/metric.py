"""The interface of metrics: statistics of segments, which add up, and a score of their sum.

A metric is made with the references of a set of segments. ``statistics`` of hypotheses are rows that add up
over segments, and ``score`` of their sum is the metric of the set, so that resampling, tuning and documents
all work on sums of rows. ``signature`` names every choice that a score depends on.

>>> from hiero.evaluate import Bleu
>>> metric = Bleu([["the cat sleeps on the mat", "a cat sleeps on the mat"]])
>>> rows = metric.statistics(["the cat sleeps on a mat"])
>>> round(float(metric.score(rows.sum(axis=0))), 2)
56.23
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hiero.base.arguments import checked_tuple
from hiero.evaluate.tokens import Hypotheses, Text

Array = npt.NDArray[np.float64]


class Metric(ABC):
    """A metric of the translations of a set of segments, against references. ``checksum`` is the SHA-256 of
    the references."""

    # As it is printed, and as its signature begins. Commands know it by its key in ``metrics.METRICS``.
    name: ClassVar[str]
    # A metric of which less is better is in percent: tuning maximises 100 minus it.
    lower_is_better: ClassVar[bool] = False
    # Whether it counts the words that the tokeniser of ``text`` makes; False if it reads lines by itself.
    uses_tokenizer: ClassVar[bool] = True

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        """``references`` has the references of every segment as lines of text; an empty line counts as
        missing. ``text`` says how lines become tokens (default: at spaces).

        Raises ValueError for no segments and for a segment without a reference, TypeError for a segment whose
        references are a string, or lists of tokens in place of lines. Messages number segments from 0. A
        metric that counts words must itself raise ValueError for a segment whose references have none:
        tokenisers drop some text.
        """
        checked_tuple("references", references, Iterable, "segments, each a list of references")
        if not references:
            raise ValueError("a metric is of one segment or more")
        for number, segment in enumerate(references):
            checked_tuple(f"segment {number}", segment, str, "references, each a line of text")
            if not any(line.strip() for line in segment):
                raise ValueError(f"segment {number}: no reference that is not empty")
        self.text = text if text is not None else Text()
        self.segments = len(references)
        self.most_references = max(len(segment) for segment in references)
        counts = {sum(bool(line.strip()) for line in segment) for segment in references}
        # The number of references of a segment in signatures; "var" if segments differ.
        self._reference_count = str(*counts) if len(counts) == 1 else "var"
        self.checksum = hashlib.sha256(json.dumps([list(s) for s in references]).encode()).hexdigest()

    @property
    def width(self) -> int:
        """The number of columns of statistics."""
        return int(self.token_statistics([0], Hypotheses.from_tokens([[]])).shape[1])

    def statistics(self, lines: Sequence[str]) -> Array:
        """Counts statistics of one hypothesis for each segment, as text; float64 (segments, width). Raises
        ValueError for another number of lines, TypeError for lists of tokens in place of lines."""
        self._check(lines)
        segments = np.arange(self.segments, dtype=np.int32)
        return self.token_statistics(segments, Hypotheses.from_tokens(self.text.tokens(lines)))

    def _check(self, lines: Sequence[str]) -> None:
        checked_tuple("hypotheses", lines, str, "lines of text, one for each segment")
        if len(lines) != self.segments:
            raise ValueError(f"{len(lines)} hypotheses for {self.segments} segments")

    @abstractmethod
    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        """Counts statistics of hypotheses in tokens, float64 (n, width); (0, width) for none of them.
        ``segments`` has the segment of each, (n), from 0.

        Tokens are as ``text`` makes them, lowercased if it does so. Tokens from a forest may contain white
        space: a metric of words calls ``hypotheses.split()`` first. Raises IndexError for a segment that is
        not there; see ``checked_segments``.
        """

    def checked_segments(self, segments: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Returns numbers of segments, (n), as an array. Raises IndexError for one that is not there."""
        numbers = np.asarray(segments, dtype=np.int32)
        if wrong := numbers[(numbers < 0) | (numbers >= self.segments)].tolist():
            raise IndexError(f"segment {wrong[0]}: there are {self.segments}")
        return numbers

    def empty_statistics(self, segments: Sequence[int]) -> Array:
        """Counts statistics of empty translations of some segments, float64 (n, width)."""
        return self.token_statistics(segments, Hypotheses.from_tokens([[]] * len(segments)))

    @abstractmethod
    def score(self, statistics: npt.ArrayLike) -> Array:
        """Computes the metric of sums of statistics, (..., width) to (...). Zeros, the sum of no segments,
        give a finite number."""

    def segment_scores(self, statistics: npt.ArrayLike) -> Array:
        """Computes the metric of each segment by itself, (..., width) to (...)."""
        return self.score(statistics)

    def details(self, statistics: Array) -> str:
        """Describes the parts of a score, to print after it."""
        return ""

    @property
    @abstractmethod
    def signature(self) -> str:
        """A text NAME|key:value|... that names all choices on which a score depends: the number of references
        (nrefs), those of the metric, and those of ``text.signature``."""

    @property
    def segment_signature(self) -> str:
        """The choice that only ``segment_scores`` make, which commands add to the signature as segments:...;
        "" if a segment is scored as a set is."""
        return ""


class LineMetric(Metric):
    """A metric that reads hypotheses as lines of text, and splits them by itself."""

    uses_tokenizer = False

    def statistics(self, lines: Sequence[str]) -> Array:
        self._check(lines)
        return self._rows(range(self.segments), lines)

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return self._rows(self.checked_segments(segments).tolist(), hypotheses.texts())

    @abstractmethod
    def _rows(self, segments: Sequence[int], lines: Sequence[str]) -> Array:
        """Counts statistics of a line for each of these segments, float64 (n, width)."""
