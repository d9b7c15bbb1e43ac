"""`hiero tokenize` and `hiero detokenize`: raw text to tokens and back, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from hiero.base.text import TextSide, parse_side, split

Side = Annotated[str, typer.Argument(metavar="SIDE", help="Language and scheme, such as en:moses.")]


def tokenize(
    side: Side, lowercase: Annotated[bool, typer.Option("--lowercase", help="Lowercase too.")] = False
) -> None:
    """Writes the tokens of every line of stdin."""
    chosen = _side(side, lowercase)
    _each_line(lambda line: " ".join(chosen.tokens(line)))


def detokenize(side: Side) -> None:
    """Writes every line of tokens on stdin as text."""
    chosen = _side(side, False)
    _each_line(lambda line: chosen.text(split(line)))


def _side(text: str, lowercase: bool) -> TextSide:
    try:
        return parse_side(text, lowercase)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _each_line(change: Callable[[str], str]) -> None:
    """One line out for each line in, flushed, so that it serves as a co-process."""
    bad = 0
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            text = change(line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError:
            print(f"input:{number}: invalid UTF-8", file=sys.stderr)
            text = ""
            bad += 1
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()
    if bad:
        raise typer.Exit(1)
