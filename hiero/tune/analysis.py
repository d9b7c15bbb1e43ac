"""Analysis of a model's search: the translations that it finds, loses and could find (Zhai et al. 2015,
section 4.2)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero._core import Chart, KBestArrays, bleu_plus_one
from hiero.base.files import replacing
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.diversity import diversity
from hiero.evaluate.metric import Array
from hiero.evaluate.tokens import Hypotheses
from hiero.tune.run.protocol import TuningDecoder


@dataclass(frozen=True)
class Analysis:
    """Figures of a set.

    ``best`` is BLEU of the best translations by the model, ``kbest_oracle`` of those with the highest BLEU+1
    among the k best, ``guided_oracle`` of the best that the guided backtrace met. ``diversity`` is the mean
    over k-best lists. ``top_down`` and ``guided`` are the shares of spans with an outside string by these two
    searches.
    """

    best: float
    kbest_oracle: float
    guided_oracle: float
    diversity: float
    top_down: float
    guided: float


@dataclass(frozen=True)
class _Sentence:
    """Figures of one sentence: BLEU statistics of the three translations, float64 (3, 10), the diversity, and
    counts of spans: all, and those with an outside string top-down and guided."""

    statistics: Array
    diversity: float | None
    spans: tuple[int, int, int]


def analyse(
    decoder: TuningDecoder,
    metric: Bleu,
    weights: Array,
    *,
    k: int = 50,
    beam: int = 30,
    order: int = 4,
) -> Analysis:
    """Analyses the decoder's set with these weights. ``order`` is the length of n-grams in the diversity,
    ``beam`` the number of items of a span in the guided backtrace. A sentence without a translation counts as
    an empty one."""

    return _summed(metric, decoder.charts(weights, _AnalyseSentence(metric, k, beam, order)))


@dataclass(frozen=True)
class _AnalyseSentence:
    """Analyses the chart of a sentence, on any thread or any place of a cluster."""

    metric: Bleu
    k: int
    beam: int
    order: int

    def __call__(self, sentence: int, chart: Chart | None) -> _Sentence:
        metric = self.metric
        if chart is None or chart.forest.root < 0:
            return _Sentence(metric.empty_statistics([sentence] * 3), None, (0, 0, 0))
        guided = chart.outside(
            "guided",
            metric.references[sentence],
            k=self.k,
            beam=self.beam,
            recovered=0,
            effective_length=metric.effective_length,
        )
        top_down = chart.outside("top-down", k=self.k)
        lists = guided.candidates(0, chart.forest.source_length)
        statistics = metric.token_statistics(
            np.full(len(lists), sentence, dtype=np.int32), Hypotheses.from_kbest(chart.forest, lists)
        )
        oracle = int(bleu_plus_one(statistics).argmax())
        guided_statistics = metric.token_statistics([sentence], Hypotheses.from_tokens([guided.oracle]))
        return _Sentence(
            np.stack([statistics[0], statistics[oracle], guided_statistics[0]]),
            diversity(_tokens(chart, lists), self.order),
            (len(chart.spans), len(top_down.reached), len(guided.reached)),
        )


def _tokens(chart: Chart, lists: KBestArrays) -> list[Sequence[str]]:
    """Returns the tokens of each translation."""
    words = [chart.forest.words[word] for word in lists.words.tolist()]
    bounds = lists.word_offsets.tolist()
    return [words[a:b] for a, b in itertools.pairwise(bounds)]


def _summed(metric: Bleu, sentences: Iterable[_Sentence]) -> Analysis:
    analysed = list(sentences)
    scores = metric.score(np.sum([sentence.statistics for sentence in analysed], axis=0))
    diversities = [sentence.diversity for sentence in analysed if sentence.diversity is not None]
    spans, top_down, guided = np.sum([sentence.spans for sentence in analysed], axis=0)
    best, kbest_oracle, guided_oracle = scores.tolist()
    return Analysis(
        best,
        kbest_oracle,
        guided_oracle,
        float(np.mean(diversities)) if diversities else 0.0,
        float(top_down / max(spans, 1)),
        float(guided / max(spans, 1)),
    )


def plot_beams(curves: Mapping[str, Mapping[int, float]], path: str | os.PathLike[str]) -> None:
    """Draws BLEU by pop limit with a line for each name, as in figure 4 of the paper. The ending of ``path``
    chooses the file's format. Needs matplotlib; raises ModuleNotFoundError without it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    for (name, curve), marker in zip(curves.items(), "os^vD*xP" * len(curves), strict=False):
        axes.plot(list(curve), list(curve.values()), marker=marker, label=name)
    axes.set_xlabel("pop limit")
    axes.set_ylabel("BLEU")
    axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format=os.path.splitext(path)[1][1:] or "png", dpi=150)
