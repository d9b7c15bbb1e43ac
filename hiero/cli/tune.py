"""`hiero tune`: finds weights with which a tuning set is translated best."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from hiero import Decoder, Model
from hiero.base.progress import Report
from hiero.cli.base.cluster import on_cluster
from hiero.cli.base.files import on_interrupt
from hiero.cli.base.progress import progress_line
from hiero.cli.io.failures import Failures
from hiero.cli.io.sets import Set, fingerprint, model_fingerprint, read_alignments
from hiero.cli.io.span_limits import chosen_span_limit, tried_limits, with_span_limit
from hiero.cli.io.tuned import Tuned, tuned_settings, write_tuned
from hiero.cli.options.common import Load, ModelPath, Work
from hiero.cli.options.tuning import MethodOptions, TunedDecoding, TuningSets, WeightOptions, tuning_decoder
from hiero.evaluate import Metric
from hiero.tune import (
    HeldOut,
    ModelDecoder,
    TuneOptions,
    TuneResult,
    choose_temperature,
    plot_runs,
    tune,
    tune_runs,
)
from hiero.tune.pool.span_references import AlignedBleu
from hiero.tune.run.loop import RUN_RECORD
from hiero.tune.run.objective import maximised_name
from hiero.tune.run.runs import RUNS_RECORD


def tune_model(
    *,
    model: ModelPath,
    method: MethodOptions,
    sets: TuningSets,
    weights: WeightOptions,
    decoding: TunedDecoding,
    load: Load = None,
    work: Work,
) -> None:
    """Decodes a tuning set and chooses better weights, again and again until the metric stops rising.

    First it decodes the set with several span limits and chooses one, unless --span-limit gives it. Started
    again in the same directory, an interrupted run goes on. So does a run that had ended, if it may now take
    more iterations or have more patience.

        hiero tune my-model --method mert --source dev.de --references dev.en -o tuned --save tuned-model
    """
    if method.needs_alignments != bool(sets.alignments):
        raise typer.BadParameter("--search-aware partial-span and --alignments go together")
    options = method.tune_options(weights)
    weights.check_output(RUN_RECORD if method.runs == 1 else RUNS_RECORD)
    files, loaded = sets.read(weights.load(model, load))
    failures = Failures(weights.output / "failures.tsv")
    metrics = _metrics(method, sets, [one for _, one in files], loaded)
    decoder, start, choice = tuning_decoder(loaded, decoding), weights.start(loaded), None
    origin = {"sets": fingerprint(*(one for _, one in files)), "model": model_fingerprint(model)}
    with on_cluster(work.cluster):
        if "span_limit" not in decoding:
            sentences, output = files[0][1][0], weights.output
            choice = chosen_span_limit(
                decoder, sentences, metrics[0], start, output, origin, work.threads, work.quiet
            )
            decoder = with_span_limit(decoder, choice.span_limit)
        job = _Job(
            decoders=[
                ModelDecoder(decoder, sentences, work.threads, partial(failures.note, path))
                for path, (sentences, _) in files
            ],
            metrics=metrics,
            start=start,
            options=options,
            origin={
                **origin,
                "decoding": decoder.settings.model_dump(mode="json", exclude={"confidence_temperature"}),
                "span_limits": tried_limits(choice),
            },
            threads=work.threads,
            quiet=work.quiet,
        )
        results, best = job.run_all(method.runs, weights.output)
        tuned = _record(method, sets, job, results[best], decoder, files[0][1][1])
    write_tuned(weights.output, tuned)
    if weights.save is not None:
        adapted = loaded.with_settings(**tuned_settings(tuned.model_dump()))
        adapted.with_weights(results[best].weights, tuned.model_dump()).save(weights.save)
    if failures:
        failures.report()
        raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A tuning run that can be repeated with other seeds. The decoders and metrics are those of the tuning
    set and, if there is one, of the held-out set."""

    decoders: Sequence[ModelDecoder]
    metrics: Sequence[Metric]
    start: Mapping[str, float]
    options: TuneOptions
    origin: Mapping[str, Any]
    threads: int
    quiet: bool

    def run_all(self, count: int, output: Path) -> tuple[Mapping[str, TuneResult], str]:
        """Tunes ``count`` times and prints the results. Returns them by the names of the runs, and the name
        of the best; a single run has the name ""."""
        note = f"run it again to go on; {output} has the iterations that are done"
        with progress_line(self.quiet) as progress, on_interrupt(note):
            run = partial(self._run, progress)
            runs = None if count == 1 else tune_runs(run, count, self.options.seed, output)
            results = {"": run("", output, self.options.seed)} if runs is None else runs.results
        _report(output, results, self.metrics[0])
        if runs is None:
            return results, ""
        print(f"mean {runs.mean:.2f}, deviation {runs.deviation:.2f}; weights of {runs.best}")
        return results, runs.best

    def _run(self, progress: Report | None, name: str, directory: Path, seed: int) -> TuneResult:
        return tune(
            self.decoders[0],
            self.metrics[0],
            self.start,
            directory,
            self.options.with_seed(seed),
            held_out=HeldOut(self.decoders[1], self.metrics[1]) if len(self.decoders) > 1 else None,
            threads=self.threads,
            origin=self.origin,
            report=(lambda _: None) if self.quiet else _reporter(name),
            progress=progress,
        )


def _metrics(method: MethodOptions, sets: TuningSets, read: Sequence[Set], model: Model) -> list[Metric]:
    """Returns the metric for each set; for the tuning set one that knows word links, if there are any."""
    metrics = [method.metric_for(references) for _, references in read]
    if sets.alignments:
        links = read_alignments(sets.alignments, read[0], model)
        metrics[0] = AlignedBleu(read[0][1], links, effective_length=method.effective_length)
    return metrics


def _record(
    method: MethodOptions,
    sets: TuningSets,
    job: _Job,
    result: TuneResult,
    decoder: Decoder,
    references: Sequence[Sequence[str]],
) -> Tuned:
    """Chooses the temperature of the confidence of words, prints it, and returns the record of a tuning."""
    vector = decoder.model.weight_vector(result.weights)
    calibration = choose_temperature(job.decoders[0], references, vector)
    if calibration is not None:
        print(
            f"temperature {calibration.temperature:.2f}: the confidence of words is"
            f" {calibration.error:.2f} from the share that is right, on average"
        )
    return Tuned(
        method=method.method,
        metric=job.metrics[0].signature,
        score=result.score,
        before=result.iterations[0].judged,
        held_out=len(job.decoders) > 1,
        sentences=job.metrics[0].segments,
        source=sets.source.name,
        references=[path.name for path in sets.references],
        span_limit=decoder.settings.span_limit,
        confidence_temperature=None if calibration is None else calibration.temperature,
        calibration=[] if calibration is None else list(map(astuple, calibration.bins)),
    )


def _report(output: Path, results: Mapping[str, TuneResult], metric: Metric) -> None:
    """Prints a line for each run, and draws the picture of all iterations."""
    score_name = maximised_name(metric)
    for name, result in results.items():
        best, first = result.iterations[result.best], result.iterations[0]
        judged_by = score_name if best.held_out is None else f"held-out {score_name}"
        print(
            f"{name + ': ' if name else ''}{judged_by} {first.judged:.2f} before, {best.judged:.2f} at"
            f" iteration {result.best}; {result.reason}"
        )
    if importlib.util.find_spec("matplotlib") is not None:
        plot_runs(results, score_name, output / "iterations.png")


def _reporter(name: str) -> Callable[[str], object]:
    return lambda line: print(f"{name}: {line}" if name else line, flush=True)
