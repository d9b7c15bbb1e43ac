"""`hiero parse`: parses English text into trees."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero.base.lines import count_lines
from hiero.cli.base.files import Output, reading, writing
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.io.lines import LINE_FORMATS, Lines
from hiero.cli.options.common import NoProgress
from hiero.parse.parser import parse_sentences


def parse(
    input: Annotated[
        Path | None, typer.Option("-i", "--input", help="English text (default: standard input).")
    ] = None,
    output: Output = None,
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Text consists of the tokens of the trees (default: raw text)."),
    ] = False,
    quiet: NoProgress = False,
) -> None:
    """Writes the tree of each line of English text in Penn brackets, and a blank line for a blank one.

    Constituents are made from the dependencies that spaCy finds; this needs the extra `parse`. A line that
    cannot be read gets a blank line and one line on stderr, and the exit code is 1.

        hiero parse --tokens -i dev.en -o dev.en.parse
    """
    total = partial(count_lines, input) if input is not None and input.is_file() else None
    # Trees on a terminal would stand among the progress.
    quiet = quiet or (output is None and sys.stdout.isatty())
    with reading(input) as source, progress_line(quiet) as progress, writing(output) as stream:
        lines = Lines(source, str(input) if input else "input", LINE_FORMATS["text"], tokens)
        advance = one_unit(progress, "sentences", total)
        for number, tree in enumerate(parse_sentences(sentence for _, sentence in lines)):
            if number in lines.invalid:
                print(f"{lines.place(number)}: {lines.invalid[number]}", file=sys.stderr)
            stream.write(f"{tree or ''}\n".encode())
            if advance is not None:
                advance(number + 1)
    if lines.invalid:
        raise typer.Exit(1)
