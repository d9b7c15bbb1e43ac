"""`hiero tokenize` and `hiero detokenize`: convert raw text to tokens and back, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import line_text
from hiero.base.text import split
from hiero.cli.base.files import Output, writing
from hiero.cli.options.text import NormalisationOptions

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
    output: Output = None,
) -> None:
    """Writes the tokens of each line of standard input."""
    processing = normalisation.side(side, lowercase, truecaser)
    _convert(lambda line: " ".join(processing.tokens(line)), output)


def detokenize(
    *,
    side: Side,
    normalisation: NormalisationOptions,
    truecaser: Truecaser = None,
    output: Output = None,
) -> None:
    """Writes each line of tokens from standard input as text."""
    processing = normalisation.side(side, truecaser=truecaser)
    _convert(lambda line: processing.text(split(line)), output)


def _convert(change: Callable[[str], str], output: Path | None) -> None:
    """Writes a line for each line of standard input. Each is flushed if it goes to standard output, so that
    the command can serve another program."""
    failures = 0
    with writing(output) as stream:
        for number, line in enumerate(sys.stdin.buffer):
            try:
                text = change(line_text(line, number))
            except UnicodeDecodeError:
                print(f"input:{number + 1}: invalid UTF-8", file=sys.stderr)
                text = ""
                failures += 1
            stream.write(text.encode() + b"\n")
            if stream is sys.stdout.buffer:
                stream.flush()
    if failures:
        raise typer.Exit(1)
