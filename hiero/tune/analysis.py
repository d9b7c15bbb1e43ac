"""Analysis of what a model's search finds, loses and could find (Zhai et al. 2015, section 4.2)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiero._core import Chart, KBestArrays, bleu_plus_one
from hiero.base.files import replacing
from hiero.evaluate.diversity import diversity
from hiero.evaluate.metrics import Array, Bleu, Hypotheses
from hiero.tune.protocol import TuningDecoder


@dataclass(frozen=True)
class Analysis:
    """Statistics of a set: BLEU of the best translations, of those of highest Bleu+1 among the k best, and of
    those that the guided backtrace saw; the mean diversity of the k best; and the share of spans that have an
    outside string top-down and by the guided backtrace."""

    best: float
    kbest_oracle: float
    guided_oracle: float
    diversity: float
    top_down: float
    guided: float


@dataclass(frozen=True)
class _Sentence:
    """Statistics of the three translations of one sentence, (3, 10), diversity, and counts of spans: all, and
    those reached."""

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
    """Analyses the decoder's set with these weights; ``order`` is that of the n-grams of diversity, ``beam``
    that of the guided backtrace. A sentence without a translation counts as an empty one."""

    def seen(sentence: int, chart: Chart | None) -> _Sentence:
        if chart is None or chart.forest.root < 0:
            nothing = metric.token_statistics([sentence] * 3, Hypotheses.of_tokens([[]] * 3))
            return _Sentence(nothing, None, (0, 0, 0))
        found = chart.outside(
            "guided",
            metric.references[sentence],
            k=k,
            beam=beam,
            recovered=0,
            effective_length=metric.effective_length,
        )
        top_down = chart.outside("top-down", k=k)
        lists = found.candidates(0, len(chart.forest.source))
        statistics = metric.token_statistics(
            np.full(len(lists), sentence, dtype=np.int32), Hypotheses.of_list(chart.forest, lists)
        )
        oracle = int(bleu_plus_one(statistics).argmax())
        guided = metric.token_statistics([sentence], Hypotheses.of_tokens([found.oracle]))
        return _Sentence(
            np.stack([statistics[0], statistics[oracle], guided[0]]),
            diversity(_tokens(chart, lists), order),
            (len(chart.spans), len(top_down.reached), len(found.reached)),
        )

    return _summed(metric, decoder.charts(weights, seen))


def _tokens(chart: Chart, lists: KBestArrays) -> list[Sequence[str]]:
    words = [chart.forest.words[word] for word in lists.words.tolist()]
    bounds = lists.word_offsets.tolist()
    return [words[a:b] for a, b in itertools.pairwise(bounds)]


def _summed(metric: Bleu, sentences: Iterable[_Sentence]) -> Analysis:
    every = list(sentences)
    scores = metric.score(np.sum([each.statistics for each in every], axis=0))
    apart = [each.diversity for each in every if each.diversity is not None]
    spans, top_down, guided = np.sum([each.spans for each in every], axis=0)
    best, kbest_oracle, guided_oracle = scores.tolist()
    return Analysis(
        best,
        kbest_oracle,
        guided_oracle,
        float(np.mean(apart)) if apart else 0.0,
        float(top_down / max(spans, 1)),
        float(guided / max(spans, 1)),
    )


def plot_beams(curves: Mapping[str, Mapping[int, float]], path: str | os.PathLike[str]) -> None:
    """Draws BLEU by pop limit, a line for each name (Figure 4). The name's ending says what kind of picture.
    Needs matplotlib; raises ModuleNotFoundError without it."""
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
