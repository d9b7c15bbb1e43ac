"""`hiero eval`: scores of translations, and whether systems differ."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import TypeAdapter, ValidationError

from hiero import FormatError, __version__
from hiero.base.json_files import complaint
from hiero.base.text import looks_untokenised
from hiero.cli.base.files import Output, check_not_read, writing
from hiero.evaluate import (
    EffectiveLength,
    Metric,
    Runs,
    Text,
    Tokenizer,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.metrics import METRICS, metric_named
from hiero.evaluate.significance import SAMPLES, SEED

Unit = Literal["document", "segment"]


def evaluate(
    references: Annotated[list[Path], typer.Option(help="Text, or NIST's .xml or .sgm.")],
    hypothesis: Annotated[
        str, typer.Option(metavar="FILE", help="Text, or NIST's .xml or .sgm; - for stdin.")
    ] = "-",
    metric: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"Of {', '.join(METRICS)}; default bleu.")
    ] = None,
    effective_length: Annotated[EffectiveLength, typer.Option(help="Of references, for BLEU.")] = "closest",
    tokenize: Annotated[
        Tokenizer, typer.Option(help="By sacrebleu, for BLEU and NIST; none: as given.")
    ] = "none",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Case does not count.")] = False,
    by: Annotated[
        Unit | None,
        typer.Option(help="Also scores by document or segment; segments of text are numbered from 0."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="Other systems; runs of one system are joined by commas."),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, help="Of segments, for intervals and significance tests.")
    ] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Of these samples.")] = SEED,
    output_format: Annotated[
        Literal["text", "json"], typer.Option(help="What is written; json: all, as a list of metrics.")
    ] = "text",
    output: Output = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the score.")] = False,
) -> None:
    """Scores translations by references.

    Empty references are missing. With --compare, --hypothesis is the baseline: p is that of the difference
    to it, by paired bootstrap and by approximate randomisation.
    """
    for name in metric or ():
        if name not in METRICS:
            raise typer.BadParameter(f"--metric {name}: expected one of {', '.join(METRICS)}")
    test_set = EvaluationSet.read(references)
    text = Text(tokenize, lowercase)
    test_set.check_tokens(text, references[-1])
    metrics = [
        metric_named(name, test_set.references, text, effective_length)
        for name in dict.fromkeys(metric or ["bleu"])
    ]
    systems = [hypothesis, *(compare or [])]
    files = [_files(system) for system in systems]
    if by is not None and (len(systems) > 1 or len(files[0]) > 1):
        raise typer.BadParameter("--by is for one system and one run of it")
    if sum(runs.count("-") for runs in files) > 1:
        raise typer.BadParameter("standard input holds one output")
    if output is not None:
        check_not_read(output, (Path(file) for runs in files for file in runs))
    documents = test_set.documents() if by == "document" else None
    # By system, the lines of its runs.
    lines = [[_lines(test_set, file) for file in runs] for runs in files]
    if tokenize == "none" and {"bleu", "nist"} & set(metric or ["bleu"]):
        _note_untokenised(lines)
    results = []
    for scorer in metrics:
        runs = [Runs.of(scorer, [scorer.statistics(run) for run in system]) for system in lines]
        result = _result(scorer, systems, runs, samples, seed)
        if by == "segment":
            if scorer.segment_signature:
                result.signature += f"|segments:{scorer.segment_signature}"
            scores = scorer.segment_scores(runs[0].statistics[0]).tolist()
            result.parts = [(test_set.name(number), score) for number, score in enumerate(scores)]
        for document, numbers in documents or ():
            score = float(scorer.score(runs[0].statistics[0][numbers].sum(axis=0)))
            result.parts.append((document, score))
        results.append(result)
    if output_format == "json":
        written = json.dumps([asdict(result) for result in results], indent=1, ensure_ascii=False)
    else:
        written = "\n".join(line for result in results for line in _text(result, quiet))
    with writing(output) as stream:
        stream.write(f"{written}\n".encode())


@dataclass
class System:
    """Its score, the mean of its runs, what that lies between in 95 % of resampled sets, and what tests
    say of the difference to the first."""

    name: str
    score: float
    interval: tuple[float, float]
    runs: int
    deviation: float
    difference: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None


@dataclass
class Result:
    """Scores of systems by one metric, on the test set and on parts of it."""

    metric: str
    better: Literal["higher", "lower"]
    details: str
    signature: str
    systems: list[System]
    parts: list[tuple[str, float]] = field(default_factory=list)


def read_results(path: Path) -> list[Result]:
    """Reads results that were written as JSON. Raises FormatError for a damaged file."""
    try:
        return TypeAdapter(list[Result]).validate_json(path.read_bytes())
    except ValidationError as error:
        raise FormatError(f"{path}: damaged: {complaint(error)}") from None


def _result(metric: Metric, names: Sequence[str], runs: Sequence[Runs], samples: int, seed: int) -> Result:
    systems = []
    for name, system in zip(names, runs, strict=True):
        interval = confidence_interval(metric, system, samples, seed)
        one = System(name, system.mean, interval, len(system.scores), system.deviation)
        if system is not runs[0]:
            one.difference = system.mean - runs[0].mean
            one.p_bootstrap = paired_bootstrap(metric, runs[0], system, samples, seed)
            one.p_randomisation = approximate_randomization(metric, runs[0], system, samples, seed)
        systems.append(one)
    single = len(names) == len(runs[0].scores) == 1
    return Result(
        metric=metric.name,
        better="lower" if metric.lower_is_better else "higher",
        details=metric.details(runs[0].statistics.sum(axis=(0, 1))).strip() if single else "",
        signature=f"{metric.signature}|samples:{samples}|seed:{seed}|hiero:{__version__}",
        systems=systems,
    )


def _note_untokenised(lines: Sequence[Sequence[Sequence[str]]]) -> None:
    if looks_untokenised(itertools.chain.from_iterable(lines[0])):
        print(
            "hiero: translations look like raw text: BLEU and NIST count words, which --tokenize 13a (or "
            "intl, zh, char) separates from punctuation",
            file=sys.stderr,
        )


def _files(system: str) -> list[str]:
    """A system's runs; a comma may also be part of a name."""
    return [system] if Path(system).exists() else system.split(",")


