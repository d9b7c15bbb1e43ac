"""`hiero pack`, `unpack` and `rules`: rule tables from the shell."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero import RuleTable
from hiero.base import tables
from hiero.base.lines import count_lines
from hiero.base.tables import load_table
from hiero.base.text import split
from hiero.cli.base.files import Output, Writes, writing
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.base.size import memory_text, parse_memory
from hiero.decode.model_directory import read_config

_MEMORY = memory_text(tables.DEFAULT_MEMORY)


def pack(
    grammar: Annotated[Path, typer.Argument(help="Grammar: text (plain, .gz, .xz) or packed.")],
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Packed table (.hrt).")],
    owner: Annotated[str, typer.Option(help="Name of the table; by default pt, pt1, ...")] = "",
    span_limit: Annotated[
        int, typer.Option(min=0, help="Source words a rule may span; 0: the decoder's limit.")
    ] = 0,
    filter_for: Annotated[
        Path | None,
        typer.Option(metavar="TEXT", help="Keep only rules that can match a line of this text in tokens."),
    ] = None,
    goal: Annotated[
        str, typer.Option(help="Label of whole sentences, whose rules may span any length; for --filter-for.")
    ] = "S",
    memory: Annotated[str, typer.Option(help="For rules being sorted, such as 64M.")] = _MEMORY,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Packs a text grammar into a table that opens at once."""
    with progress_line(quiet) as progress:
        tables.pack(
            grammar,
            output,
            owner=owner,
            span_limit=span_limit,
            memory=parse_memory(memory),
            filter_for=filter_for,
            goal=goal,
            progress=one_unit(progress, "lines", partial(count_lines, grammar)),
        )


def unpack(
    table: Annotated[Path, typer.Argument(help="Packed table.")],
    output: Output = None,
) -> None:
    """Writes a packed table as text."""
    loaded = load_table(table)
    with writing(output) as stream:
        tables.unpack(loaded, stream.write)


def rules(
    table: Annotated[Path, typer.Argument(help="Rule table, packed or text, or model.")],
    source: Annotated[str | None, typer.Option(help='Source side, such as "ne [X] pas".')] = None,
    prefix: Annotated[str | None, typer.Option(help="What the source side begins with.")] = None,
    target: Annotated[
        str | None, typer.Option(help='Target side, such as "not [X,1]"; alone or with --prefix.')
    ] = None,
    output: Output = None,
) -> None:
    """Lists rules with features and links: of a source side, or with a beginning of it or a target side.

    A source side is looked up at once; for a prefix or target side all rules are looked through. Where there
    are none, one line on stderr says so, and the exit code is 1.

        hiero rules my-model --source "ne [X] pas"
        hiero rules my-model --prefix ne --target "not [X,1]"
    """
    if (source is None) == (prefix is None and target is None):
        raise typer.BadParameter("give either --source, or --prefix or --target or both")
    if table.is_dir():
        loaded = [RuleTable.open(str(table / entry.path)) for entry in read_config(table).tables]
    else:
        loaded = [load_table(table)]
    listed = 0
    with writing(output) as stream:

        def write(rule: str) -> None:
            nonlocal listed
            listed += 1
            stream.write(f"{rule}\n".encode())

        for each in loaded:
            if source is not None:
                for rule in each.lookup(split(source)):
                    write(str(rule))
            else:
                tables.search(each, write, prefix=prefix, target=target)
    if not listed:
        print(f"hiero: {table}: no such rule", file=sys.stderr)
        raise typer.Exit(1)
