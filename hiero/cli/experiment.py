"""`hiero experiment`: experiments of papers on one's own model and sets."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hiero import FormatError, Model
from hiero.base.files import sha256
from hiero.base.json_files import validation_message
from hiero.cli.base.cluster import on_cluster
from hiero.cli.base.commands import add_command, new_app
from hiero.cli.base.files import Writes, on_interrupt
from hiero.cli.base.loading import load_model
from hiero.cli.base.settings import SettingOptions
from hiero.cli.io.sets import (
    Set,
    fingerprint,
    model_fingerprint,
    read_alignments,
    read_files,
    read_set,
)
from hiero.cli.options.common import Load, Tokens, Work
from hiero.cli.options.experiments import ExperimentSets
from hiero.experiments import cettolo2004 as cettolo
from hiero.experiments.chiang2008 import Chiang2008, Chiang2008Options
from hiero.experiments.laboratory import ExperimentOptions, Laboratory
from hiero.experiments.li2009 import Li2009, Li2009Options, TrainedModel
from hiero.experiments.report import TABLES
from hiero.experiments.systems import LabelledSet
from hiero.experiments.zhai2015 import Zhai2015, Zhai2015Options
from hiero.train import TrainInputs

Configuration = Annotated[
    Path, typer.Argument(help="TOML file with model, sets and settings; see docs/experiments.md.")
]
Output = Annotated[
    Path, Writes(), typer.Option("-o", "--output", help="Directory for tables, figures and runs.")
]

C = TypeVar("C", bound=BaseModel)

app = new_app(help="Experiments of papers on one's own model and sets.")
command = partial(add_command, app)


@command
def cettolo2004(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    sets: ExperimentSets,
    output: Output,
    options: Annotated[
        cettolo.Cettolo2004Options,
        SettingOptions(
            cettolo.Cettolo2004Options, without=("scales", "runs", "effective_length", "decoding")
        ),
    ],
    tokens: Tokens = False,
    load: Load = None,
    work: Work,
) -> None:
    """Compares minimum error training by the simplex with uniform weights: Tables 3 and 4, Figures 1 and 2.

    Started again in the same directory, it goes on where it was interrupted.
    """
    loaded = load_model(model, load)
    tuning, test = sets.read(tokens, loaded)
    laboratory = cettolo.Cettolo2004(
        model=loaded,
        tuning=LabelledSet(sets.source.name, *tuning),
        tests=[LabelledSet(sets.test_source.name, *test)],
        options=options,
        origin=_origin(model, loaded, [tuning, test]),
        **_arguments(output, work),
    )
    _run(laboratory, work.cluster, cettolo.TABLE)


class _SetFiles(BaseModel):
    """The files of a set. Without a name it has that of its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Path
    references: list[Path] = Field(min_length=1)
    parses: Path | None = None
    # Part of the names of files.
    name: str = Field("", pattern=r"^[^/]*$")

    def read(self, folder: Path, tokens: bool, model: Model) -> tuple[LabelledSet, Set]:
        """Reads the set. Raises FormatError, also for a sentence without a tree where there are some."""
        source, references = folder / self.source, [folder / path for path in self.references]
        parses = None if self.parses is None else folder / self.parses
        pair = read_set(source, references, tokens, model, parses=parses)
        if parses is not None:
            for number, sentence in enumerate(pair[0], start=1):
                if sentence.parse is None and not sentence.is_blank:
                    raise FormatError(f"{parses}:{number}: no tree")
        genres = read_files(source, references)[1].genres()
        links = self.links(folder, pair, model)
        return LabelledSet(self.name or self.source.stem, *pair, genres, links), pair

    def links(self, folder: Path, pair: Set, model: Model) -> list[list[list[tuple[int, int]]]] | None:
        """Reads the word links of the set, where there are some. Raises FormatError or OSError."""
        return None


class _AlignedFiles(_SetFiles):
    """The files of a tuning set, with one file of word links for each reference."""

    alignments: list[Path] = []

    def links(self, folder: Path, pair: Set, model: Model) -> list[list[list[tuple[int, int]]]] | None:
        paths = [folder / path for path in self.alignments]
        return read_alignments(paths, pair, model) if paths else None


