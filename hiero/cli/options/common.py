"""Options that many commands have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero import DecodingSettings
from hiero.cli.base.cluster import ClusterAddress
from hiero.cli.base.loading import LOAD, LOAD_METAVAR
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.settings import SettingOptions

# Help of options that appear in several groups.
PARSES = "File with the parse tree of each sentence in brackets, one tree a line (docs/features.md)."
INPUT_FORMAT = "(default: jsonl for .jsonl, nist for .xml and .sgm, else text)."

ModelPath = Annotated[Path, typer.Argument(help="Model directory.")]
OTHER_MODEL = "Model directory to write (default: MODEL itself)."
Load = Annotated[list[str] | None, typer.Option(metavar=LOAD_METAVAR, help=LOAD)]
# The settings of decoding that replace those of the model.
Decoding = Annotated[OptionValues, SettingOptions(DecodingSettings, overrides="the model's", group="Search")]
Threads = Annotated[int, typer.Option(min=1, help="Number of threads; the result does not depend on it.")]
AllThreads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of threads; the result does not depend on it (default: all processors)."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Places:
    """Options for where work is done."""

    threads: Threads = 1
    cluster: ClusterAddress = None


@dataclass(frozen=True, kw_only=True)
class Work(Places):
    """Options for where work is done, and for what is printed of it."""

    quiet: Annotated[bool, typer.Option("--quiet", help="Print only the result.")] = False


NoProgress = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Tokens = Annotated[
    bool,
    typer.Option("--tokens", help="Text consists of tokens, cased as in training (default: raw text)."),
]
