"""`hiero eval`: scores translations, and tells whether systems differ."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hiero import __version__
from hiero.base.text import looks_untokenised
from hiero.cli.base.files import check_not_read, joined_files, writing
from hiero.cli.io.results import Result, System, result_lines, results_json
from hiero.cli.io.sets import warn_of_repeated
from hiero.cli.options.evaluation import Comparison, EvaluationOutput, MetricOptions
from hiero.evaluate import (
    Metric,
    Runs,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.metric import Array
from hiero.evaluate.metrics import word_metrics
from hiero.text import TextSide


def evaluate(
    *,
    references: Annotated[
        list[Path],
        typer.Option(help="References, in one file or several: text, or NIST's .xml or .sgm."),
    ],
    hypothesis: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Translations: text, or NIST's .xml or .sgm; - for standard input."
        ),
    ] = "-",
    metrics: MetricOptions,
    comparison: Comparison,
    output: EvaluationOutput,
) -> None:
    """Scores translations by references.

    An empty reference counts as missing. With --compare, --hypothesis is the baseline, and p values are given
    for the difference to it, by paired bootstrap and by approximate randomisation.
    """
    warn_of_repeated(references)
    test_set = EvaluationSet.read(references).normalised(metrics.side)
    test_set.check_tokens(metrics.text, references[-1])
    scorers = metrics.for_set(test_set)
    systems = [hypothesis, *(comparison.compare or [])]
    files = [joined_files(system) for system in systems]
    _check_files(files, comparison, output)
    documents = test_set.documents() if comparison.by == "document" else []
    # The lines of each run of each system.
    lines = [[_lines(test_set, file, metrics.side) for file in runs] for runs in files]
    if metrics.counts_given_words:
        _note_untokenised(lines)
    results = []
    for scorer in scorers:
        runs = [Runs.of(scorer, [scorer.statistics(run) for run in system]) for system in lines]
        result = _result(scorer, systems, runs, comparison.samples, comparison.seed)
        if metrics.side.signature:
            result.signature += f"|{metrics.side.signature}"
        statistics = runs[0].statistics[0]
        if comparison.by == "segment":
            _add_segments(result, scorer, statistics, test_set)
        for name, segments in documents:
            result.parts.append((name, float(scorer.score(statistics[segments].sum(axis=0)))))
        results.append(result)
    if output.output_format == "json":
        text = results_json(results)
    else:
        text = "\n".join(line for result in results for line in result_lines(result, output.quiet))
    with writing(output.output) as stream:
        stream.write(f"{text}\n".encode())


def _check_files(files: Sequence[Sequence[str]], comparison: Comparison, output: EvaluationOutput) -> None:
    """Raises BadParameter for files of systems that do not go with the options."""
    if comparison.by is not None and (len(files) > 1 or len(files[0]) > 1):
        raise typer.BadParameter("--by is for one system and one run of it")
    if sum(runs.count("-") for runs in files) > 1:
        raise typer.BadParameter("standard input holds one output")
    if output.output is not None:
        check_not_read(output.output, (Path(file) for runs in files for file in runs))


def _add_segments(result: Result, metric: Metric, statistics: Array, test_set: EvaluationSet) -> None:
    """Adds the scores of segments to a result."""
    if metric.segment_signature:
        result.signature += f"|segments:{metric.segment_signature}"
    scores = metric.segment_scores(statistics).tolist()
    result.parts = [(test_set.name(number), score) for number, score in enumerate(scores)]


def _result(metric: Metric, names: Sequence[str], runs: Sequence[Runs], samples: int, seed: int) -> Result:
    """Scores systems by one metric, and compares them with the first."""
    systems = []
    for name, system in zip(names, runs, strict=True):
        interval = confidence_interval(metric, system, samples, seed)
        scores = System(name, system.mean, interval, len(system.scores), system.deviation)
        if system is not runs[0]:
            scores.difference = system.mean - runs[0].mean
            scores.p_bootstrap = paired_bootstrap(metric, runs[0], system, samples, seed)
            scores.p_randomisation = approximate_randomization(metric, runs[0], system, samples, seed)
        systems.append(scores)
    is_single = len(names) == len(runs[0].scores) == 1
    return Result(
        metric=metric.name,
        better="lower" if metric.lower_is_better else "higher",
        details=metric.details(runs[0].statistics.sum(axis=(0, 1))).strip() if is_single else "",
        signature=f"{metric.signature}|samples:{samples}|seed:{seed}|hiero:{__version__}",
        systems=systems,
    )


def _note_untokenised(lines: Sequence[Sequence[Sequence[str]]]) -> None:
    if looks_untokenised(itertools.chain.from_iterable(lines[0])):
        print(
            f"hiero: translations look like raw text: {word_metrics()} count words, which --tokenize 13a (or "
            "intl, zh, char) separates from punctuation",
            file=sys.stderr,
        )


def _lines(test_set: EvaluationSet, file: str, side: TextSide) -> list[str]:
    lines = test_set.hypotheses("/dev/stdin" if file == "-" else file)
    return [side.normalised(line) for line in lines]
