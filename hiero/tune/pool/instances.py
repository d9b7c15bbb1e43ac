"""Spans of sentences as instances of tuning (Zhai et al. 2015): the choice of spans, and the BLEU statistics
by which their partial derivations are compared.

A partial derivation is judged by its potential, which is BLEU of a translation of the whole sentence that
contains it. The words around its span there are the best translations of the spans before and behind
(concatenation), those of the k best translations (top-down), or those that the guided backtrace meets.
Partial BLEU judges the derivation's own words, against the whole reference or the part that is aligned to its
span.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import scipy.sparse
from pydantic import Field, model_validator

from hiero._core import Chart, KBestArrays
from hiero.base.settings import Settings, refuse_idle
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.tokens import Hypotheses
from hiero.forest.losses import BleuColumns
from hiero.tune.pool.candidates import WHOLE, Candidates, SentenceCandidates
from hiero.tune.pool.span_references import AlignedBleu
from hiero.tune.run.protocol import Array

Measure = Literal["guided", "top-down", "concatenation", "partial-full", "partial-span"]
# Kinds of outside strings in the core, if their names differ from the measure's.
_OUTSIDE = {"partial-full": "nothing", "partial-span": "nothing"}


class SearchAware(Settings):
    """Settings of search-aware tuning: which spans of a sentence are instances, by their number of words, and
    which derivations of each are candidates. Defaults are as published, except for ``margin``, which is ours:
    with derivations that are recovered from far below, the model's score turned around may tell good
    candidates from bad ones best, and search with such weights finds nothing good."""

    search_aware: Measure | None = Field(
        None, description="tune on spans too, whose derivations are judged by this measure"
    )
    beam: int = Field(30, ge=1, description="items of a span that are candidates")
    recovered: int = Field(50, ge=0, description="most derivations that the guided backtrace adds to a span")
    margin: float = Field(
        0.0,
        ge=0,
        description="how far below the worst item of its span a derivation may score to be added, in units of"
        " the distance from the best item to the worst; inf: any distance",
    )
    short_sentence: int = Field(20, ge=0, description="short sentences have fewer words than this")
    span_share: float = Field(
        0.75, ge=0, lt=1, description="spans of short sentences have more than this share of the words"
    )
    span_words: int = Field(18, ge=1, description="fewest words of spans of other sentences")

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if self.search_aware is None:
            refuse_idle(self, SearchAware.model_fields, "is for search-aware tuning")
        return self

    def is_instance(self, words: int, begin: int, end: int) -> bool:
        """Tells whether a span is an instance, in a sentence of so many words; the whole sentence is not a
        span here."""
        if words < self.short_sentence:
            return self.span_share * words < end - begin < words
        return self.span_words <= end - begin < words


class SpanInstances:
    """The candidates of sentences and their spans, taken from charts."""

    def __init__(self, metric: Bleu, k: int, options: SearchAware) -> None:
        """A whole sentence has ``k`` distinct translations. Raises ValueError for partial-span without an
        ``AlignedBleu``."""
        assert options.search_aware is not None
        if options.search_aware == "partial-span" and not isinstance(metric, AlignedBleu):
            raise ValueError("partial-span wants the alignments of the references")
        self._metric = metric
        self._k = k
        self._options = options
        self._measure = options.search_aware

    def candidates(self, sentence: int, chart: Chart | None) -> SentenceCandidates:
        """Returns the candidates of a sentence and its spans. A sentence without a translation has no
        candidates and no spans. May be called from any thread."""
        if chart is None or chart.forest.root < 0:
            statistics = self._metric.empty_statistics([sentence])
            columns = 0 if chart is None else len(chart.forest.feature_names)
            none = Candidates(WHOLE, scipy.sparse.csr_array((0, columns)), statistics[:0])
            return SentenceCandidates("", statistics[0], [none])
        outside = chart.outside(
            _OUTSIDE.get(self._measure, self._measure),
            self._metric.references[sentence],
            k=self._k,
            beam=self._options.beam,
            recovered=self._options.recovered,
            margin=self._options.margin,
            effective_length=self._metric.effective_length,
        )
        words = chart.forest.source_length
        spans = [span for span in chart.spans if self._options.is_instance(words, *span)]
        best = outside.candidates(0, words)
        instances = [Candidates(WHOLE, best.features, self._statistics(sentence, chart, best))]
        for span in spans:
            derivations = outside.candidates(*span)
            judged = self._span_statistics(sentence, chart, span, derivations)
            if judged is not None:
                instances.append(Candidates(span, derivations.features, judged))
        translation = Hypotheses.from_kbest(chart.forest, best).first()
        return SentenceCandidates(translation, instances[0].statistics[0], instances)

    def _statistics(self, sentence: int, chart: Chart, translations: KBestArrays) -> Array:
        """Counts statistics of translations of the whole sentence, float64 (n, 10)."""
        segments = np.full(len(translations), sentence, dtype=np.int32)
        return self._metric.token_statistics(segments, Hypotheses.from_kbest(chart.forest, translations))

    def _span_statistics(
        self, sentence: int, chart: Chart, span: tuple[int, int], derivations: KBestArrays
    ) -> Array | None:
        """Counts statistics of a span's derivations, float64 (n, 10); None if no reference is aligned to the
        span, which is then no instance."""
        if self._measure == "partial-span":
            assert isinstance(self._metric, AlignedBleu)
            return self._metric.span_statistics(
                sentence, span, Hypotheses.from_kbest(chart.forest, derivations)
            )
        statistics = self._statistics(sentence, chart, derivations)
        if self._measure == "partial-full":
            share = (span[1] - span[0]) / chart.forest.source_length
            lengths = statistics[:, BleuColumns.LENGTH]
            statistics[:, BleuColumns.REFERENCE_LENGTH] = scaled_lengths(
                self._metric, sentence, lengths, share
            )
        return statistics


def scaled_lengths(metric: Bleu, sentence: int, lengths: Array, share: float) -> Array:
    """Returns the effective reference lengths, (n), for hypotheses of these lengths, if references had only a
    share of their words (Zhai et al. 2015, section 3.1)."""
    scaled = share * np.array(sorted(len(tokens) for tokens in metric.references[sentence] if tokens))
    if metric.effective_length == "average":
        return np.full(len(lengths), scaled.mean())
    if metric.effective_length == "shortest":
        return np.full(len(lengths), scaled[0])
    # The shorter of equally close ones, as lengths rise.
    return np.asarray(scaled[np.abs(scaled[:, None] - lengths).argmin(axis=0)])
