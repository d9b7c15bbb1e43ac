"""`hiero tokenize` and `hiero detokenize`: convert raw text to tokens and back, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import line_text
from hiero.base.text import split
from hiero.cli.base.files import Output, writing
from hiero.cli.options.text import NormalisationOptions
from hiero.text import TextSide
from hiero.text.schemes import SEGMENTERS

Side = Annotated[
    str, typer.Argument(metavar="SIDE", help="Language and tokenisation scheme, such as en:moses.")
]
Truecaser = Annotated[
    Path | None, typer.Option(help="Truecaser, from hiero truecaser, by which words get their case.")
]


def tokenize(
    *,
    side: Side,
    normalisation: NormalisationOptions,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lowercase the tokens.")] = False,
    truecaser: Truecaser = None,
    readings: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Write the best N ways in which jieba or janome reads each line, as an n-best list: number"
            " from 0, tokens, natural logarithm.",
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Writes the tokens of each line of standard input.

    cat raw.zh | hiero tokenize zh:jieba --readings 10 | hiero lattice --input-format nbest -o segmented.plf
    """
    processing = normalisation.side(side, lowercase, truecaser)
    if readings is None:
        _convert(lambda line, _: " ".join(processing.tokens(line)), output)
    elif processing.scheme not in SEGMENTERS:
        raise typer.BadParameter(f"--readings: only {' and '.join(SEGMENTERS)} read text in several ways")
    else:
        _convert(partial(_readings, processing, readings), output)


def detokenize(
    *,
    side: Side,
    normalisation: NormalisationOptions,
    truecaser: Truecaser = None,
    output: Output = None,
) -> None:
    """Writes each line of tokens from standard input as text."""
    processing = normalisation.side(side, truecaser=truecaser)
    _convert(lambda line, _: processing.text(split(line)), output)


def _readings(side: TextSide, count: int, line: str, number: int) -> str:
    """Returns the readings of a line, the number of which is counted from 0, as lines of an n-best list."""
    readings = side.readings(line, count)
    return "\n".join(f"{number} ||| {' '.join(words)} ||| {score:.6f}" for words, score in readings)


def _convert(change: Callable[[str, int], str], output: Path | None) -> None:
    """Writes what each line of standard input becomes, by its number. It is flushed if it goes to standard
    output, so that the command can serve another program."""
    failures = 0
    with writing(output) as stream:
        for number, line in enumerate(sys.stdin.buffer):
            try:
                text = change(line_text(line, number), number)
            except UnicodeDecodeError:
                print(f"input:{number + 1}: invalid UTF-8", file=sys.stderr)
                text = change("", number)
                failures += 1
            stream.write(text.encode() + b"\n")
            if stream is sys.stdout.buffer:
                stream.flush()
    if failures:
        raise typer.Exit(1)
