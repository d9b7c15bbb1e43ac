"""`hiero tune`: weights that translate a tuning set best."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hiero import Decoder, Model, read_weights
from hiero.cli.eval import EffectiveLength
from hiero.cli.sets import read_set
from hiero.evaluate import Bleu, Metric, Nist, Ter
from hiero.files import sha256
from hiero.tune import METHODS, HeldOut, Mix, ModelDecoder, TuneOptions, TuneResult, plot_runs, tune
from hiero.weights import write_weights


class Method(StrEnum):
    """How weights are chosen, see docs/tuning.md."""

    mert = "mert"
    hypergraph_mert = "hypergraph-mert"
    simplex = "simplex"
    pro = "pro"
    mira_batch = "mira-batch"


def tune_model(
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    method: Annotated[Method, typer.Option()],
    source: Annotated[Path, typer.Option(help="Tuning set: text, or NIST's .xml or .sgm.")],
    references: Annotated[list[Path], typer.Option(help="Its references, likewise.")],
    output: Annotated[Path, typer.Option(help="Directory for weights.txt and all iterations.")],
    seed: Annotated[int, typer.Option(min=0)] = 1,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=SHARE]", help="bleu, nist or ter, or a mix of them (bleu)."),
    ] = None,
    effective_length: Annotated[
        EffectiveLength, typer.Option(help="Of references, for BLEU.")
    ] = EffectiveLength.closest,
    k: Annotated[int, typer.Option("-k", min=1, help="Distinct translations a sentence.")] = 100,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="At most (20; pro: 30, simplex: 200).")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Iterations without a rise of the metric, to stop after (5; pro: 10)."),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0, help="Random starts (mert: 20, hypergraph-mert: 2), or further simplexes (simplex: 0)."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Repetitions with other seeds.")] = 1,
    weights: Annotated[Path | None, typer.Option(help="To start from (the model's).")] = None,
    start_scale: Annotated[
        float,
        typer.Option(help="Times the weights to start from; less than 1 makes threshold pruning looser."),
    ] = 1.0,
    free_scale: Annotated[
        bool, typer.Option("--free-scale", help="The simplex may change the weights' scale.")
    ] = False,
    fix: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Features to leave alone.")] = None,
    bound: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LOW:HIGH", help="Least and greatest weight.")
    ] = None,
    held_out_source: Annotated[
        Path | None, typer.Option(help="Another set, to choose the best iteration by.")
    ] = None,
    held_out_references: Annotated[list[Path] | None, typer.Option()] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Sets are raw text; tokenise as the model says.")
    ] = False,
    pop_limit: Annotated[int | None, typer.Option(min=1, help="Of decoding (the model's).")] = None,
    beam_threshold: Annotated[float | None, typer.Option(min=0, help="Of decoding (the model's).")] = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the last line.")] = False,
) -> None:
    """Decodes the tuning set, chooses weights by what it found, and again, until nothing new comes.

    Started again in the same directory, a run goes on where it was interrupted.
    """
    if (held_out_source is None) != (not held_out_references):
        raise typer.BadParameter("a held-out set has --held-out-source and --held-out-references")
    loaded = Model.load(model)
    given = {"pop_limit": pop_limit, "beam_threshold": beam_threshold}
    decoder = Decoder(loaded, **{name: value for name, value in given.items() if value is not None})
    sentences, lines = read_set(source, references, raw, loaded)
    objective = _metric(metric or ["bleu"], lines, effective_length, method)
    held_out = None
    if held_out_source is not None:
        others, other_lines = read_set(held_out_source, held_out_references or [], raw, loaded)
        held_out = HeldOut(
            ModelDecoder(decoder, others, threads),
            _metric(metric or ["bleu"], other_lines, effective_length, method),
        )
    files = [
        source,
        *references,
        *([held_out_source] if held_out_source else []),
        *(held_out_references or []),
    ]
    origin = {
        "sets": [sha256(file) for file in files],
        "model": sha256(model / "manifest.json"),
        "decoding": decoder.settings.model_dump(mode="json"),
    }
    start = {name: 0.0 for name in loaded.feature_names}
    start |= read_weights(weights) if weights is not None else loaded.weights
    start = {name: weight * start_scale for name, weight in start.items()}
    results: dict[str, TuneResult] = {}
    for number in range(runs):
        options = TuneOptions(
            method=method.value,
            seed=seed + number,
            k=k,
            iterations=iterations,
            patience=patience,
            restarts=restarts,
            fixed=tuple(fix or ()),
            bounds=dict(_bound(text) for text in bound or ()),
            free_scale=free_scale,
        )
        name = f"run-{number + 1}"
        results[name] = tune(
            ModelDecoder(decoder, sentences, threads),
            objective,
            start,
            output if runs == 1 else output / name,
            options,
            held_out=held_out,
            threads=threads,
            origin=origin,
            report=(lambda _: None) if quiet else _reporter(name if runs > 1 else ""),
        )
    _finish(output, results, objective.name)


def _finish(output: Path, results: dict[str, TuneResult], metric: str) -> None:
    """The best run's weights, the picture, and a line on every run."""
    scores = {}
    for name, result in results.items():
        best = result.iterations[result.best]
        scores[name] = best.score if best.held_out is None else best.held_out
        prefix = f"{name}: " if len(results) > 1 else ""
        first = result.iterations[0]
        before = first.score if first.held_out is None else first.held_out
        print(
            f"{prefix}{metric} {before:.2f} before, {scores[name]:.2f} at iteration {result.best};"
            f" {result.reason}"
        )
    best_run = max(scores, key=lambda name: scores[name])
    write_weights(output / "weights.txt", results[best_run].weights)
    if len(results) > 1:
        values = list(scores.values())
        print(f"mean {np.mean(values):.2f}, deviation {np.std(values, ddof=1):.2f}; weights of {best_run}")
    if importlib.util.find_spec("matplotlib") is not None:
        plot_runs(results, metric, output / "iterations.png")


def _reporter(name: str) -> Callable[[str], object]:
    return lambda line: print(f"{name}: {line}" if name else line, flush=True)


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    name, equals, interval = text.rpartition("=")
    low, colon, high = interval.partition(":")
    try:
        if equals and colon:
            return name, (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        pass
    raise typer.BadParameter(f"--bound {text}: expected NAME=LOW:HIGH")


def _metric(
    names: Sequence[str], references: list[list[str]], length: EffectiveLength, method: Method
) -> Metric:
    parts: list[tuple[float, Metric]] = []
    for text in names:
        name, equals, share = text.partition("=")
        try:
            weight = float(share) if equals else 1.0
        except ValueError:
            raise typer.BadParameter(f"--metric {text}: expected NAME or NAME=SHARE") from None
        if name == "bleu":
            parts.append((weight, Bleu(references, effective_length=length.value)))
        elif name in ("nist", "ter"):
            parts.append((weight, (Nist if name == "nist" else Ter)(references)))
        else:
            raise typer.BadParameter(f"--metric {text}: expected bleu, nist or ter")
    metric = parts[0][1] if len(parts) == 1 else Mix(parts)
    if METHODS[method.value].bleu_only and not isinstance(metric, Bleu):
        raise typer.BadParameter(f"--method {method.value} learns from BLEU alone")
    return metric
