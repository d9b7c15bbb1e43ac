"""`hiero pack`, `hiero unpack` and `hiero rules`: pack, write and search rule tables."""

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
from hiero.cli.options.common import NoProgress
from hiero.decode.model_directory import read_config

_MEMORY = memory_text(tables.DEFAULT_MEMORY)


def pack(
    grammar: Annotated[Path, typer.Argument(help="Rule table: text (plain, .gz or .xz) or packed.")],
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Packed rule table to write (.hrt).")
    ],
    owner: Annotated[str, typer.Option(help="Name of the table (default: pt, pt1, ...).")] = "",
    span_limit: Annotated[
        int, typer.Option(min=0, help="Number of source words that a rule may span; 0: the decoder's limit.")
    ] = 0,
    filter_for: Annotated[
        Path | None,
        typer.Option(
            metavar="TEXT", help="Text in tokens; only rules that can match one of its lines are kept."
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            help="Nonterminal label of whole sentences, whose rules may span any length; for --filter-for."
        ),
    ] = "S",
    memory: Annotated[str, typer.Option(help="Memory for sorting, such as 64M.")] = _MEMORY,
    quiet: NoProgress = False,
) -> None:
    """Packs rules into a table that opens at once."""
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
    table: Annotated[Path, typer.Argument(help="Packed rule table.")],
    output: Output = None,
) -> None:
    """Writes a packed rule table as text."""
    loaded = load_table(table)
    with writing(output) as stream:
        tables.unpack(loaded, stream.write)


def rules(
    table: Annotated[Path, typer.Argument(help="Rule table, packed or text, or model directory.")],
    source: Annotated[str | None, typer.Option(help='Source side of a rule, such as "ne [X] pas".')] = None,
    prefix: Annotated[str | None, typer.Option(help="Beginning of the source side.")] = None,
    target: Annotated[
        str | None, typer.Option(help='Target side, such as "not [X,1]", alone or with --prefix.')
    ] = None,
    output: Output = None,
) -> None:
    """Lists rules with features and links, by their source side, by its beginning, or by their target side.

    A source side is looked up at once; a search by --prefix or --target goes through all rules. If no rule is
    found, one line on stderr says so, and the exit code is 1.

        hiero rules my-model --source "ne [X] pas"
        hiero rules my-model --prefix ne --target "not [X,1]"
    """
    if (source is None) == (prefix is None and target is None):
        raise typer.BadParameter("give either --source, or --prefix or --target or both")
    if table.is_dir():
        opened = [RuleTable.open(str(table / entry.path)) for entry in read_config(table).tables]
    else:
        opened = [load_table(table)]
    count = 0
    with writing(output) as stream:

        def write(rule: str) -> None:
            nonlocal count
            count += 1
            stream.write(f"{rule}\n".encode())

        for rule_table in opened:
            if source is not None:
                for rule in rule_table.lookup(split(source)):
                    write(str(rule))
            else:
                tables.search(rule_table, write, prefix=prefix, target=target)
    if not count:
        print(f"hiero: {table}: no such rule", file=sys.stderr)
        raise typer.Exit(1)
