"""`hiero train` and its steps as commands: `corpus`, `truecaser`, `extract`, `score`, `assemble`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hiero import read_weights
from hiero.base.lines import count_lines
from hiero.base.parallel import processors
from hiero.cli.base.commands import usage
from hiero.cli.base.files import Writes, on_interrupt
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import duration, memory_text, parse_memory
from hiero.cli.options.text import NormalisationOptions
from hiero.cli.options.training import (
    SIDES,
    TRAIN_MEMORY,
    AssemblyOptions,
    CasedTextOptions,
    LinkedBitext,
    Memory,
    Running,
    ShardRunning,
    Source,
    SpreadRunning,
    Target,
    TextOptions,
    TrainingFiles,
    extraction_summary,
    reporter,
)
from hiero.features.distortion import DistortionStatistics
from hiero.train import (
    CorpusSettings,
    ExtractSettings,
    ScoreSettings,
    TrainSettings,
    default_weights,
    extract_rules,
    extract_shard,
    plan_training,
    prepare_corpus,
    score_rules,
    score_shard,
    train_truecaser,
    weights_by_length,
)
from hiero.train import train as train_model
from hiero.train.corpus import read_pairs
from hiero.train.extraction import ExtractProgress
from hiero.train.scoring import ScoreProgress
from hiero.train.shards import STEP_MEMORY

_STEP_MEMORY = memory_text(STEP_MEMORY)


def train(
    *,
    files: TrainingFiles,
    text: TextOptions,
    settings: Annotated[
        TrainSettings,
        SettingOptions(
            TrainSettings,
            without=("text", "owner", "span_limit"),
            renamed={"lm_binary": "lm_type"},
        ),
    ],
    memory: Memory = TRAIN_MEMORY,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Only say how much time, memory and disk the steps will take, in seconds."
        ),
    ] = False,
    running: SpreadRunning,
) -> None:
    """Trains a model from a bitext, two files with a sentence pair on each line, for hiero-decode.

    An interrupted training goes on when it is started again; OUTPUT.train keeps the files of its steps.

        hiero train --source train.de --target train.en --tokenize de:moses en:moses --truecase -o my-model
    """
    settings = settings.model_copy(update={"text": text.processing})
    with usage():
        settings.check(files.inputs, parse_memory(memory))
    if plan and running.cluster is not None:
        raise typer.BadParameter("--plan is for work without a cluster")
    if plan:
        _print_plan(files, settings, parse_memory(memory), running)
        return
    note = f"run it again to go on; {files.output.name}.train has what is done"
    with progress_line(running.quiet) as progress, on_interrupt(note), running.place():
        train_model(
            files.inputs,
            files.output,
            settings=settings,
            memory=parse_memory(memory),
            threads=running.thread_count,
            report=reporter(running.quiet),
            progress=progress,
        )


def _print_plan(files: TrainingFiles, settings: TrainSettings, memory: int, running: Running) -> None:
    """Prints what each step will take, and all together: the sum of times and files, and the most memory."""
    steps = plan_training(
        files.inputs,
        files.output,
        settings=settings,
        memory=memory,
        threads=running.thread_count,
        report=reporter(running.quiet),
    )
    rows = [(step.name, step.seconds, step.memory, step.disk) for step in steps]
    _, seconds, memories, disks = zip(*rows, strict=True)
    for name, time, held, disk in [*rows, ("total", sum(seconds), max(memories), sum(disks))]:
        print(f"{name:20} {duration(time):>10} {held / 1e6:9,.0f} MB {disk / 1e6:9,.0f} MB")


def corpus(
    *,
    source: Source,
    target: Target,
    output: Annotated[
        tuple[Path, Path],
        Writes(),
        typer.Option("-o", "--output", metavar=SIDES, help="Prepared sides of the bitext."),
    ],
    text: CasedTextOptions,
    settings: Annotated[CorpusSettings, SettingOptions(CorpusSettings)],
    running: Running,
) -> None:
    """Tokenises a bitext, and makes lines blank whose pair is of no use in training."""
    with progress_line(running.quiet) as progress:
        report = prepare_corpus(
            [(source, target)],
            *output,
            text=text.processing,
            processes=running.thread_count,
            progress=one_unit(progress, "sentence pairs", partial(count_lines, source)),
            **settings.model_dump(),
        )
    reporter(running.quiet)(str(report))


def truecaser(
    *,
    texts: Annotated[
        list[Path], typer.Argument(metavar="TEXT...", help="Raw text, such as a side of a bitext.")
    ],
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Truecaser: a list of words with their case.")
    ],
    tokenize: Annotated[
        str, typer.Option(metavar="SIDE", help="Language and scheme of the text, such as en:moses.")
    ] = "und:none",
    normalisation: NormalisationOptions,
    running: Running,
) -> None:
    """Learns which words have capitals of their own, not because they begin a sentence."""
    side = normalisation.side(tokenize)
    with progress_line(running.quiet) as progress:
        count = one_unit(progress, "sentences", partial(count_lines, *texts))
        words = train_truecaser(texts, output, side, count, running.thread_count)
    reporter(running.quiet)(f"{words:,} words with case")


def extract(
    *,
    bitext: LinkedBitext,
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Counted rules, for hiero score.")],
    distortion: Annotated[
        Path | None, Writes(), typer.Option(help="Output file for distortion statistics, as JSON.")
    ] = None,
    settings: Annotated[ExtractSettings, SettingOptions(ExtractSettings)],
    memory: Memory = _STEP_MEMORY,
    running: ShardRunning,
) -> None:
    """Extracts and counts the rules of an aligned bitext in tokens."""
    if distortion is not None and running.numbers is not None:
        raise typer.BadParameter("--distortion is for all shards: give it to hiero merge")
    report = reporter(running.quiet)
    with progress_line(running.quiet) as progress, running.place():
        count = one_unit(progress, "sentence pairs", partial(count_lines, bitext.source))
        done: ExtractProgress | None = count and (lambda pairs, rules: count(pairs))
        common: dict[str, Any] = {
            "settings": settings.chosen(bitext.alignment, report=report),
            "memory": parse_memory(memory),
            "threads": running.thread_count,
            "progress": done,
        }
        if running.numbers is None:
            statistics = extract_rules(*bitext.paths, output, **common)
        else:
            statistics = extract_shard(*bitext.paths, output, running.numbers, **common)
    if distortion is not None:
        DistortionStatistics.from_extraction(statistics).save(distortion)
    report(extraction_summary(statistics))


def score(
    *,
    counts: Annotated[Path, typer.Argument(help="Counted rules, from hiero extract.")],
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Packed rule table (.hrt).")],
    settings: Annotated[ScoreSettings, SettingOptions(ScoreSettings)],
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar=SIDES, help="Bitext that the rules come from, for --significance."),
    ] = None,
    running: ShardRunning,
) -> None:
    """Makes a rule table, with probabilities, from counted rules."""
    if settings.significance is not None and corpus is None:
        raise typer.BadParameter("--significance needs --corpus")
    with progress_line(running.quiet) as progress, running.place():
        done: ScoreProgress | None = progress and (lambda rules, total: progress("rules", rules, total))
        common: dict[str, Any] = {
            "settings": settings,
            "bitext": corpus,
            "threads": running.thread_count,
            "progress": done,
        }
        if running.numbers is None:
            statistics = score_rules(counts, output, **common)
        else:
            statistics = score_shard(counts, output, running.numbers, **common)
    reporter(running.quiet)(f"{statistics.kept:,} of {statistics.read:,} rules kept")


def assemble(*, parts: AssemblyOptions, text: CasedTextOptions) -> None:
    """Assembles a model directory from rule tables, language models and weights."""
    model = parts.assemble(text.processing)
    if parts.weights is not None:
        weights = read_weights(parts.weights)
    elif parts.corpus is not None:
        weights, _ = weights_by_length(model, read_pairs(*parts.corpus), parts.seed, threads=processors())
    else:
        weights = default_weights(model.feature_names)
    model.with_weights(weights).save(parts.output)
