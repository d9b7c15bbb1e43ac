"""Options of `hiero analyse`: the set, the measures, and the pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero import Model
from hiero.cli.base.commands import check_plot
from hiero.cli.base.files import Writes
from hiero.cli.io.lines import Format
from hiero.cli.io.sets import Set, read_set
from hiero.cli.options.common import INPUT_FORMAT, PARSES, Tokens
from hiero.evaluate import EffectiveLength

_BEAMS = (2, 4, 8, 16, 30)


@dataclass(frozen=True, kw_only=True)
class AnalysisSet:
    """The sentences to decode, and their references."""

    source: Annotated[Path, typer.Option(help="Source side of a set: text, .jsonl, or NIST's .xml or .sgm.")]
    references: Annotated[list[Path], typer.Option(help="References of the set, in one file or several.")]
    effective_length: Annotated[
        EffectiveLength, typer.Option(help="Reference length for the brevity penalty of BLEU.")
    ] = "closest"
    input_format: Annotated[Format | None, typer.Option(help=f"Format of the source {INPUT_FORMAT}")] = None
    tokens: Tokens = False
    parses: Annotated[Path | None, typer.Option(help=PARSES)] = None

    def read(self, model: Model) -> Set:
        """Reads sentences and references. Raises FormatError, OSError."""
        return read_set(self.source, self.references, self.tokens, model, self.input_format, self.parses)


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Sizes of the measures."""

    k: Annotated[int, typer.Option("-k", min=1, help="Number of distinct translations of a sentence.")] = 50
    beam: Annotated[
        int, typer.Option(min=1, help="Number of items of each span in the guided backtrace.")
    ] = 30
    order: Annotated[
        int, typer.Option(min=1, help="Length of the n-grams by which diversity is counted.")
    ] = 4


@dataclass(frozen=True, kw_only=True)
class AnalysisPictures:
    """The pictures that are drawn besides the table."""

    plot: Annotated[
        Path | None,
        Writes(),
        typer.Option(help="Output file for a picture of BLEU by pop limit; needs matplotlib."),
    ] = None
    page: Annotated[
        Path | None,
        Writes(),
        typer.Option(
            help="Output file for a page with the chart of a sentence, and what its spans lost to pruning."
        ),
    ] = None
    sentence: Annotated[int, typer.Option(min=0, help="Number of the sentence on the page, from 0.")] = 0
    beams: Annotated[
        list[int] | None,
        typer.Option(help=f"Pop limit in the picture; repeatable (default: {' '.join(map(str, _BEAMS))})."),
    ] = None

    def __post_init__(self) -> None:
        check_plot(self.plot)

    @property
    def pop_limits(self) -> list[int]:
        return self.beams or list(_BEAMS)
