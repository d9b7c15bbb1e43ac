"""Options of `hiero run`: the data, its sets, rules for numbers and names, and the methods of tuning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from hiero.base.parallel import processors
from hiero.base.same_files import check_different
from hiero.cli.base.cluster import ClusterAddress
from hiero.cli.base.commands import usage
from hiero.cli.base.config import Config, is_from_file
from hiero.cli.base.files import Writes, joined_files
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.settings import SettingOptions, VariantOptions
from hiero.cli.io.lines import format_of
from hiero.cli.options.common import AllThreads
from hiero.cli.options.training import DICTIONARY, MONO, SIDES, SOURCE, TARGET
from hiero.cli.system.data import HELD_OUT, TEST, TUNE, TUNING, SetFiles
from hiero.generators import convention_for
from hiero.text import TextProcessing
from hiero.train import TrainInputs, TrainSettings
from hiero.train.held_out import REST
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
# Parts of the bitext, one pair in so many, that are set aside for each set, and the greatest number of pairs.
_SHARES = {TUNE: (20, 1000), HELD_OUT: (40, 500), TEST: (20, 1000)}
_DRAWN = "(default: pairs that are set aside from the bitext)."


def _size_help(name: str) -> str:
    share, most = _SHARES[name]
    return f"(default: 1 in {share}, at most {most})."


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
    """Sets to tune on, to choose the final model by, and to test on, each from files or set aside from the
    bitext."""

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
            min=1,
            help=f"Number of pairs to set aside for the tuning set {_size_help(TUNE)}",
            rich_help_panel=_DATA,
        ),
    ] = None
    held_out_source: Annotated[
        Path | None,
        typer.Option(
            help="Source side of the held-out set, by which the final model is chosen (default: pairs that"
            " are set aside if those of the tuning set are).",
            rich_help_panel=_DATA,
        ),
    ] = None
    held_out_references: Annotated[
        list[Path] | None,
        typer.Option(help="References of the held-out set, one file or several.", rich_help_panel=_DATA),
    ] = None
    held_out_size: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of pairs to set aside for the held-out set; 0: the tuning set chooses"
            f" {_size_help(HELD_OUT)}",
            rich_help_panel=_DATA,
        ),
    ] = None
    test_source: Annotated[
        list[Path] | None,
        typer.Option(help=f"Source side of a test set; repeatable {_DRAWN}", rich_help_panel=_DATA),
    ] = None
    test_references: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE...",
            help="References of the test set, one file or several; of several test sets, for each its files"
            " joined by commas.",
            rich_help_panel=_DATA,
        ),
    ] = None
    test_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Number of pairs to set aside for the test set {_size_help(TEST)}",
            rich_help_panel=_DATA,
        ),
    ] = None

    def __post_init__(self) -> None:
        _check_set("tune", self.tune_source, self.tune_references, self.tune_size)
        _check_set("held-out", self.held_out_source, self.held_out_references, self.held_out_size)
        sources = self.test_source or []
        _check_set("test", sources[0] if sources else None, self.test_references, self.test_size)
        for source in sources:
            _check_format("test", source)
        if len(sources) > 1 and len(self.test_references or []) != len(sources):
            raise typer.BadParameter(
                f"--test-references: expected references for each of {len(sources)} test sets, those of one"
                f" set joined by commas; found {len(self.test_references or [])}"
            )

    def files(self) -> dict[str, SetFiles | None]:
        """Returns the files of the tuning set, of the held-out set if there is one, and of the test sets, by
        name; None for one that is set aside. Raises FormatError or OSError for files that cannot be read or
        do not fit together, and for two sets with the same source."""
        files = {TUNE: _set_files(self.tune_source, self.tune_references)}
        if self.held_out_source is not None or self._draws_held_out:
            files[HELD_OUT] = _set_files(self.held_out_source, self.held_out_references)
        files |= self._tests() or {TEST: None}
        for one in files.values():
            if one is not None:
                one.lines()
        check_different([one.source for one in files.values() if one is not None])
        return files

    def sizes(self, pairs: int) -> dict[str, int]:
        """Returns how many of the ``pairs`` of the bitext are set aside for each set without files."""
        asked = {TUNE: self.tune_size, HELD_OUT: self.held_out_size, TEST: self.test_size}
        is_drawn = {
            TUNE: self.tune_source is None,
            HELD_OUT: self._draws_held_out,
            TEST: not self.test_source,
        }
        sizes = {}
        for name, (share, most) in _SHARES.items():
            if is_drawn[name]:
                sizes[name] = asked[name] or min(most, max(1, pairs // share))
        return sizes

    @property
    def _draws_held_out(self) -> bool:
        """Whether a held-out set is set aside: where its size says so, else where the tuning set is."""
        if self.held_out_source is not None:
            return False
        return self.tune_source is None if self.held_out_size is None else self.held_out_size > 0

    def _tests(self) -> dict[str, SetFiles | None]:
        """Returns the files of the given test sets. A set is named after its source, without endings."""
        sources, references = self.test_source or [], self.test_references or []
        files: dict[str, SetFiles | None] = {}
        for k, source in enumerate(sources):
            paths = references if len(sources) == 1 else references[k : k + 1]
            files[_new_name(source, {TUNE, TUNING, HELD_OUT, REST, *files})] = SetFiles(
                source, [Path(name) for names in paths for name in joined_files(names)]
            )
        return files


def _check_set(name: str, source: Path | None, references: Sequence[object] | None, size: int | None) -> None:
    """Raises BadParameter for options of a set that do not go together."""
    if (source is None) != (not references):
        raise typer.BadParameter(f"a {name} set of one's own has --{name}-source and --{name}-references")
    if source is not None and size is not None:
        raise typer.BadParameter(f"--{name}-size is of a set from the bitext, not of --{name}-source")
    if source is not None:
        _check_format(name, source)


def _check_format(name: str, source: Path) -> None:
    """Raises BadParameter for a source that is neither text nor NIST's XML."""
    if format_of(source, None) not in ("text", "nist"):
        raise typer.BadParameter(f"--{name}-source: expected text or NIST's XML, not JSON")


