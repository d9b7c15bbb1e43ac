"""Options of `hiero experiment`: the sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero import Model
from hiero.cli.io.sets import Set, read_set


@dataclass(frozen=True, kw_only=True)
class ExperimentSets:
    """A tuning set and a test set."""

    source: Annotated[Path, typer.Option(help="Source of the tuning set: text, or NIST's .xml or .sgm.")]
    references: Annotated[list[Path], typer.Option(help="References of the tuning set, in the same format.")]
    test_source: Annotated[Path, typer.Option(help="Source of the test set, in the same format.")]
    test_references: Annotated[list[Path], typer.Option(help="References of the test set.")]

    def read(self, tokens: bool, model: Model) -> tuple[Set, Set]:
        """Reads the tuning set and the test set. Raises FormatError, OSError."""
        return (
            read_set(self.source, self.references, tokens, model),
            read_set(self.test_source, self.test_references, tokens, model),
        )
