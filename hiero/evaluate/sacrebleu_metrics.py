"""chrF and TER, computed by sacrebleu."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sacrebleu

from hiero.evaluate.metric import Array, LineMetric
from hiero.evaluate.tokens import Text


class _Sacrebleu(LineMetric):
    """A metric of sacrebleu, which splits text into characters or words by itself."""

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        super().__init__(references, text)
        streams = [
            [segment[k] if k < len(segment) and segment[k].strip() else None for segment in references]
            for k in range(self.most_references)
        ]
        self._metric = self._make(streams)

    @abstractmethod
    def _make(self, streams: Any) -> Any:
        """Makes sacrebleu's metric. ``streams`` are lists of one reference for each segment, or None."""

    # Statistics and the score of their sums are not part of sacrebleu's public interface, but its own
    # significance tests use them.

    def _rows(self, segments: Sequence[int], lines: Sequence[str]) -> Array:
        metric = self._metric
        rows = [
            metric._compute_segment_statistics(metric._preprocess_segment(line), metric._ref_cache[segment])
            for segment, line in zip(segments, lines, strict=True)
        ]
        return np.array(rows, dtype=np.float64) if rows else np.zeros((0, self.width))

    def score(self, statistics: npt.ArrayLike) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        rows = values.reshape(-1, values.shape[-1]).tolist()
        scores = [self._metric._compute_score_from_stats(row).score for row in rows]
        return np.array(scores, dtype=np.float64).reshape(values.shape[:-1])

    @property
    def signature(self) -> str:
        return f"{self.name}|{self._metric.get_signature()}"


class Chrf(_Sacrebleu):
    """chrF2 (Popović 2015) from 0 to 100, by sacrebleu, of text as it is, whatever the tokeniser."""

    name = "chrF"

    def _make(self, streams: Any) -> Any:
        return sacrebleu.CHRF(lowercase=self.text.lowercase, references=streams)


class ChrfPlusPlus(_Sacrebleu):
    """chrF2++ (Popović 2017), which also counts pairs of words, by sacrebleu, of text as it is."""

    name = "chrF++"

    def _make(self, streams: Any) -> Any:
        return sacrebleu.CHRF(word_order=2, lowercase=self.text.lowercase, references=streams)


class Ter(_Sacrebleu):
    """TER (Snover et al. 2006) in percent, less is better, by sacrebleu. Words are separated by white space,
    whatever the tokeniser."""

    name = "TER"
    lower_is_better = True

    def _make(self, streams: Any) -> Any:
        return sacrebleu.TER(case_sensitive=not self.text.lowercase, references=streams)
