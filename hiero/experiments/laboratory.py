"""Where the systems of an experiment are tuned and tried."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hiero._core import FormatError
from hiero.base.directories import differing, run_directory
from hiero.base.files import write_atomically
from hiero.base.json_files import complaint, read_json
from hiero.base.settings import Settings
from hiero.decode.decoder import Decoder
from hiero.decode.settings import DecodingSettings
from hiero.evaluate import Bleu, EffectiveLength
from hiero.experiments.results import AnySystem, NamedSet, Outcome
from hiero.tune.iterations import HeldOut
from hiero.tune.loop import tune
from hiero.tune.options import TuneOptions
from hiero.tune.protocol import TuningDecoder

S = TypeVar("S", bound=AnySystem)

# What model and sets are, in the folder of all; and what a row is made with, in the folder of its runs.
_EXPERIMENT = "experiment.json"
_ROW = "row.json"


class ExperimentOptions(Settings):
    """Settings of an experiment with several systems."""

    runs: int = Field(3, ge=1, description="of each system, with other seeds")
    seed: int = Field(1, ge=0, description="of the first run")
    effective_length: EffectiveLength
    decoding: Mapping[str, Any] = Field({}, description="settings in place of the model's")

    def parts(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        """Options that are those of something else: their name, what they are of, and their values."""
        yield "decoding", DecodingSettings, self.decoding

    @model_validator(mode="after")
    def _known_parts(self) -> Self:
        for name, kind, values in self.parts():
            try:
                kind.model_validate(values)
            except ValidationError as error:
                raise ValueError(f"{name}: {complaint(error, kind)}") from None
        return self


Own = TypeVar("Own", bound=ExperimentOptions)


class _Row(BaseModel):
    """The record of what a row was begun with."""

    model_config = ConfigDict(extra="forbid", strict=True)

    options: dict[str, Any]


class _Translations(BaseModel):
    """A translated set as a file holds it, and the weights that translated it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]
    lines: list[str]


@dataclass(frozen=True)
class Trial:
    """How a system is tuned: what decodes the tuning set, its metric, the weights to start from, the options
    but for the seed; what translates the other sets; and the features whose weights are told."""

    tuning: TuningDecoder
    metric: Bleu
    start: Mapping[str, float]
    options: TuneOptions
    translating: Decoder
    free: Sequence[str]
    held_out: HeldOut | None = None


class Laboratory(ABC, Generic[S, Own]):
    """Tunes systems and translates with what came out; does nothing twice. Options may change as long as
    the rows have not begun that depend on them."""

    def __init__(
        self,
        sets: Sequence[NamedSet],
        folder: Path,
        options: Own,
        threads: int,
        report: Callable[[str], object],
    ) -> None:
        """``sets`` are translated with every run's weights."""
        self.sets = list(sets)
        self.folder = folder
        self.options = options
        self.threads = threads
        self.report = report

    @abstractmethod
    def trial(self, system: S) -> Trial:
        """How it is tuned."""

    @abstractmethod
    def unused(self, system: S) -> set[str]:
        """The names of options that do not change what comes out of it."""

    def check(self, system: S) -> None:
        """Raises ValueError, FormatError or OSError for what would end it once it is its turn."""
        self.trial(system)

    @contextmanager
    def opened(self, systems: Sequence[S], origin: Mapping[str, Any] | None) -> Iterator[None]:
        """The folder, made if need be, for the outcomes of these systems, all of which are looked at before.
        ``origin`` says what model and sets are.

        Raises what ``check`` raises, FormatError for a folder of another origin, and where systems have begun
        with other options; OSError where another process works there.
        """
        for system in systems:
            self.check(system)
        with run_directory(self.folder, _EXPERIMENT, {"origin": dict(origin or {})}):
            for system in systems:
                self._check_begun(system)
            yield

    def begun(self, system: S) -> Path:
        """The folder for the runs of a system, which from now on holds what it is made with."""
        folder = self.folder / system.slug
        folder.mkdir(exist_ok=True)
        if not (folder / _ROW).exists():
            write_atomically(folder / _ROW, json.dumps({"options": self._used(system)}, indent=1) + "\n")
        return folder

    def _used(self, system: S) -> dict[str, Any]:
        return dict(self.options.model_dump(mode="json", exclude=self.unused(system)))

    def _check_begun(self, system: S) -> None:
        folder = self.folder / system.slug
        if not (folder / _ROW).exists():
            return
        begun_with = read_json(folder / _ROW, _Row).options
        if others := list(differing(begun_with, json.loads(json.dumps(self._used(system))))):
            raise FormatError(
                f"{folder}: {system.name} has begun with other settings, see {_ROW}, {', '.join(others)};"
                " choose another directory for all, or remove this one to have the row run again"
            )

    def start(self, trial: Trial, run: int) -> Mapping[str, float]:
        """The weights that a run starts from, the first being 0."""
        return trial.start

    def bleu(self, one: NamedSet) -> Bleu:
        return Bleu(one.references, effective_length=self.options.effective_length)

    @cached_property
    def metrics(self) -> dict[str, Bleu]:
        """By the names of sets. Raises ValueError for a name of two."""
        found = {one.name: self.bleu(one) for one in self.sets}
        if len(found) < len(self.sets):
            raise ValueError("two sets have one name")
        return found

    def outcome(self, system: S) -> Outcome:
        """Runs are in the folder, in one of the system's name. Raises what ``hiero.tune.tune`` raises."""
        trial = self.trial(system)
        row = self.begun(system)
        folders = [row / f"run-{run + 1}" for run in range(self.options.runs)]
        results = []
        for run, folder in enumerate(folders):
            what = f"{system.name}, {folder.name}"
            results.append(
                tune(
                    trial.tuning,
                    trial.metric,
                    self.start(trial, run),
                    folder,
                    trial.options.with_seed(self.options.seed + run),
                    held_out=trial.held_out,
                    threads=self.threads,
                    report=lambda line, what=what: self.report(f"{what}: {line}"),  # type: ignore[misc]
                )
            )
        pairs = list(zip(folders, results, strict=True))
        return Outcome(
            [{name: result.weights[name] for name in trial.free} for result in results],
            [result.iterations[result.best].score for result in results],
            [len(result.iterations) - 1 for result in results],
            [sum(iteration.decoding for iteration in result.iterations) for result in results],
            [sum(iteration.choosing for iteration in result.iterations) for result in results],
            {
                one.name: np.array(
                    [
                        self.metrics[one.name].statistics(
                            self.translated(trial.translating, one, result.weights, folder)
                        )
                        for folder, result in pairs
                    ]
                )
                for one in self.sets
            },
        )

    def translated(
        self, decoder: Decoder, one: NamedSet, weights: Mapping[str, float], run: Path, how: str = ""
    ) -> list[str]:
        """Lines of tokens; ``how`` tells decoders apart that are not the trial's."""

        def made() -> list[str]:
            vector = decoder.model.weight_vector(weights)
            results = decoder.with_weights(vector).translate_batch(one.sentences, threads=self.threads)
            return [" ".join(result.tokens) for result in results]

        return self.lines(run, f"{one.name}{how}", weights, made)

    def lines(
        self, run: Path, name: str, weights: Mapping[str, float], made: Callable[[], list[str]]
    ) -> list[str]:
        """Translates with weights, once: the lines are kept by a name beside the run."""
        path = run.with_name(f"{run.name}.{name}.json")
        if path.exists() and (found := read_json(path, _Translations)).weights == weights:
            return found.lines
        kept = _Translations(weights=dict(weights), lines=made())
        write_atomically(path, kept.model_dump_json(indent=0) + "\n")
        return kept.lines
