"""`hiero lm`: estimates a language model from text."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import count_lines
from hiero.cli.base.files import Writes
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import memory_text, parse_memory
from hiero.cli.options.common import NoProgress
from hiero.train.lm import LmEstimate, LmSettings, estimate_lm
from hiero.train.shards import STEP_MEMORY

_MEMORY = memory_text(STEP_MEMORY)


def lm(
    *,
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT...", help="Sentences in tokens, one a line: plain, .gz or .xz."),
    ],
    output: Annotated[
        Path,
        Writes(),
        typer.Option("-o", "--output", help="KenLM binary to write; an ARPA file for .arpa and .arpa.gz."),
    ],
    settings: Annotated[LmSettings, SettingOptions(LmSettings, renamed={"binary": "type"})],
    memory: Annotated[str, typer.Option(help="Memory for sorting, such as 512M.")] = _MEMORY,
    skip_reserved: Annotated[
        bool,
        typer.Option("--skip-reserved", help="Leave out the words <s>, </s> and <unk> (default: error)."),
    ] = False,
    quiet: NoProgress = False,
) -> None:
    """Estimates a modified Kneser-Ney language model with KenLM's lmplz."""
    if settings.quantize is not None and settings.binary != "trie":
        raise typer.BadParameter("only --type trie can be quantised", param_hint="--quantize")
    with progress_line(quiet) as progress:
        estimate = estimate_lm(
            texts,
            output,
            memory=parse_memory(memory),
            reserved_words="skip" if skip_reserved else "error",
            progress=one_unit(progress, "sentences", partial(count_lines, *texts)),
            **settings.model_dump(),
        )
    _warn(estimate)


def _warn(estimate: LmEstimate) -> None:
    if estimate.reserved_words:
        print(f"warning: {estimate.reserved_words} reserved words such as <s> were left out", file=sys.stderr)
    if estimate.fallback_orders:
        orders = ", ".join(map(str, estimate.fallback_orders))
        print(
            f"warning: too little or artificial text: no Kneser-Ney discounts for order {orders}; "
            "0.5, 1 and 1.5 are used instead",
            file=sys.stderr,
        )
