"""`hiero experiment`: what the papers measured, on one's own model and sets."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hiero import FormatError, Model
from hiero.base.files import sha256
from hiero.base.json_files import complaint
from hiero.cli.arguments import Threads, add_command, new_app
from hiero.cli.files import Writes, on_interrupt
from hiero.cli.loading import Load, load_model
from hiero.cli.sets import (
    Set,
    Tokens,
    fingerprint,
    model_fingerprint,
    read_alignments,
    read_files,
    read_set,
)
from hiero.cli.settings import SettingOptions
from hiero.experiments.cettolo2004 import Cettolo2004Options, LabelledSet, plot, table
from hiero.experiments.cettolo2004 import cettolo2004 as run
from hiero.experiments.chiang2008 import chiang2008 as run_chiang2008
from hiero.experiments.chiang2008_systems import Chiang2008Options
from hiero.experiments.li2009 import li2009 as run_li2009
from hiero.experiments.li2009_laboratory import Trained
from hiero.experiments.li2009_systems import Li2009Options
from hiero.experiments.results import TABLES, NamedSet
from hiero.experiments.zhai2015 import zhai2015 as run_zhai2015
from hiero.experiments.zhai2015_laboratory import TuningSet
from hiero.experiments.zhai2015_systems import Zhai2015Options
from hiero.train import TrainInputs

Configuration = Annotated[Path, typer.Argument(help="What is tuned and tested, see docs/experiments.md.")]
Runs = Annotated[Path, Writes(), typer.Option("-o", "--output", help="Directory for tables, figures, runs.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Only the tables.")]

C = TypeVar("C", bound=BaseModel)

app = new_app(help="What the papers measured, on one's own model and sets.")
command = partial(add_command, app)


@command
def cettolo2004(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    source: Annotated[Path, typer.Option(help="Tuning set: text, or NIST's .xml or .sgm.")],
    references: Annotated[list[Path], typer.Option(help="Its references, likewise.")],
    test_source: Annotated[Path, typer.Option(help="Test set, likewise.")],
    test_references: Annotated[list[Path], typer.Option(help="Of that set.")],
    output: Annotated[
        Path,
        Writes(),
        typer.Option("-o", "--output", help="Directory for tables, figures, decodings."),
    ],
    options: Annotated[Cettolo2004Options, SettingOptions(Cettolo2004Options, without=("scales",))],
    tokens: Tokens = False,
    load: Load = None,
    threads: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """Minimum error training by the simplex against uniform weights: Tables 3 and 4, Figures 1 and 2.

    Started again in the same directory, it goes on where it was interrupted.
    """
    loaded = load_model(model, load)
    tuning, test = (
        read_set(source, references, tokens, loaded),
        read_set(test_source, test_references, tokens, loaded),
    )
    with on_interrupt(f"run it again to go on; {output} has the decodings that are done"):
        result = run(
            loaded,
            LabelledSet(*tuning),
            LabelledSet(*test),
            output,
            options,
            threads=threads,
            origin={
                "sets": fingerprint(tuning, test),
                "model": model_fingerprint(model),
                "weights": loaded.weights,
            },
            report=_reporter(quiet),
        )
    print(table(result), end="")
    if importlib.util.find_spec("matplotlib") is not None:
        plot(result, output)


class _SetFiles(BaseModel):
    """A set in a configuration; the name of one to test on is that of its source where it is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Path
    references: list[Path] = Field(min_length=1)
    parses: Path | None = None
    # Part of the names of files.
    name: str = Field("", pattern=r"^[^/]*$")

    def read(self, folder: Path, tokens: bool, model: Model) -> tuple[NamedSet, Set]:
        """Raises FormatError, also for a sentence without a tree where there are some."""
        source, references = folder / self.source, [folder / path for path in self.references]
        parses = None if self.parses is None else folder / self.parses
        found = read_set(source, references, tokens, model, parses=parses)
        if parses is not None:
            for number, sentence in enumerate(found[0], start=1):
                if sentence.parse is None and not sentence.is_blank:
                    raise FormatError(f"{parses}:{number}: no tree")
        genres = read_files(source, references)[1].genres()
        return NamedSet(self.name or self.source.stem, *found, genres), found


class _HasModel(Protocol):
    """The part of a configuration that says for which model its sets are read."""

    @property
    def model(self) -> Path: ...
    @property
    def tokens(self) -> bool: ...


def _loaded(
    chosen: _HasModel, folder: Path, files: Sequence[_SetFiles], load: Sequence[str] | None
) -> tuple[Model, Sequence[NamedSet], Sequence[Set], dict[str, Any]]:
    """The model, the sets, these as ``read_set`` has them, and what an experiment is to remember of both.
    Raises FormatError, OSError."""
    model = load_model(folder / chosen.model, load)
    sets, read = zip(*(each.read(folder, chosen.tokens, model) for each in files), strict=True)
    fingerprints = {"sets": fingerprint(*read), "model": model_fingerprint(folder / chosen.model)}
    return model, sets, read, {**fingerprints, "weights": model.weights}


class _AlignedFiles(_SetFiles):
    """A set to tune on, with files of word links, one for each reference."""

    alignments: list[Path] = []


class _Zhai2015File(Zhai2015Options):
    """A configuration; files are relative to it."""

    model: Path
    tokens: bool = False
    tuning: _AlignedFiles
    test: list[_SetFiles] = Field(min_length=1)


