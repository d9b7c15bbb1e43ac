"""`hiero parse`: trees of text."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import count_lines
from hiero.cli.base.files import Output, reading, writing
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.io.lines import Lines, reader
from hiero.parse.parser import parsed


def parse(
    input: Annotated[Path | None, typer.Option("-i", "--input", help="English text (stdin).")] = None,
    output: Output = None,
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Text is in tokens already, the trees' tokens; not raw (raw text)."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Writes the tree of every line of English text in Penn brackets, and a blank line for a blank one.

    Constituents are made of the dependencies that spaCy finds, with the extra `parse`. A line
    that cannot be read has a blank line too, one line on stderr, and exit 1 at the end.

        hiero parse --tokens -i dev.en -o dev.en.parse
    """
    known = input is not None and input.is_file()
    shared = output is None and sys.stdout.isatty()  # where trees would stand among progress
    with reading(input) as source, progress_line(quiet or shared) as progress, writing(output) as stream:
        lines = Lines(source, str(input) if input else "input", reader("text", tokens))
        advance = one_unit(progress, "sentences", partial(count_lines, input) if known and input else None)
        for number, tree in enumerate(parsed(sentence for _, sentence in lines)):
            if number in lines.invalid:
                print(f"{lines.place(number)}: {lines.invalid[number]}", file=sys.stderr)
            stream.write(f"{tree or ''}\n".encode())
            if advance is not None:
                advance(number + 1)
    if lines.invalid:
        raise typer.Exit(1)
