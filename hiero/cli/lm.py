"""`hiero lm`: a language model from text."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hiero.cli.progress import one_unit, progress_line
from hiero.cli.size import parse_memory
from hiero.train.lm import ORDERS, QUANTIZE_BITS, LmEstimate, estimate_lm


class BinaryType(StrEnum):
    """The data structures of KenLM that can be made here."""

    PROBING = "probing"
    TRIE = "trie"


def lm(
    texts: Annotated[
        list[Path], typer.Argument(metavar="TEXT...", help="Tokenised sentences: plain, .gz or .xz.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="KenLM binary; .arpa or .arpa.gz: the ARPA file.")
    ],
    order: Annotated[
        int, typer.Option(min=ORDERS[0], max=ORDERS[-1], help="Words of the longest n-grams.")
    ] = 5,
    memory: Annotated[str, typer.Option(help="For n-grams being sorted, such as 512M.")] = "1G",
    binary: Annotated[
        BinaryType, typer.Option("--type", help="Hash tables, or a trie: smaller, slower.")
    ] = BinaryType.PROBING,
    quantize: Annotated[
        int | None,
        typer.Option(
            min=QUANTIZE_BITS[0], max=QUANTIZE_BITS[-1], help="Bits of each number in a trie; default exact."
        ),
    ] = None,
    skip_reserved: Annotated[
        bool, typer.Option("--skip-reserved", help="Leave out the words <s>, </s>, <unk>: else errors.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Estimates a modified Kneser-Ney language model with KenLM's lmplz."""
    if quantize is not None and binary is not BinaryType.TRIE:
        raise typer.BadParameter("only --type trie can be quantised", param_hint="--quantize")
    with progress_line(quiet) as progress:
        estimate = estimate_lm(
            texts,
            output,
            order=order,
            memory=parse_memory(memory),
            binary=binary.value,
            quantize=quantize,
            reserved_words="skip" if skip_reserved else "error",
            progress=one_unit(progress, "sentences"),
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
