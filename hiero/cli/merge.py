"""`hiero merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError
from hiero._core import EXTRACTED_SHARD, SCORED_SHARD
from hiero.base.lines import check_read_twice
from hiero.cli.base.files import Writes
from hiero.cli.base.size import memory_text, parse_memory
from hiero.cli.options.training import Memory, Running, extraction_summary, reporter
from hiero.features.distortion import DistortionStatistics
from hiero.train import merge_extracted, merge_scored
from hiero.train.shards import STEP_MEMORY

_MEMORY = memory_text(STEP_MEMORY)


def merge(
    *,
    shards: Annotated[
        list[Path], typer.Argument(metavar="SHARD...", help="Files of all shards, in any order.")
    ],
    output: Annotated[
        Path,
        Writes(),
        typer.Option("-o", "--output", help="Rule counts or rule table, the same bytes as from one process."),
    ],
    distortion: Annotated[
        Path | None,
        Writes(),
        typer.Option(help="Output file for distortion statistics, as JSON, if rules were extracted."),
    ] = None,
    memory: Memory = _MEMORY,
    running: Running,
) -> None:
    """Puts the shards of a step together: of hiero extract or hiero score with --shard.

    Memory and threads are for those of hiero extract. Those of hiero align go to its --shards.

        hiero extract --source f --target e --alignment links -o counts.1 --shard 1/2

        hiero extract --source f --target e --alignment links -o counts.2 --shard 2/2

        hiero merge counts.1 counts.2 -o counts
    """
    report = reporter(running.quiet)
    for shard in shards:
        check_read_twice(shard)
    kind = _kind(shards[0])
    if distortion is not None and kind != EXTRACTED_SHARD:
        raise typer.BadParameter("--distortion is for shards of hiero extract")
    if kind == EXTRACTED_SHARD:
        extracted = merge_extracted(shards, output, memory=parse_memory(memory), threads=running.thread_count)
        if distortion is not None:
            DistortionStatistics.from_extraction(extracted).save(distortion)
        report(extraction_summary(extracted))
    elif kind == SCORED_SHARD:
        scored = merge_scored(shards, output)
        report(f"{scored.kept:,} of {scored.read:,} rules kept")
    else:
        raise FormatError(
            f"{shards[0]}: not a shard of a step that is merged (those of hiero align go to its --shards)"
        )


def _kind(path: Path) -> bytes:
    """Returns the bytes by which files of one kind begin."""
    with path.open("rb") as file:
        return file.read(len(EXTRACTED_SHARD))
