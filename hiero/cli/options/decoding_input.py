"""Options of `hiero decode` for its input: the text, and what is said of single sentences."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero import Model
from hiero.cli.base.files import reading
from hiero.cli.io.lines import Format, Lines, MarkupMode, format_of, line_format, marked_text, source_set
from hiero.cli.io.sentences import Terms
from hiero.cli.options.common import INPUT_FORMAT, PARSES, Tokens
from hiero.evaluate.nist_xml import SegmentSet
from hiero.features.glossary import Glossary

# The group of these options.
_IO = "Input and output"


@dataclass(frozen=True, kw_only=True)
class DecodingInput:
    """The text to translate, and what is known of its sentences."""

    source: Annotated[
        Path | None,
        typer.Option(
            "-i",
            "--source",
            "--input",
            help="Source text (default: standard input).",
            rich_help_panel=_IO,
        ),
    ] = None
    input_format: Annotated[
        Format | None,
        typer.Option(
            help="Format of the source; text: a sentence a line; jsonl: records with text or tokens, parse,"
            " rules and more; plf: a lattice a line, in Python's syntax; nist: a srcset in XML or SGML,"
            f" translated into a tstset {INPUT_FORMAT}",
            rich_help_panel=_IO,
        ),
    ] = None
    tokens: Tokens = False
    parses: Annotated[Path | None, typer.Option(help=PARSES, rich_help_panel=_IO)] = None
    rules: Annotated[
        Path | None,
        typer.Option(
            help="File of rules for single sentences; on each line, a sentence's number, from 0, ||| and a"
            " rule.",
            rich_help_panel=_IO,
        ),
    ] = None
    markup: Annotated[
        MarkupMode | None,
        typer.Option(
            help="Read marks in the text as Moses has them; exclusive: words are translated only as they are"
            " marked; inclusive: also by the model; constraint: also by its rules that contain a translation;"
            " ignore: only zones and walls; pass-through: marks are text (default: pass-through).",
            rich_help_panel=_IO,
        ),
    ] = None
    terms: Annotated[
        Path | None,
        typer.Option(
            help="Glossary of terms, which nothing else translates; on each line a term, a tab and its"
            " translation.",
            rich_help_panel=_IO,
        ),
    ] = None
    soft_terms: Annotated[
        bool,
        typer.Option(
            "--soft-terms",
            help="Let the model translate terms otherwise; the feature Markup counts those that are not.",
            rich_help_panel=_IO,
        ),
    ] = False
    prefixes: Annotated[
        Path | None,
        typer.Option(
            help="File with the beginning of each translation, one a line; the last word may be unfinished,"
            " unless a blank follows or --tokens is given.",
            rich_help_panel=_IO,
        ),
    ] = None
    references: Annotated[
        list[Path] | None,
        typer.Option(
            help="References for forced decoding, in one file or several: writes the best derivation that"
            " yields a reference.",
            rich_help_panel=_IO,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.markup is not None and self.format == "jsonl":
            raise typer.BadParameter("--markup is for text; records of jsonl have a field markup")
        if self.format == "plf" and not (self.markup is None and self.terms is None):
            raise typer.BadParameter("--markup and --terms are for text, and not for lattices")
        if self.soft_terms and self.terms is None:
            raise typer.BadParameter("--soft-terms needs --terms")

    @property
    def format(self) -> Format:
        return format_of(self.source, self.input_format)

    @property
    def may_have_rules(self) -> bool:
        """Whether sentences may bring rules, which may have features that the model has not."""
        return line_format(self.format).has_rules

    def read_terms(self, model: Model) -> Terms | None:
        """Reads the glossary. Raises FormatError, also for labels that the model does not have; OSError."""
        if self.terms is None:
            return None
        glossary = Glossary.read(self.terms)
        glossary.check(model.text, sorted({*model.core.labels} - {model.goal}))
        return Terms(glossary, model.text.source, "inclusive" if self.soft_terms else "exclusive")

    def open(self, stack: ExitStack) -> tuple[Lines, SegmentSet | None]:
        """Opens the source until ``stack`` closes: its lines, and the set that it is in NIST's formats."""
        file = stack.enter_context(reading(self.source))
        name = str(self.source) if self.source else "input"
        kind = line_format(self.format) if self.markup is None else marked_text(self.markup)
        if self.format != "nist":
            return Lines(file, name, kind, self.tokens), None
        segments = source_set(file.read(), name)
        return Lines.from_segments(segments, name, kind, self.tokens), segments