class _BitextFiles(BaseModel):
    """The files that the model was trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Path
    target: Path
    dictionary: tuple[Path, Path] | None = None
    mono: list[Path] = []
    alignment: Path | None = None

    def inputs(self, folder: Path) -> TrainInputs:
        return TrainInputs(
            folder / self.source,
            folder / self.target,
            self.dictionary and (folder / self.dictionary[0], folder / self.dictionary[1]),
            [folder / path for path in self.mono],
            self.alignment and folder / self.alignment,
        )


class _Zhai2015File(Zhai2015Options):
    model: Path
    tokens: bool = False
    tuning: _AlignedFiles
    test: list[_SetFiles] = Field(min_length=1)


class _Li2009File(Li2009Options):
    model: Path
    tokens: bool = False
    tuning: _SetFiles
    test: list[_SetFiles] = Field(min_length=1)
    bitext: _BitextFiles | None = None


class _Chiang2008File(Chiang2008Options):
    model: Path
    tokens: bool = False
    tuning: _SetFiles
    held_out: _SetFiles | None = None
    test: list[_SetFiles]


@command
def zhai2015(
    *,
    configuration: Configuration,
    output: Output,
    load: Load = None,
    work: Work,
) -> None:
    """Compares search-aware MERT, batch MIRA and PRO with plain ones: Tables 1 to 5, Figures 4 and 5.

    Started again in the same directory, it goes on where it was interrupted.
    """
    _run(read_zhai2015(configuration, load, **_arguments(output, work)), work.cluster)


@command
def li2009(
    *,
    configuration: Configuration,
    output: Output,
    load: Load = None,
    work: Work,
) -> None:
    """Compares minimum risk on lists and forests, annealed and with many features, with MERT: Table 5.

    Started again in the same directory, it goes on where it was interrupted.
    """
    _run(read_li2009(configuration, load, **_arguments(output, work)), work.cluster)


@command
def chiang2008(
    *,
    configuration: Configuration,
    output: Output,
    load: Load = None,
    work: Work,
) -> None:
    """Compares MERT and online MIRA with soft syntax and distortion: Tables 1 and 2, Figure 1.

    Started again in the same directory, it goes on where it was interrupted.
    """
    _run(read_chiang2008(configuration, load, **_arguments(output, work)), work.cluster)


def read_zhai2015(path: Path, load: Sequence[str] | None = None, **more: Any) -> Zhai2015:
    """Reads the configuration of an experiment. ``more`` are arguments of the laboratory: folder, threads,
    progress. Raises FormatError or OSError."""
    chosen, folder = _read(path, _Zhai2015File), path.parent
    (tuning, *tests), common = _common(chosen, Zhai2015Options, folder, [chosen.tuning, *chosen.test], load)
    links = [sha256(folder / file) for file in chosen.tuning.alignments]
    common["origin"] = {**common["origin"], "alignments": links}
    return Zhai2015(tuning=tuning, tests=tests, **common, **more)


def read_li2009(path: Path, load: Sequence[str] | None = None, **more: Any) -> Li2009:
    """Reads the configuration of an experiment. ``more`` are arguments of the laboratory: folder, threads,
    progress. Raises FormatError or OSError."""
    chosen, folder = _read(path, _Li2009File), path.parent
    (tuning, *tests), common = _common(chosen, Li2009Options, folder, [chosen.tuning, *chosen.test], load)
    bitext = chosen.bitext
    trained = None if bitext is None else TrainedModel(folder / chosen.model, bitext.inputs(folder))
    return Li2009(tuning=tuning, tests=tests, trained=trained, **common, **more)


def read_chiang2008(path: Path, load: Sequence[str] | None = None, **more: Any) -> Chiang2008:
    """Reads the configuration of an experiment. ``more`` are arguments of the laboratory: folder, threads,
    progress, added features. Raises FormatError or OSError."""
    chosen, folder = _read(path, _Chiang2008File), path.parent
    files = [chosen.tuning, *([chosen.held_out] if chosen.held_out else []), *chosen.test]
    (tuning, *tests), common = _common(chosen, Chiang2008Options, folder, files, load)
    held_out = tests.pop(0) if chosen.held_out else None
    return Chiang2008(tuning=tuning, held_out=held_out, tests=tests, **common, **more)


def _read(path: Path, kind: type[C]) -> C:
    """Reads a configuration. Raises FormatError or OSError."""
    try:
        return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from None
    except ValidationError as error:
        raise FormatError(f"{path}: {validation_message(error, kind)}") from None


class _HasModel(Protocol):
    """A configuration with a model directory, and whether sets are in tokens."""

    @property
    def model(self) -> Path: ...
    @property
    def tokens(self) -> bool: ...
    def model_dump(self, *, include: set[str]) -> dict[str, Any]: ...


def _common(
    chosen: _HasModel,
    options: type[ExperimentOptions],
    folder: Path,
    files: Sequence[_SetFiles],
    load: Sequence[str] | None,
) -> tuple[list[LabelledSet], dict[str, Any]]:
    """Reads sets and model. Returns the sets, and arguments of all laboratories: model, options, origin.
    Raises FormatError or OSError."""
    model = load_model(folder / chosen.model, load)
    sets, pairs = zip(*(each.read(folder, chosen.tokens, model) for each in files), strict=True)
    settings = options.model_validate(chosen.model_dump(include=set(options.model_fields)))
    origin = _origin(folder / chosen.model, model, pairs)
    return list(sets), {"model": model, "options": settings, "origin": origin}


def _origin(directory: Path, model: Model, sets: Sequence[Set]) -> dict[str, Any]:
    """Returns what identifies a model and sets, by which an experiment that is taken up again knows them."""
    checksums = {"sets": fingerprint(*sets), "model": model_fingerprint(directory)}
    decoding = model.settings.model_dump(mode="json", exclude={"confidence_temperature"})
    return {**checksums, "decoding": decoding, "weights": model.weights}


def _arguments(output: Path, work: Work) -> dict[str, Any]:
    """Returns arguments of all laboratories: folder, threads, progress."""

    def progress(line: str) -> None:
        if not work.quiet:
            print(line, flush=True)

    return {"folder": output, "threads": work.threads, "progress": progress}


def _run(laboratory: Laboratory[Any], cluster: str | None, tables: str = TABLES) -> None:
    """Runs an experiment and prints its tables."""
    note = f"run it again to go on; {laboratory.folder} has the runs that are done"
    with on_cluster(cluster), on_interrupt(note):
        laboratory.run()
    print((laboratory.folder / tables).read_text(encoding="utf-8"), end="")
