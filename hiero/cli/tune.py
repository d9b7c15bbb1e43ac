"""`hiero tune`: weights that translate a tuning set best."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer

from hiero import Decoder, DecodingSettings
from hiero.cli.base.arguments import Threads, usage
from hiero.cli.base.files import Writes, on_interrupt
from hiero.cli.base.loading import Load, load_model
from hiero.cli.base.progress import progress_line
from hiero.cli.base.settings import Given, SettingOptions, VariantOptions
from hiero.cli.io.lines import PARSES, Format
from hiero.cli.io.sets import Failures, Tokens, fingerprint, model_fingerprint, read_alignments, read_set
from hiero.cli.weights import Tuned, write_tuned
from hiero.decode.model_directory import check_output
from hiero.evaluate import Bleu, EffectiveLength, Metric
from hiero.evaluate.metrics import metric_named
from hiero.tune import (
    METHODS,
    HeldOut,
    Mix,
    ModelDecoder,
    TuneOptions,
    TuneResult,
    plot_runs,
    tune,
    tune_runs,
)
from hiero.tune.pool.span_references import AlignedBleu
from hiero.tune.run.objective import maximised_name

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[tuple(METHODS)]


# Groups of options.
_SETS = "Sets"
_METHOD = "Method"
_WEIGHTS = "Weights"


def tune_model(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    method: Annotated[
        MethodName, typer.Option(help="How weights are chosen, see docs/tuning.md.", rich_help_panel=_METHOD)
    ],
    source: Annotated[
        Path, typer.Option(help="Tuning set: text, .jsonl, or NIST's .xml or .sgm.", rich_help_panel=_SETS)
    ],
    references: Annotated[list[Path], typer.Option(help="Its references, likewise.", rich_help_panel=_SETS)],
    output: Annotated[
        Path,
        Writes(),
        typer.Option(
            "-o", "--output", help="Directory for weights.txt and all iterations.", rich_help_panel=_WEIGHTS
        ),
    ],
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.", rich_help_panel=_METHOD)] = 1,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=SHARE]",
            help="bleu, nist or ter, or a mix of them (bleu).",
            rich_help_panel=_METHOD,
        ),
    ] = None,
    effective_length: Annotated[
        EffectiveLength, typer.Option(help="Of references, for BLEU.", rich_help_panel=_METHOD)
    ] = "closest",
    settings: Annotated[Given, VariantOptions(METHODS, group=_METHOD)],
    runs: Annotated[
        int, typer.Option(min=1, help="Repetitions with other seeds.", rich_help_panel=_METHOD)
    ] = 1,
    weights: Annotated[
        Path | None, typer.Option(help="To start from (the model's).", rich_help_panel=_WEIGHTS)
    ] = None,
    start_scale: Annotated[
        float,
        typer.Option(
            help="Times the weights to start from; less than 1 makes threshold pruning looser.",
            rich_help_panel=_WEIGHTS,
        ),
    ] = 1.0,
    fix: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Features to leave alone.", rich_help_panel=_WEIGHTS),
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW:HIGH", help="Least and greatest weight.", rich_help_panel=_WEIGHTS),
    ] = None,
    held_out_source: Annotated[
        Path | None, typer.Option(help="Another set, to choose the best iteration by.", rich_help_panel=_SETS)
    ] = None,
    held_out_references: Annotated[
        list[Path] | None, typer.Option(help="Of that set.", rich_help_panel=_SETS)
    ] = None,
    held_out_parses: Annotated[Path | None, typer.Option(help=PARSES, rich_help_panel=_SETS)] = None,
    input_format: Annotated[
        Format | None,
        typer.Option(help="Of sources: jsonl, nist or text (by the names' endings).", rich_help_panel=_SETS),
    ] = None,
    tokens: Tokens = False,
    parses: Annotated[Path | None, typer.Option(help=PARSES, rich_help_panel=_SETS)] = None,
    alignments: Annotated[
        list[Path] | None,
        typer.Option(
            help="Word links (0-0 1-2) of the source and each reference, for --search-aware partial-span.",
            rich_help_panel=_SETS,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        Writes(over=True),
        typer.Option(help="Write the model with the tuned weights here.", rich_help_panel=_WEIGHTS),
    ] = None,
    decoding: Annotated[Given, SettingOptions(DecodingSettings, overrides="the model's", group="Search")],
    load: Load = None,
    threads: Threads = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the last line.")] = False,
) -> None:
    """Decodes the tuning set, chooses weights by what it found, and again, until nothing better comes.

    Started again in the same directory, a run goes on where it was interrupted, or had ended if it may now
    take more iterations or have more patience.

        hiero tune my-model --method mert --source dev.de --references dev.en -o tuned --save tuned-model
    """
    if (held_out_source is None) != (not held_out_references):
        raise typer.BadParameter("a held-out set has --held-out-source and --held-out-references")
    if not 0 < start_scale < np.inf:
        raise typer.BadParameter(f"--start-scale {start_scale}: expected more than 0, and finite")
    if (settings.get("search_aware") == "partial-span") != bool(alignments):
        raise typer.BadParameter("--search-aware partial-span and --alignments go together")
    with usage(settings):
        options = TuneOptions(method, seed=seed, fixed=fix or (), bounds=_bounds(bound or ()), **settings)
    if save is not None:
        check_output(save)
    loaded = load_model(model, load, weights)
    decoder = Decoder(loaded, **decoding)
    sets = [read_set(source, references, tokens, loaded, input_format, parses)]
    if held_out_source is not None:
        held_out = held_out_source, held_out_references or []
        sets.append(read_set(*held_out, tokens, loaded, input_format, held_out_parses))
    failures = Failures(output / "failures.tsv")
    sources = [source] if held_out_source is None else [source, held_out_source]
    decoders = [
        ModelDecoder(decoder, sentences, threads, partial(failures.note, path))
        for path, (sentences, _) in zip(sources, sets, strict=True)
    ]
    metrics = [_metric(metric or ["bleu"], lines, effective_length, method, settings) for _, lines in sets]
    if alignments:
        links = read_alignments(alignments, sets[0], loaded)
        metrics[0] = AlignedBleu(sets[0][1], links, effective_length=effective_length)
    start = {name: 0.0 for name in loaded.feature_names}
    start |= loaded.weights
    origin = {
        "sets": fingerprint(*sets),
        "model": model_fingerprint(model),
        "decoding": decoder.settings.model_dump(mode="json"),
    }

    def run(name: str, directory: Path, run_seed: int) -> TuneResult:
        return tune(
            decoders[0],
            metrics[0],
            {name: weight * start_scale for name, weight in start.items()},
            directory,
            options.with_seed(run_seed),
            held_out=HeldOut(decoders[1], metrics[1]) if len(sets) > 1 else None,
            threads=threads,
            origin=origin,
            report=(lambda _: None) if quiet else _reporter(name),
            progress=progress,
        )

    kept = f"run it again to go on; {output} has the iterations that are done"
    with progress_line(quiet) as progress, on_interrupt(kept):
        if runs == 1:
            results, best = {"": run("", output, seed)}, ""
        else:
            done = tune_runs(run, runs, seed, output)
            results, best = dict(done.results), done.best
    _report(output, results, maximised_name(metrics[0]))
    if runs > 1:
        print(f"mean {done.mean:.2f}, deviation {done.deviation:.2f}; weights of {best}")
    tuned = Tuned(
        method=method,
        metric=metrics[0].signature,
        score=results[best].score,
        before=results[best].iterations[0].judged,
        held_out=len(sets) > 1,
        sentences=len(sets[0][0]),
        source=source.name,
        references=[path.name for path in references],
    )
    write_tuned(output, tuned)
    if save is not None:
        loaded.with_weights(results[best].weights, tuned.model_dump()).save(save)
    if failures:
        failures.report()
        raise typer.Exit(1)


def _report(output: Path, results: Mapping[str, TuneResult], metric: str) -> None:
    """A line on every run, and the picture."""
    for name, result in results.items():
        best, first = result.iterations[result.best], result.iterations[0]
        judged_by = metric if best.held_out is None else f"held-out {metric}"
        print(
            f"{name + ': ' if name else ''}{judged_by} {first.judged:.2f} before, {best.judged:.2f} at"
            f" iteration {result.best}; {result.reason}"
        )
    if importlib.util.find_spec("matplotlib") is not None:
        plot_runs(results, metric, output / "iterations.png")


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


_METRICS = ("bleu", "nist", "ter")


def _metric(
    names: Sequence[str],
    references: list[list[str]],
    length: EffectiveLength,
    method: str,
    settings: Mapping[str, object],
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
    if METHODS[method].metric is Bleu and list(shares) != ["bleu"]:
        raise typer.BadParameter(f"--method {method} learns from BLEU alone")
    if settings.get("search_aware") and list(shares) != ["bleu"]:
        raise typer.BadParameter("--search-aware learns from BLEU alone")
    parts = [
        (weight, metric_named(name, references, effective_length=length)) for name, weight in shares.items()
    ]
    return parts[0][1] if len(parts) == 1 else Mix(parts)
