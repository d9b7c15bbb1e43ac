"""`hiero analyse`: shows what search finds, loses and could find with some weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hiero import Decoder, FormatError, Model, Sentence
from hiero.base.files import write_atomically
from hiero.cli.base.cluster import on_cluster
from hiero.cli.base.loading import load_model
from hiero.cli.io.failures import sentence_place
from hiero.cli.io.sets import with_sentence_features
from hiero.cli.io.tuned import read_tuned
from hiero.cli.options.analysis import AnalysisPictures, AnalysisSet, Measures
from hiero.cli.options.common import Decoding, Load, ModelPath, Places
from hiero.evaluate import Bleu
from hiero.features.sentence import features_of_other_sentences
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
            help="Weights file, or directory of hiero tune, to compare; its features replace the model's"
            " weights; repeatable (default: the model's weights)."
        ),
    ] = None,
    measures: Measures,
    pictures: AnalysisPictures,
    decoding: Decoding,
    load: Load = None,
    places: Places,
) -> None:
    """Compares weights by the translations that search finds with them, and those that it loses.

    The table shows BLEU of the best translations, of the best among the k best, and of the best that the
    guided backtrace finds, which search may have lost; how much the k best differ; and the share of spans
    that have an outside string top-down and by the guided backtrace.

        hiero analyse my-model --source test.ja --references test.en --pop-limit 30 --weights a.txt b.txt
    """
    loaded = load_model(model, load)
    sentences, references = data.read(loaded)
    loaded = with_sentence_features(loaded, [(sentences, references)])
    metric = Bleu(references, effective_length=data.effective_length)
    compared = {"the model's": Decoder(loaded, **decoding)}
    if weights:
        compared = {str(path): _weighted(loaded, path, decoding) for path in weights}
    analysis = _Analysis(compared, sentences, metric, places.threads)
    with on_cluster(places.cluster):
        analysis.print_table(measures)
        if pictures.page is not None:
            if pictures.sentence >= len(sentences):
                raise typer.BadParameter(
                    f"--sentence {pictures.sentence}: there are {len(sentences)}, from 0"
                )
            place = sentence_place(data.source, pictures.sentence)
            write_atomically(pictures.page, analysis.page(pictures.sentence, place, measures))
        if pictures.plot is not None:
            analysis.plot(pictures.pop_limits, pictures.plot)


def _weighted(model: Model, path: Path, decoding: Mapping[str, Any]) -> Decoder:
    """Returns a decoder with weights from a file, and the span limit that they were tuned with. Raises
    FormatError, OSError."""
    weights, tuned_with = read_tuned(path)
    others = features_of_other_sentences(weights, model.feature_names)
    weights = {name: weight for name, weight in weights.items() if name not in others}
    return Decoder(model, **{**tuned_with, **decoding}).with_weights(weights)


@dataclass(frozen=True)
class _Analysis:
    """A set, and decoders with the weights to compare, by name."""

    decoders: Mapping[str, Decoder]
    sentences: Sequence[Sentence]
    metric: Bleu
    threads: int

    def print_table(self, measures: Measures) -> None:
        """Prints a row of measures for each of the weights."""
        k, beam, order = measures.k, measures.beam, measures.order
        width = max(map(len, self.decoders))
        heads = ("  best", f"{k}-best oracle", "guided oracle", "diversity", "top-down reach", "guided reach")
        print("  ".join([" " * width, *heads]))
        for name, decoder in self.decoders.items():
            searcher = ModelDecoder(decoder, self.sentences, self.threads)
            vector = decoder.model.weight_vector(decoder.weights)
            result = analyse(searcher, self.metric, vector, k=k, beam=beam, order=order)
            scores = (f"{score:.2f}" for score in (result.best, result.kbest_oracle, result.guided_oracle))
            cells = (*scores, f"{result.diversity:.4f}", f"{result.top_down:.1%}", f"{result.guided:.1%}")
            row = (cell.rjust(len(head)) for cell, head in zip(cells, heads, strict=True))
            print("  ".join([name.ljust(width), *row]), flush=True)

    def page(self, sentence: int, place: str, measures: Measures) -> str:
        """Returns a page with the chart of a sentence by the first weights. Raises FormatError, with
        ``place``, if the sentence has no derivation."""
        decoder = next(iter(self.decoders.values()))
        result = decoder.translate(self.sentences[sentence], keep="splits")
        if not result.has_parse:
            raise FormatError(f"{place}: no derivation covers the sentence")
        outside = result.chart.outside(
            "guided",
            self.metric.references[sentence],
            k=measures.k,
            beam=measures.beam,
            effective_length=self.metric.effective_length,
        )
        return chart_page(outside, decoder.weights, f"Sentence {sentence}")

    def plot(self, pop_limits: Sequence[int], path: Path) -> None:
        """Prints and draws BLEU by pop limit."""
        curves: dict[str, dict[int, float]] = {name: {} for name in self.decoders}
        for pop_limit in pop_limits:
            for name, weighted in self.decoders.items():
                settings = {**weighted.settings.model_dump(), "pop_limit": pop_limit}
                decoder = Decoder(weighted.model, **settings).with_weights(weighted.weights)
                results = decoder.translate_batch(self.sentences, threads=self.threads)
                statistics = self.metric.statistics([" ".join(result.tokens) for result in results])
                curves[name][pop_limit] = float(self.metric.score(statistics.sum(axis=0)))
        for name, curve in curves.items():
            print(f"{name}: " + ", ".join(f"{score:.2f} at {limit}" for limit, score in curve.items()))
        plot_beams(curves, path)
