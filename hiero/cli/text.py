"""`hiero tokenize` and `hiero detokenize`: raw text to tokens and back, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import line_text
from hiero.base.text import TextSide, parse_side, split
from hiero.cli.base.arguments import usage
from hiero.cli.base.files import Output, writing

Side = Annotated[str, typer.Argument(metavar="SIDE", help="Language and scheme, such as en:moses.")]
Truecaser = Annotated[Path | None, typer.Option(help="From hiero truecaser; words get their case by it.")]


def tokenize(
    side: Side,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lowercase too.")] = False,
    truecaser: Truecaser = None,
    output: Output = None,
) -> None:
    """Writes the tokens of every line of stdin."""
    chosen = _side(side, lowercase, truecaser)
    _each_line(lambda line: " ".join(chosen.tokens(line)), output)


def detokenize(side: Side, truecaser: Truecaser = None, output: Output = None) -> None:
    """Writes every line of tokens on stdin as text."""
    chosen = _side(side, False, truecaser)
    _each_line(lambda line: chosen.text(split(line)), output)


def _side(text: str, lowercase: bool, truecaser: Path | None) -> TextSide:
    with usage():
        return parse_side(text, lowercase, truecaser or "")


def _each_line(change: Callable[[str], str], output: Path | None) -> None:
    """One line out for each line in; to standard output flushed, so that it serves as a co-process."""
    bad = 0
    with writing(output) as stream:
        for number, line in enumerate(sys.stdin.buffer):
            try:
                text = change(line_text(line, number))
            except UnicodeDecodeError:
                print(f"input:{number + 1}: invalid UTF-8", file=sys.stderr)
                text = ""
                bad += 1
            stream.write(text.encode() + b"\n")
            if stream is sys.stdout.buffer:
                stream.flush()
    if bad:
        raise typer.Exit(1)