def _set_files(source: Path | None, references: list[Path] | None) -> SetFiles | None:
    return None if source is None else SetFiles(source, references or [])


def _new_name(source: Path, taken: Collection[str]) -> str:
    """Returns the name of a file without endings, with a number if it is taken."""
    plain = Path(source.name.removesuffix(".gz").removesuffix(".xz")).stem or TEST
    return next(name for k in count(1) if (name := plain if k == 1 else f"{plain}-{k}") not in taken)


@dataclass(frozen=True, kw_only=True)
class SystemRules:
    """Rules that are made for each sentence, beside those of training."""

    numbers: Annotated[
        bool,
        typer.Option(
            "--numbers",
            help="Add rules for numbers, dates and times, by the languages of --tokenize.",
            rich_help_panel=_TRAINING,
        ),
    ] = False
    names: Annotated[
        Path | None,
        typer.Option(
            help="Add rules for a file of names, on each line a phrase, a tab and its translation.",
            rich_help_panel=_TRAINING,
        ),
    ] = None

    def options(self, text: TextProcessing) -> dict[str, Any]:
        """Returns the options of `hiero features`, none if there are no such rules."""
        options: dict[str, Any] = {}
        if self.numbers:
            languages = (convention_for(side.language) for side in (text.source, text.target))
            options["numbers"] = ":".join(languages)
        if self.names is not None:
            options["names"] = self.names
        return options


@dataclass(frozen=True, kw_only=True)
class SystemTuning:
    """The methods that choose weights, and their settings."""

    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD...",
            help=f"Methods that choose weights, see docs/tuning.md: {', '.join(METHODS)} (default: mert).",
            rich_help_panel=_TUNING,
        ),
    ] = None
    span_limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Source words that a rule may span in tuned systems (default: chosen on the tuning set).",
            rich_help_panel=_TUNING,
        ),
    ] = None
    settings: Annotated[OptionValues, VariantOptions(METHODS, group=_TUNING)]

    def __post_init__(self) -> None:
        for method in self.method or ():
            if method not in METHODS:
                raise typer.BadParameter(f"--method {method}: expected one of {', '.join(METHODS)}")
        chosen = {method: self._settings_of(method) for method in self.method or ["mert"]}
        known = {name for settings in chosen.values() for name in settings}
        for method, settings in chosen.items():
            # A setting that none of the methods has is an error of the first, but not in a file of options,
            # which serves for several runs.
            others = {
                name: value
                for name, value in self.settings.items()
                if name not in known and not is_from_file(name, value)
            }
            with usage(self.settings):
                TuneOptions(method, **settings, **others)
        if self.settings.get("search_aware") == "partial-span":
            raise typer.BadParameter(
                "--search-aware partial-span learns from word links of the tuning set, which hiero tune"
                " --alignments takes"
            )

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The settings of each method: those that were given and that it has, and the span limit."""
        limit = {} if self.span_limit is None else {"span_limit": self.span_limit}
        return {method: {**self._settings_of(method), **limit} for method in self.method or ["mert"]}

    def _settings_of(self, method: str) -> dict[str, Any]:
        names = type(METHODS[method]).model_fields
        return {name: value for name, value in self.settings.items() if name in names}


@dataclass(frozen=True, kw_only=True)
class SystemRun:
    """Options that all steps share, and the file with options."""

    seed: Annotated[int, typer.Option(min=0, max=(1 << 32) - 1, help="Seed of all random choices.")] = 1
    threads: AllThreads = None
    cluster: ClusterAddress = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only scores and warnings.")] = False
    config: Config = None

    @property
    def of_commands(self) -> dict[str, Any]:
        """The options of each command that takes long."""
        threads = self.threads or processors()
        return {"threads": threads, "cluster": self.cluster, "quiet": self.quiet}
