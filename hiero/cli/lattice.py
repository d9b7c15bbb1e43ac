"""`hiero lattice`: makes lattices of several readings of each sentence."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Literal

import typer

from hiero import FormatError, Lattice
from hiero.base.lines import line_text
from hiero.base.text import split
from hiero.cli.base.files import Output, reading, writing
from hiero.features.alternatives import Reading, Variants, lattice_of

Kind = Literal["alternatives", "nbest"]


def make_lattices(
    *,
    source: Annotated[
        Path | None, typer.Option("-i", "--source", help="Text, in tokens (default: standard input).")
    ] = None,
    input_format: Annotated[
        Kind,
        typer.Option(
            help="Format of the source; alternatives: those of a sentence on a line, with tabs between them;"
            " nbest: lines of number, tokens and score, with ||| between them, as n-best lists are."
        ),
    ] = "alternatives",
    variants: Annotated[
        Path | None,
        typer.Option(
            help="Table of spellings by which words of the source may be read; on each line a word, a tab, a"
            " variant, and optionally a tab and a natural logarithm."
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Writes a lattice in PLF for each sentence: of its alternatives, an n-best list, or spelling variants.

    hiero lattice --variants spellings.tsv --source chat.en -o chat.plf

    hiero lattice --input-format nbest --source segmented.nbest -o segmented.plf
    """
    if variants is not None and input_format != "alternatives":
        raise typer.BadParameter("--variants are of the words of text, one sentence a line")
    table = None if variants is None else Variants.read(variants)
    name = str(source or "input")
    with reading(source) as file, writing(output) as stream:
        for lattice in _lattices(file, name, input_format, table):
            stream.write(f"{'' if lattice is None else lattice.to_plf()}\n".encode())
            if stream is sys.stdout.buffer:
                stream.flush()


def _lattices(file: IO[bytes], name: str, kind: Kind, table: Variants | None) -> Iterator[Lattice | None]:
    """Yields the lattice of each sentence; None for one without words. Raises FormatError, which names the
    line."""
    if kind == "nbest":
        yield from _lattices_of_lists(file, name)
        return
    for number, line in _lines(file, name):
        with _at(f"{name}:{number}"):
            readings: list[Reading] = [(split(part), None) for part in line.split("\t")]
            if not line.strip():
                yield None
            elif table is None:
                yield lattice_of(readings)
            elif len(readings) > 1:
                raise FormatError("alternatives and variants exclude each other: found a tab")
            else:
                yield table.lattice(readings[0][0])


def _lattices_of_lists(file: IO[bytes], name: str) -> Iterator[Lattice | None]:
    """Yields the lattices of n-best lists, by number from 0; None for a list that is missing or empty."""
    readings: list[Reading] = []
    now = 0
    number = 0
    for number, line in _lines(file, name):
        with _at(f"{name}:{number}"):
            sentence, words, score = _entry(line)
            if sentence < now:
                raise FormatError(f"list {sentence} after list {now}")
            while now < sentence:
                yield lattice_of(readings) if readings else None
                readings = []
                now += 1
            if words:
                readings.append((words, score))
    with _at(f"{name}:{number}"):
        yield lattice_of(readings) if readings else None


def _entry(line: str) -> tuple[int, list[str], float | None]:
    """Reads the number, the words and the score of a line of an n-best list."""
    fields = [field.strip() for field in f" {line} ".split(" ||| ")]
    try:
        if len(fields) < 2:
            raise ValueError
        return int(fields[0]), split(fields[1]), float(fields[-1]) if len(fields) > 2 else None
    except ValueError:
        raise FormatError("expected a number, words and a score, with ||| between them") from None


def _lines(file: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    """Yields the lines, and their numbers from 1."""
    for number, line in enumerate(file, start=1):
        try:
            yield number, line_text(line, number - 1)
        except UnicodeDecodeError:
            raise FormatError(f"{name}:{number}: invalid UTF-8") from None


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """Puts the place before messages."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{place}: {error}") from None
