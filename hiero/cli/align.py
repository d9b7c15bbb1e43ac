"""`hiero align`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hiero.base.lines import count_lines
from hiero.base.progress import Report
from hiero.cli.base.files import Writes
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import memory_text, parse_memory
from hiero.cli.options.training import AlignedFiles, Memory, ShardRunning, reporter
from hiero.train import AlignmentModel, AlignSettings, align, align_shard
from hiero.train.shards import STEP_MEMORY

_MEMORY = memory_text(STEP_MEMORY)


@dataclass(frozen=True, kw_only=True)
class LearnedFiles:
    """Files of what was learned."""

    model: Annotated[
        Path | None,
        typer.Option(
            help="Alignment model from --save, by which pairs are aligned without learning; of the settings,"
            " only --heuristic is used."
        ),
    ] = None
    save: Annotated[
        Path | None, Writes(), typer.Option(help="Output file for what was learned, for --model.")
    ] = None
    shards: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files of the same command with --shard, one for each shard, with what was learned there;"
            " repeatable."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.model is not None and self.save is not None:
            raise typer.BadParameter("--save is for what is learned, --model for what was learned before")
        if self.model is not None and self.shards:
            raise typer.BadParameter("--model and --shards are two ways of having learned before")


def align_words(
    *,
    files: AlignedFiles,
    learned: LearnedFiles,
    settings: Annotated[AlignSettings, SettingOptions(AlignSettings)],
    memory: Memory = _MEMORY,
    running: ShardRunning,
) -> None:
    """Aligns the words of a bitext in tokens. Links are written as 0-0 1-2, source then target position.

    More pairs can be aligned later by what was learned, in a tenth of a millisecond each. With --shard only
    some of the samplers learn, and OUTPUT is for --shards.

        hiero align --source train.ja --target train.en -o links --save links.model

        hiero align --pairs more.ja-en -o more.links --model links.model
    """
    _check(files, learned, settings, running)
    with files.bitexts() as bitexts, progress_line(running.quiet) as progress, running.place():
        if learned.model is not None:
            _align_by_model(files, bitexts, learned.model, settings, running, progress)
            return
        common: dict[str, Any] = {
            "memory": parse_memory(memory),
            "threads": running.thread_count,
            "report": reporter(running.quiet),
            "progress": progress and partial(progress, "iterations"),
        }
        if running.numbers is not None:
            chosen = settings.model_dump(include={"seed", "samplers"})
            align_shard(bitexts, files.output, running.numbers, **chosen, **common)
            return
        common |= {"save": learned.save, "shards": learned.shards or (), "probabilities": files.probabilities}
        align(bitexts, files.outputs, **settings.model_dump(), **common)


def _check(
    files: AlignedFiles, learned: LearnedFiles, settings: AlignSettings, running: ShardRunning
) -> None:
    """Raises BadParameter for options that a shard or another aligner has no use for."""
    others = learned.save or learned.shards or files.probabilities
    if running.numbers is not None and (learned.model or others):
        raise typer.BadParameter(
            "--shard writes what samplers have learned: --save, --model, --probabilities and --shards are for"
            " another command"
        )
    if learned.model is not None and running.cluster is not None:
        raise typer.BadParameter("--cluster is for learning, and with --model nothing is learned")
    if settings.aligner != "hiero" and running.cluster is not None:
        raise typer.BadParameter("--cluster is for hiero's own aligner")
    if settings.aligner != "hiero" and (running.numbers is not None or others):
        raise typer.BadParameter("--shard, --shards, --save and --probabilities are for hiero's own aligner")


def _align_by_model(
    files: AlignedFiles,
    bitexts: list[tuple[Path, Path]],
    path: Path,
    settings: AlignSettings,
    running: ShardRunning,
    progress: Report | None,
) -> None:
    model, probabilities = AlignmentModel(path), files.probabilities
    for bitext, output in zip(bitexts, files.outputs, strict=True):
        model.align_files(
            *bitext,
            output,
            heuristic=settings.heuristic,
            threads=running.thread_count,
            probabilities=probabilities,
            progress=one_unit(progress, "sentence pairs", partial(count_lines, bitext[0])),
        )
        probabilities = None
