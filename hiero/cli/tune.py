"""`hiero tune`: weights that translate a tuning set best."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hiero import Decoder, Model, read_weights
from hiero.base.directories import working_directory
from hiero.base.files import sha256
from hiero.base.weights import write_weights
from hiero.cli.eval import EffectiveLength
from hiero.cli.sets import fingerprint, read_set
from hiero.evaluate import Bleu, Metric, Nist, Ter
from hiero.tune import METHODS, HeldOut, Mix, ModelDecoder, TuneOptions, TuneResult, plot_runs, tune
from hiero.tune.loop import check_same
from hiero.tune.objective import gain_name


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
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="Distinct translations a sentence (100).")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="At most (20; pro: 30, simplex: 200).")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1, help="Iterations without a rise of the metric, to stop after (5; pro: 10, simplex: 200)."
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(min=0, help="Further climbs (mert: 9, hypergraph-mert: 4) or simplexes (simplex: 0)."),
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
    """Decodes the tuning set, chooses weights by what it found, and again, until nothing better comes.

    Started again in the same directory, a run goes on where it was interrupted, or had ended if it may now
    take more iterations or have more patience.
    """
    if (held_out_source is None) != (not held_out_references):
        raise typer.BadParameter("a held-out set has --held-out-source and --held-out-references")
    if not 0 < start_scale < np.inf:
        raise typer.BadParameter(f"--start-scale {start_scale}: expected more than 0, and finite")
    bounds = _bounds(bound or ())
    loaded = Model.load(model)
    given = {"pop_limit": pop_limit, "beam_threshold": beam_threshold}
    decoder = Decoder(loaded, **{name: value for name, value in given.items() if value is not None})
    sets = [read_set(source, references, raw, loaded)]
    if held_out_source is not None:
        sets.append(read_set(held_out_source, held_out_references or [], raw, loaded))
    decoders = [ModelDecoder(decoder, sentences, threads) for sentences, _ in sets]
    metrics = [_metric(metric or ["bleu"], lines, effective_length, method) for _, lines in sets]
    start = {name: 0.0 for name in loaded.feature_names}
    start |= read_weights(weights) if weights is not None else loaded.weights
    start = {name: weight * start_scale for name, weight in start.items()}
    origin = {
        "sets": fingerprint(*sets),
        "model": sha256(model / "manifest.json"),
        "decoding": decoder.settings.model_dump(mode="json"),
    }

    def run(directory: Path, number: int, name: str) -> TuneResult:
        options = TuneOptions(
            method=method.value,
            seed=seed + number,
            k=k,
            iterations=iterations,
            patience=patience,
            restarts=restarts,
            fixed=tuple(fix or ()),
            bounds=bounds,
            free_scale=free_scale,
        )
        return tune(
            decoders[0],
            metrics[0],
            start,
            directory,
            options,
            held_out=HeldOut(decoders[1], metrics[1]) if len(sets) > 1 else None,
            threads=threads,
            origin=origin,
            report=(lambda _: None) if quiet else _reporter(name),
        )

    name = gain_name(metrics[0])
    if runs == 1:
        _report(output, {"": run(output, 0, "")}, name)
        return
    settings = json.dumps({"seed": seed}) + "\n"
    with working_directory(output, "runs.json", settings) as record:
        check_same(record, settings)
        results = {f"run-{k + 1}": run(output / f"run-{k + 1}", k, f"run-{k + 1}") for k in range(runs)}
        scores = _report(output, results, name)
        best = max(scores, key=lambda name: scores[name])
        write_weights(output / "weights.txt", results[best].weights)
        values = list(scores.values())
        print(f"mean {np.mean(values):.2f}, deviation {np.std(values, ddof=1):.2f}; weights of {best}")


def _report(output: Path, results: dict[str, TuneResult], metric: str) -> dict[str, float]:
    """A line on every run, and the picture; returns the scores."""
    scores = {}
    for name, result in results.items():
        best, first = result.iterations[result.best], result.iterations[0]
        scores[name] = best.score if best.held_out is None else best.held_out
        before = first.score if first.held_out is None else first.held_out
        judged_by = metric if best.held_out is None else f"held-out {metric}"
        print(
            f"{name + ': ' if name else ''}{judged_by} {before:.2f} before, {scores[name]:.2f} at iteration"
            f" {result.best}; {result.reason}"
        )
    if importlib.util.find_spec("matplotlib") is not None:
        plot_runs(results, metric, output / "iterations.png")
    return scores


def _reporter(name: str) -> Callable[[str], object]:
    return lambda line: print(f"{name}: {line}" if name else line, flush=True)


def _bounds(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    bounds: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, interval = _bound(text)
        if name in bounds:
            raise typer.BadParameter(f"--bound {text}: {name} is bound twice")
        bounds[name] = interval
    return bounds


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    name, equals, interval = text.rpartition("=")
    low, colon, high = interval.partition(":")
    try:
        if equals and colon:
            return name, (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        pass
    raise typer.BadParameter(f"--bound {text}: expected NAME=LOW:HIGH")


_METRICS: dict[str, type[Metric]] = {"bleu": Bleu, "nist": Nist, "ter": Ter}


def _metric(
    names: Sequence[str], references: list[list[str]], length: EffectiveLength, method: Method
) -> Metric:
    shares: dict[str, float] = {}
    for text in names:
        name, equals, share = text.partition("=")
        if name not in _METRICS:
            raise typer.BadParameter(f"--metric {text}: expected one of {', '.join(_METRICS)}")
        if name in shares:
            raise typer.BadParameter(f"--metric {text}: named twice")
        try:
            shares[name] = float(share) if equals else 1.0
        except ValueError:
            raise typer.BadParameter(f"--metric {text}: expected NAME or NAME=SHARE") from None
        if not 0 < shares[name] < np.inf:
            raise typer.BadParameter(f"--metric {text}: a share is more than 0 and finite")
    if METHODS[method.value].bleu_only and list(shares) != ["bleu"]:
        raise typer.BadParameter(f"--method {method.value} learns from BLEU alone")
    parts: list[tuple[float, Metric]] = []
    for name, weight in shares.items():
        made = (
            Bleu(references, effective_length=length.value) if name == "bleu" else _METRICS[name](references)
        )
        parts.append((weight, made))
    return parts[0][1] if len(parts) == 1 else Mix(parts)