@command
def zhai2015(
    *,
    configuration: Configuration,
    output: Runs,
    load: Load = None,
    threads: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """Search-aware MERT, batch MIRA and PRO against plain ones: Tables 1 to 6, Figures 4 and 5.

    Started again in the same directory, it goes on where it was interrupted.
    """
    chosen, folder = _configuration(configuration, _Zhai2015File), configuration.parent
    model, sets, read, origin = _loaded(chosen, folder, (chosen.tuning, *chosen.test), load)
    paths = [folder / path for path in chosen.tuning.alignments]
    links = read_alignments(paths, read[0], model) if paths else None
    with _runs_of(output):
        run_zhai2015(
            model,
            TuningSet(_in_tokens(sets[0], model), links),
            sets[1:],
            output,
            Zhai2015Options.model_validate(chosen.model_dump(include=set(Zhai2015Options.model_fields))),
            threads=threads,
            origin={**origin, "alignments": [sha256(path) for path in paths]},
            report=_reporter(quiet),
        )


class _BitextFiles(BaseModel):
    """The files that the model was trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Path
    target: Path
    dictionary: tuple[Path, Path] | None = None
    mono: list[Path] = []
    alignment: Path | None = None

    def inputs(self, folder: Path) -> TrainInputs:
        def at(path: Path) -> Path:
            return folder / path

        pair = self.dictionary
        return TrainInputs(
            at(self.source),
            at(self.target),
            pair and (at(pair[0]), at(pair[1])),
            list(map(at, self.mono)),
            self.alignment and at(self.alignment),
        )


class _Li2009File(Li2009Options):
    """A configuration; files are relative to it."""

    model: Path
    tokens: bool = False
    tuning: _SetFiles
    test: list[_SetFiles] = Field(min_length=1)
    bitext: _BitextFiles | None = None


@command
def li2009(
    *,
    configuration: Configuration,
    output: Runs,
    load: Load = None,
    threads: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """Minimum risk on lists and forests, with annealing and with many features, against MERT: Table 5.

    Started again in the same directory, it goes on where it was interrupted.
    """
    chosen, folder = _configuration(configuration, _Li2009File), configuration.parent
    model, sets, _, origin = _loaded(chosen, folder, (chosen.tuning, *chosen.test), load)
    trained = None
    if chosen.bitext is not None:
        trained = Trained(folder / chosen.model, chosen.bitext.inputs(folder))
    with _runs_of(output):
        run_li2009(
            model,
            sets[0],
            sets[1:],
            output,
            Li2009Options.model_validate(chosen.model_dump(include=set(Li2009Options.model_fields))),
            trained=trained,
            threads=threads,
            origin=origin,
            report=_reporter(quiet),
        )


def _in_tokens(own: NamedSet, model: Model) -> NamedSet:
    return replace(own, sentences=[sentence.in_tokens(model.text.source) for sentence in own.sentences])


class _Chiang2008File(Chiang2008Options):
    """A configuration; files are relative to it."""

    model: Path
    tokens: bool = False
    tuning: _SetFiles
    held_out: _SetFiles | None = None
    test: list[_SetFiles]


@command
def chiang2008(
    *,
    configuration: Configuration,
    output: Runs,
    load: Load = None,
    threads: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """MERT and online MIRA with soft syntax and structural distortion: Tables 1 and 2, Figure 1.

    Started again in the same directory, it goes on where it was interrupted.
    """
    given = read_chiang2008(configuration, load)
    with _runs_of(output):
        run_chiang2008(
            given.model,
            given.tuning,
            given.held_out,
            given.tests,
            output,
            given.options,
            threads=threads,
            origin=given.origin,
            report=_reporter(quiet),
        )


@dataclass(frozen=True)
class GivenChiang2008:
    """The parts that a configuration names; ``origin`` describes model and sets for the record."""

    model: Model
    tuning: NamedSet
    held_out: NamedSet | None
    tests: Sequence[NamedSet]
    options: Chiang2008Options
    origin: Mapping[str, Any]


def read_chiang2008(path: Path, load: Sequence[str] | None = None) -> GivenChiang2008:
    """Raises FormatError, OSError."""
    chosen, folder = _configuration(path, _Chiang2008File), path.parent
    files = [chosen.tuning, *([chosen.held_out] if chosen.held_out else []), *chosen.test]
    model, sets, _, origin = _loaded(chosen, folder, files, load)
    return GivenChiang2008(
        model,
        sets[0],
        sets[1] if chosen.held_out else None,
        sets[2 if chosen.held_out else 1 :],
        Chiang2008Options.model_validate(chosen.model_dump(include=set(Chiang2008Options.model_fields))),
        origin,
    )


def _reporter(quiet: bool) -> Callable[[str], object]:
    return (lambda _: None) if quiet else (lambda line: print(line, flush=True))


@contextmanager
def _runs_of(output: Path) -> Iterator[None]:
    """An experiment, which writes tables: shows them at its end, and says what an interrupt leaves."""
    with on_interrupt(f"run it again to go on; {output} has the runs that are done"):
        yield
    print((output / TABLES).read_text(encoding="utf-8"), end="")


def _configuration(path: Path, kind: type[C]) -> C:
    """Raises FormatError, OSError."""
    try:
        return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from None
    except ValidationError as error:
        raise FormatError(f"{path}: {complaint(error, kind)}") from None
