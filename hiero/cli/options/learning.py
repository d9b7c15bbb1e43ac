"""Options of a model that is to learn from corrections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero.cli.base.settings import SettingOptions
from hiero.decode.learning import Learning
from hiero.train import AlignSettings, ExtractSettings


@dataclass(frozen=True, kw_only=True)
class LearningFiles:
    """The files that a model needs to learn from corrections, and how they were made."""

    alignment_model: Annotated[
        Path | None,
        typer.Option(help="File from hiero align --save, for a model that learns from corrections."),
    ] = None
    counts: Annotated[
        Path | None, typer.Option(help="Rule counts from hiero extract, for a model that learns, too.")
    ] = None
    joining: Annotated[AlignSettings, SettingOptions(AlignSettings, only=("heuristic",))]
    extraction: Annotated[
        ExtractSettings,
        SettingOptions(ExtractSettings, without=("max_phrase", "phrase_lines", "hierarchical_lines")),
    ]

    def learning(self, span_limit: int) -> Learning | None:
        """Returns what a model needs whose initial phrases are as long as its spans may be.

        Raises BadParameter if one file is missing."""
        if (self.alignment_model is None) != (self.counts is None):
            raise typer.BadParameter("--alignment-model and --counts come together")
        if self.alignment_model is None:
            return None
        extraction = self.extraction.model_dump(exclude={"phrase_lines", "hierarchical_lines"})
        return Learning(
            alignment=str(self.alignment_model),
            words=str(self.counts),
            heuristic=self.joining.heuristic,
            extraction={**extraction, "max_phrase": span_limit},
        )
