"""`hiero eval`: scores of translations, and whether systems differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from hiero import __version__
from hiero.evaluate import (
    EffectiveLength,
    Metric,
    Runs,
    Text,
    Tokenizer,
    approximate_randomization,
    paired_bootstrap,
)
from hiero.evaluate.metrics import METRICS, metric_named
from hiero.evaluate.significance import SAMPLES, SEED
from hiero.evaluate.test_sets import TestSet

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
    by: Annotated[Unit | None, typer.Option(help="Also scores by document or segment.")] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="Other systems; runs of one system are joined by commas."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Of significance tests.")] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Of significance tests.")] = SEED,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the score.")] = False,
) -> None:
    """Scores translations by references.

    Empty references are missing. With --compare, --hypothesis is the baseline: p is that of the difference
    to it, by paired bootstrap and by approximate randomisation.
    """
    for name in metric or ():
        if name not in METRICS:
            raise typer.BadParameter(f"--metric {name}: expected one of {', '.join(METRICS)}")
    test_set = TestSet.read(references)
    text = Text(tokenize, lowercase)
    test_set.check_tokens(text, str(references[-1]))
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
    documents = test_set.documents() if by == "document" else None
    # By system, the lines of its runs.
    lines = [[_lines(test_set, file) for file in runs] for runs in files]
    for scorer in metrics:
        runs = [Runs.of(scorer, [scorer.statistics(run) for run in system]) for system in lines]
        if compare:
            _print_table(scorer, systems, runs, samples, seed)
        elif quiet:
            print(f"{runs[0].mean:.4f}")
        else:
            _print_score(scorer, runs[0])
        note = f"|samples:{samples}|seed:{seed}" if compare else ""
        if by == "segment":
            for number, score in enumerate(scorer.segment_scores(runs[0].statistics[0]).tolist()):
                print(f"{scorer.name}\t{test_set.place(number)}\t{score:.4f}")
            note = f"|segments:{scorer.segment_signature}" if scorer.segment_signature else ""
        for document, numbers in documents or ():
            score = float(scorer.score(runs[0].statistics[0][numbers].sum(axis=0)))
            print(f"{scorer.name}\t{document}\t{score:.4f}")
        if not quiet:
            print(f"{scorer.signature}{note}|hiero:{__version__}")


def _files(system: str) -> list[str]:
    """A system's runs; a comma may also be part of a name."""
    return [system] if Path(system).exists() else system.split(",")


def _lines(test_set: TestSet, file: str) -> list[str]:
    return test_set.hypotheses("/dev/stdin" if file == "-" else file)


def _print_score(metric: Metric, runs: Runs) -> None:
    details = metric.details(runs.statistics[0].sum(axis=0)) if len(runs.scores) == 1 else ""
    print(f"{metric.name} = {runs.mean:.4f}{_deviation(runs)}{details}")


def _deviation(runs: Runs) -> str:
    return f" ± {runs.deviation:.4f}" if len(runs.scores) > 1 else ""


def _print_table(
    metric: Metric, systems: Sequence[str], runs: Sequence[Runs], samples: int, seed: int
) -> None:
    rows = [("system", metric.name, "runs", "difference", "p bootstrap", "p randomisation")]
    for name, system in zip(systems, runs, strict=True):
        score = f"{system.mean:.2f}{f' ± {system.deviation:.2f}' if len(system.scores) > 1 else ''}"
        tests = ("", "", "")
        if system is not runs[0]:
            tests = (
                f"{system.mean - runs[0].mean:+.2f}",
                f"{paired_bootstrap(metric, runs[0], system, samples, seed):.4f}",
                f"{approximate_randomization(metric, runs[0], system, samples, seed):.4f}",
            )
        rows.append((name, score, str(len(system.scores)), *tests))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())
