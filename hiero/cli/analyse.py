"""`hiero analyse`: what search finds, loses and could find with some weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero import Decoder, DecodingSettings, FormatError
from hiero.base.files import write_atomically
from hiero.base.weights import read_weights
from hiero.cli.base.arguments import Threads, check_plot
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import Load, load_model
from hiero.cli.base.settings import Given, SettingOptions
from hiero.cli.io.lines import PARSES, Format
from hiero.cli.io.sets import Tokens, read_set, sentence_place
from hiero.evaluate import Bleu, EffectiveLength
from hiero.pages.chart import chart_page
from hiero.tune import ModelDecoder
from hiero.tune.analysis import analyse, plot_beams

_BEAMS = (2, 4, 8, 16, 30)


def analyse_search(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    source: Annotated[Path, typer.Option(help="A set: text, .jsonl, or NIST's .xml or .sgm.")],
    references: Annotated[list[Path], typer.Option(help="Its references, likewise.")],
    weights: Annotated[
        list[Path] | None,
        typer.Option(help="Files of weights to compare, merged over the model's."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Distinct translations a sentence.")] = 50,
    beam: Annotated[int, typer.Option(min=1, help="Items of a span, for the guided backtrace.")] = 30,
    order: Annotated[int, typer.Option(min=1, help="Words of the n-grams that diversity counts.")] = 4,
    plot: Annotated[
        Path | None, Writes(), typer.Option(help="Picture of BLEU by --beams; needs matplotlib.")
    ] = None,
    page: Annotated[
        Path | None, Writes(), typer.Option(help="Page of a sentence's chart: what spans lost to pruning.")
    ] = None,
    sentence: Annotated[int, typer.Option(min=0, help="Number of the page's sentence, from 0.")] = 0,
    beams: Annotated[list[int] | None, typer.Option(help="Pop limits of the picture (2 4 8 16 30).")] = None,
    effective_length: Annotated[EffectiveLength, typer.Option(help="Of references, for BLEU.")] = "closest",
    input_format: Annotated[
        Format | None, typer.Option(help="Of the source: jsonl, nist or text (by the name's ending).")
    ] = None,
    tokens: Tokens = False,
    parses: Annotated[Path | None, typer.Option(help=PARSES)] = None,
    decoding: Annotated[Given, SettingOptions(DecodingSettings, overrides="the model's", group="Search")],
    load: Load = None,
    threads: Threads = 1,
) -> None:
    """Compares weights by what their search leads to: BLEU of the best translations, of the best among the k
    best, and of the best that the guided backtrace sees, which search has lost; how much the k best differ;
    and the share of spans that have an outside string top-down and by the guided backtrace.

        hiero analyse my-model --source test.ja --references test.en --pop-limit 30 --weights a.txt b.txt
    """
    check_plot(plot)
    loaded = load_model(model, load)
    sentences, lines = read_set(source, references, tokens, loaded, input_format, parses)
    metric = Bleu(lines, effective_length=effective_length)
    given = {str(path): {**loaded.weights, **read_weights(path)} for path in weights or ()}
    chosen = given or {"the model's": dict(loaded.weights)}
    vectors = {name: loaded.weight_vector(own) for name, own in chosen.items()}
    decoder = ModelDecoder(Decoder(loaded, **decoding), sentences, threads)
    width = max(map(len, vectors))
    heads = ("  best", f"{k}-best oracle", "guided oracle", "diversity", "top-down reach", "guided reach")
    print("  ".join([" " * width, *heads]))
    for name, vector in vectors.items():
        found = analyse(decoder, metric, vector, k=k, beam=beam, order=order)
        scores = (f"{score:.2f}" for score in (found.best, found.kbest_oracle, found.guided_oracle))
        cells = (*scores, f"{found.diversity:.4f}", f"{found.top_down:.1%}", f"{found.guided:.1%}")
        row = (cell.rjust(len(head)) for cell, head in zip(cells, heads, strict=True))
        print("  ".join([name.ljust(width), *row]), flush=True)
    if page is not None:
        if sentence >= len(sentences):
            raise typer.BadParameter(f"--sentence {sentence}: there are {len(sentences)}, from 0")
        name, vector = next(iter(vectors.items()))
        searcher = Decoder(loaded, **decoding).with_weights(vector)
        result = searcher.translate(sentences[sentence], keep="splits")
        if not result.has_parse:
            raise FormatError(f"{sentence_place(source, sentence)}: no derivation covers the sentence")
        outside = result.chart.outside(
            "guided",
            metric.references[sentence],
            k=k,
            beam=beam,
            effective_length=effective_length,
        )
        write_atomically(page, chart_page(outside, chosen[name], f"Sentence {sentence}"))
    if plot is not None:
        curves: dict[str, dict[int, float]] = {name: {} for name in vectors}
        for pop_limit in beams or _BEAMS:
            searcher = Decoder(loaded, **{**decoding, "pop_limit": pop_limit})
            for name, vector in vectors.items():
                results = searcher.with_weights(vector).translate_batch(sentences, threads=threads)
                statistics = metric.statistics([" ".join(result.tokens) for result in results])
                curves[name][pop_limit] = float(metric.score(statistics.sum(axis=0)))
        for name, curve in curves.items():
            print(f"{name}: " + ", ".join(f"{score:.2f} at {limit}" for limit, score in curve.items()))
        plot_beams(curves, plot)