def _lines(test_set: EvaluationSet, file: str) -> list[str]:
    return test_set.hypotheses("/dev/stdin" if file == "-" else file)


def _text(result: Result, quiet: bool) -> Iterator[str]:
    """The lines that a metric's result is written in."""
    if len(result.systems) > 1:
        yield from _table(result)
    elif quiet:
        yield f"{result.systems[0].score:.4f}"
    else:
        yield from _score(result)
    yield from (f"{result.metric}\t{name}\t{score:.4f}" for name, score in result.parts)
    if not quiet:
        yield result.signature


def _score(result: Result) -> Iterator[str]:
    system = result.systems[0]
    low, high = system.interval
    yield f"{result.metric} = {system.score:.4f}{_deviation(system, 4)} {result.details}".rstrip()
    yield f"95 % of samples: {low:.2f} to {high:.2f}; {result.better} is better"


def _deviation(system: System, digits: int) -> str:
    return f" ± {system.deviation:.{digits}f}" if system.runs > 1 else ""


def _table(result: Result) -> Iterator[str]:
    metric = f"{result.metric} ({result.better} is better)"
    rows = [("system", metric, "95 %", "runs", "difference", "p bootstrap", "p randomisation")]
    for system in result.systems:
        low, high = system.interval
        tests = ("", "", "")
        if system.difference is not None:
            tests = (
                f"{system.difference:+.2f}",
                f"{system.p_bootstrap:.4f}",
                f"{system.p_randomisation:.4f}",
            )
        score = f"{system.score:.2f}{_deviation(system, 2)}"
        rows.append((system.name, score, f"{low:.2f} to {high:.2f}", str(system.runs), *tests))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
