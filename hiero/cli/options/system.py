"""Options of `hiero run`: the data, tuning and test sets, and the method of tuning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero.cli.base.commands import usage
from hiero.cli.base.files import Writes
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.settings import SettingOptions, VariantOptions
from hiero.cli.io.lines import format_of
from hiero.cli.options.training import DICTIONARY, MONO, SIDES, SOURCE, TARGET
from hiero.cli.options.tuning import METHOD_HELP, MethodName
from hiero.cli.system.data import SetFiles
from hiero.train import TrainInputs, TrainSettings
from hiero.tune import METHODS, TuneOptions

# Groups of options.
_DATA = "Data"
_TRAINING = "Training"
_TUNING = "Tuning"

TRAINING = SettingOptions(
    TrainSettings,
    without=("text", "owner", "span_limit", "seed"),
    renamed={"lm_binary": "lm_type"},
    group=_TRAINING,
)
# Share and greatest number of pairs that are set aside from the bitext for a set.
_SHARE = 20
_MOST = 1000
_SIZE = f"(default: 1 in {_SHARE}, at most {_MOST})."
_DRAWN = "(default: pairs that are set aside from the bitext)."


@dataclass(frozen=True, kw_only=True)
class SystemData:
    """The files to train on, and the directory of the run."""

    source: Annotated[Path, typer.Option(help=SOURCE, rich_help_panel=_DATA)]
    target: Annotated[Path, typer.Option(help=TARGET, rich_help_panel=_DATA)]
    output: Annotated[
        Path,
        Writes(),
        typer.Option(
            "-o",
            "--output",
            metavar="DIRECTORY",
            help="Directory for models, translations and the report.",
            rich_help_panel=_DATA,
        ),
    ]
    dictionary: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar=SIDES, help=DICTIONARY, rich_help_panel=_DATA),
    ] = None
    mono: Annotated[list[Path] | None, typer.Option(help=MONO, rich_help_panel=_DATA)] = None
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Existing language model; repeatable.", rich_help_panel=_DATA),
    ] = None

    @property
    def inputs(self) -> TrainInputs:
        return TrainInputs(self.source, self.target, self.dictionary, self.mono or [], None, self.lm or [])


@dataclass(frozen=True, kw_only=True)
class SystemSets:
    """Sets to tune and to test on, each from files or set aside from the bitext."""

    tune_source: Annotated[
        Path | None,
        typer.Option(help=f"Source side of the tuning set {_DRAWN}", rich_help_panel=_DATA),
    ] = None
    tune_references: Annotated[
        list[Path] | None,
        typer.Option(help="References of the tuning set, one file or several.", rich_help_panel=_DATA),
    ] = None
    tune_size: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Number of pairs to set aside for the tuning set {_SIZE}", rich_help_panel=_DATA
        ),
    ] = None
    test_source: Annotated[
        Path | None, typer.Option(help=f"Source side of the test set {_DRAWN}", rich_help_panel=_DATA)
    ] = None
    test_references: Annotated[
        list[Path] | None,
        typer.Option(help="References of the test set, one file or several.", rich_help_panel=_DATA),
    ] = None
    test_size: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Number of pairs to set aside for the test set {_SIZE}", rich_help_panel=_DATA
        ),
    ] = None

    def __post_init__(self) -> None:
        _check_set("tune", self.tune_source, self.tune_references, self.tune_size)
        _check_set("test", self.test_source, self.test_references, self.test_size)

    def files(self) -> dict[str, SetFiles | None]:
        """Returns the files of the sets "tune" and "test", None for one that is set aside. Raises FormatError
        or OSError for files that cannot be read or do not fit together."""
        files = {
            "tune": _set_files(self.tune_source, self.tune_references),
            "test": _set_files(self.test_source, self.test_references),
        }
        for one in files.values():
            if one is not None:
                one.lines()
        return files

    def sizes(self, pairs: int) -> dict[str, int]:
        """Returns how many of the ``pairs`` of the bitext are set aside for each set without files."""
        size = min(_MOST, max(1, pairs // _SHARE))
        sizes = {}
        if self.tune_source is None:
            sizes["tune"] = self.tune_size or size
        if self.test_source is None:
            sizes["test"] = self.test_size or size
        return sizes


def _check_set(name: str, source: Path | None, references: list[Path] | None, size: int | None) -> None:
    """Raises BadParameter for options of a set that do not go together."""
    if (source is None) != (not references):
        raise typer.BadParameter(f"a {name} set of one's own has --{name}-source and --{name}-references")
    if source is not None and size is not None:
        raise typer.BadParameter(f"--{name}-size is of a set from the bitext, not of --{name}-source")
    if source is not None and format_of(source, None) not in ("text", "nist"):
        raise typer.BadParameter(f"--{name}-source: expected text or NIST's XML, not JSON")


def _set_files(source: Path | None, references: list[Path] | None) -> SetFiles | None:
    return None if source is None else SetFiles(source, references or [])


@dataclass(frozen=True, kw_only=True)
class SystemTuning:
    """The method that chooses weights, and its settings."""

    method: Annotated[MethodName, typer.Option(help=METHOD_HELP, rich_help_panel=_TUNING)] = "mert"
    settings: Annotated[OptionValues, VariantOptions(METHODS, group=_TUNING)]

    def __post_init__(self) -> None:
        with usage(self.settings):
            TuneOptions(self.method, **self.settings)
        if self.settings.get("search_aware") == "partial-span":
            raise typer.BadParameter(
                "--search-aware partial-span learns from word links of the tuning set, which hiero tune"
                " --alignments takes"
            )
