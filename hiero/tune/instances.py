"""Spans of sentences as instances of tuning (Zhai et al. 2015): which there are, and what partial derivations
are judged by.

The potential of a partial derivation is what it comes to as part of a translation of the whole sentence, with
what stands around its span there: the best translations before and behind (concatenation), what is around it
in the k best translations (top-down), or where the guided backtrace comes by. Partial BLEU judges it alone,
against the whole reference or the part of it that is aligned to its span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import scipy.sparse
from pydantic import Field, model_validator

from hiero._core import Chart, KBestArrays
from hiero.base.settings import Settings, refuse_idle
from hiero.evaluate.metrics import Bleu, Hypotheses
from hiero.tune.pool import WHOLE, Candidates
from hiero.tune.protocol import Array
from hiero.tune.span_references import AlignedBleu

Measure = Literal["guided", "top-down", "concatenation", "partial-full", "partial-span"]
# What the core calls the strings around spans.
_OUTSIDE = {"partial-full": "nothing", "partial-span": "nothing"}


class SearchAware(Settings):
    """As published: which spans of a sentence are instances, by their words, and how many derivations of
    each take part."""

    search_aware: Measure | None = Field(
        None, description="spans are tuned on, too: what their derivations are judged by"
    )
    beam: int = Field(30, ge=1, description="items of a span that take part")
    recovered: int = Field(50, ge=0, description="derivations of a span that the guided backtrace adds")
    short_sentence: int = Field(20, ge=0, description="words that a short sentence has fewer than")
    span_share: float = Field(
        0.75, ge=0, lt=1, description="of a short sentence's words, which spans have more than"
    )
    span_words: int = Field(18, ge=1, description="words of spans of other sentences, at least")

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if self.search_aware is None:
            refuse_idle(self, SearchAware.model_fields, "is for search-aware tuning")
        return self

    def takes(self, words: int, begin: int, end: int) -> bool:
        """Whether a span is an instance, other than the whole sentence."""
        if words < self.short_sentence:
            return self.span_share * words < end - begin < words
        return self.span_words <= end - begin < words


@dataclass(frozen=True)
class SentenceInstances:
    """The instances of one sentence: the tokens of its best translation joined by spaces, statistics of that,
    and the candidates of its instances by rising span, the first of which is the whole."""

    best: str
    first: Array
    candidates: Sequence[Candidates]


class Instances:
    """Makes instances of a set from its charts; may be called from any thread."""

    def __init__(self, metric: Bleu, k: int, options: SearchAware) -> None:
        """``k`` distinct translations of each sentence. Raises ValueError for partial-span without an
        ``AlignedBleu``."""
        assert options.search_aware is not None
        if options.search_aware == "partial-span" and not isinstance(metric, AlignedBleu):
            raise ValueError("partial-span wants the alignments of the references")
        self._metric = metric
        self._k = k
        self._options = options
        self._measure = options.search_aware

    def of(self, sentence: int, chart: Chart | None) -> SentenceInstances:
        """Makes the instances of a sentence; one without a translation has the empty whole alone."""
        if chart is None or chart.forest.root < 0:
            nothing = self._metric.token_statistics([sentence], Hypotheses.of_tokens([[]]))
            columns = 0 if chart is None else len(chart.forest.feature_names)
            empty = Candidates(WHOLE, scipy.sparse.csr_array((0, columns)), nothing[:0])
            return SentenceInstances("", nothing[0], [empty])
        outside = chart.outside(
            _OUTSIDE.get(self._measure, self._measure),
            self._metric.references[sentence],
            k=self._k,
            beam=self._options.beam,
            recovered=self._options.recovered,
            effective_length=self._metric.effective_length,
        )
        words = len(chart.forest.source)
        spans = [span for span in chart.spans if self._options.takes(words, *span)]
        lists = [outside.candidates(0, words), *(outside.candidates(*span) for span in spans)]
        found = [Candidates(WHOLE, lists[0].features, self._statistics(sentence, chart, lists[0]))]
        for span, candidates in zip(spans, lists[1:], strict=True):
            statistics = self._judged(sentence, chart, span, candidates)
            if statistics is not None:
                found.append(Candidates(span, candidates.features, statistics))
        best = Hypotheses.of_list(chart.forest, lists[0]).first()
        return SentenceInstances(best, found[0].statistics[0], found)

    def _statistics(self, sentence: int, chart: Chart, found: KBestArrays) -> Array:
        """Counts the statistics of whole translations."""
        segments = np.full(len(found), sentence, dtype=np.int32)
        return self._metric.token_statistics(segments, Hypotheses.of_list(chart.forest, found))

    def _judged(self, sentence: int, chart: Chart, span: tuple[int, int], found: KBestArrays) -> Array | None:
        """Statistics of a span's candidates; None where it is no instance."""
        if self._measure == "partial-span":
            assert isinstance(self._metric, AlignedBleu)
            return self._metric.span_statistics(sentence, span, Hypotheses.of_list(chart.forest, found))
        statistics = self._statistics(sentence, chart, found)
        if self._measure == "partial-full":
            share = (span[1] - span[0]) / len(chart.forest.source)
            statistics[:, 1] = scaled_lengths(self._metric, sentence, statistics[:, 0], share)
        return statistics


def scaled_lengths(metric: Bleu, sentence: int, lengths: Array, share: float) -> Array:
    """The effective reference lengths, (n), of hypotheses of these lengths, where references have a share of
    their words (Zhai et al. 2015, section 3.1)."""
    own = share * np.array(sorted(len(tokens) for tokens in metric.references[sentence] if tokens))
    if metric.effective_length == "average":
        return np.full(len(lengths), own.mean())
    if metric.effective_length == "shortest":
        return np.full(len(lengths), own[0])
    # Of equally close ones the shorter.
    return np.asarray(own[np.abs(own[:, None] - lengths).argmin(axis=0)])
