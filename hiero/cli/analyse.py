"""`hiero analyse`: shows what search finds, loses and could find with some weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from hiero import Decoder, FormatError, Sentence
from hiero.base.files import write_atomically
from hiero.base.weights import read_weights
from hiero.cli.base.loading import load_model
from hiero.cli.io.failures import sentence_place
from hiero.cli.options.analysis import AnalysisPictures, AnalysisSet, Measures
from hiero.cli.options.common import Decoding, Load, ModelPath, Threads
from hiero.evaluate import Bleu
from hiero.evaluate.metric import Array
from hiero.pages.chart import chart_page
from hiero.tune import ModelDecoder
from hiero.tune.analysis import analyse, plot_beams


def analyse_search(
    *,
    model: ModelPath,
    data: AnalysisSet,
    weights: Annotated[
        list[Path] | None,
        typer.Option(
            help="Weights file to compare, whose features replace the model's weights; repeatable (default:"
            " the model's weights)."
        ),
    ] = None,
    measures: Measures,
    pictures: AnalysisPictures,
    decoding: Decoding,
    load: Load = None,
    threads: Threads = 1,
) -> None:
    """Compares weights by the translations that search finds with them, and those that it loses.

    The table shows BLEU of the best translations, of the best among the k best, and of the best that the
    guided backtrace finds, which search may have lost; how much the k best differ; and the share of spans
    that have an outside string top-down and by the guided backtrace.

        hiero analyse my-model --source test.ja --references test.en --pop-limit 30 --weights a.txt b.txt
    """
    loaded = load_model(model, load)
    sentences, references = data.read(loaded)
    metric = Bleu(references, effective_length=data.effective_length)
    from_files = {str(path): {**loaded.weights, **read_weights(path)} for path in weights or ()}
    compared = from_files or {"the model's": dict(loaded.weights)}
    analysis = _Analysis(Decoder(loaded, **decoding), sentences, metric, compared, threads)
    analysis.print_table(measures)
    if pictures.page is not None:
        if pictures.sentence >= len(sentences):
            raise typer.BadParameter(f"--sentence {pictures.sentence}: there are {len(sentences)}, from 0")
        place = sentence_place(data.source, pictures.sentence)
        write_atomically(pictures.page, analysis.page(pictures.sentence, place, measures))
    if pictures.plot is not None:
        analysis.plot(pictures.pop_limits, pictures.plot)


@dataclass(frozen=True)
class _Analysis:
    """A set, and weights to decode it with, by name."""

    decoder: Decoder
    sentences: Sequence[Sentence]
    metric: Bleu
    weights: Mapping[str, Mapping[str, float]]
    threads: int

    def print_table(self, measures: Measures) -> None:
        """Prints a row of measures for each of the weights."""
        decoder = ModelDecoder(self.decoder, self.sentences, self.threads)
        k, beam, order = measures.k, measures.beam, measures.order
        width = max(map(len, self.weights))
        heads = ("  best", f"{k}-best oracle", "guided oracle", "diversity", "top-down reach", "guided reach")
        print("  ".join([" " * width, *heads]))
        for name, vector in self._vectors.items():
            result = analyse(decoder, self.metric, vector, k=k, beam=beam, order=order)
            scores = (f"{score:.2f}" for score in (result.best, result.kbest_oracle, result.guided_oracle))
            cells = (*scores, f"{result.diversity:.4f}", f"{result.top_down:.1%}", f"{result.guided:.1%}")
            row = (cell.rjust(len(head)) for cell, head in zip(cells, heads, strict=True))
            print("  ".join([name.ljust(width), *row]), flush=True)

    def page(self, sentence: int, place: str, measures: Measures) -> str:
        """Returns a page with the chart of a sentence by the first weights. Raises FormatError, with
        ``place``, if the sentence has no derivation."""
        name, vector = next(iter(self._vectors.items()))
        result = self.decoder.with_weights(vector).translate(self.sentences[sentence], keep="splits")
        if not result.has_parse:
            raise FormatError(f"{place}: no derivation covers the sentence")
        outside = result.chart.outside(
            "guided",
            self.metric.references[sentence],
            k=measures.k,
            beam=measures.beam,
            effective_length=self.metric.effective_length,
        )
        return chart_page(outside, self.weights[name], f"Sentence {sentence}")

    def plot(self, pop_limits: Sequence[int], path: Path) -> None:
        """Prints and draws BLEU by pop limit."""
        curves: dict[str, dict[int, float]] = {name: {} for name in self.weights}
        for pop_limit in pop_limits:
            settings = {**self.decoder.settings.model_dump(), "pop_limit": pop_limit}
            decoder = Decoder(self.decoder.model, **settings)
            for name, vector in self._vectors.items():
                results = decoder.with_weights(vector).translate_batch(self.sentences, threads=self.threads)
                statistics = self.metric.statistics([" ".join(result.tokens) for result in results])
                curves[name][pop_limit] = float(self.metric.score(statistics.sum(axis=0)))
        for name, curve in curves.items():
            print(f"{name}: " + ", ".join(f"{score:.2f} at {limit}" for limit, score in curve.items()))
        plot_beams(curves, path)

    @cached_property
    def _vectors(self) -> dict[str, Array]:
        model = self.decoder.model
        return {name: model.weight_vector(weights) for name, weights in self.weights.items()}
