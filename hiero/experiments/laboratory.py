"""The laboratory: tunes the systems of an experiment several times, and translates its sets with each.

A paper's experiment is a subclass of ``Laboratory`` that lists its systems, says how each is tuned, and
writes its tables from the results. All that is computed is kept in a folder::

    experiment.json            the model and the sets
    SYSTEM/row.json            the options on which the system's results depend
    SYSTEM/run-1/              a run of ``hiero.tune.tune``
    SYSTEM/run-1.SET.json      a set translated with the weights of that run
    tables.md, scores.csv      the report

``run`` in such a folder goes on where it was interrupted.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hiero._core import FormatError
from hiero.base.directories import changed_settings, run_directory
from hiero.base.files import write_atomically
from hiero.base.json_files import read_json, validation_message
from hiero.base.settings import Settings
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.decode.settings import DecodingSettings
from hiero.evaluate import Bleu, EffectiveLength, Metric
from hiero.experiments.systems import LabelledSet, Outcome, Results, System
from hiero.tune import METHODS
from hiero.tune.run.iterations import HeldOut
from hiero.tune.run.loop import tune
from hiero.tune.run.model_decoder import ModelDecoder
from hiero.tune.run.options import TuneOptions
from hiero.tune.run.protocol import Array
from hiero.tune.run.results import TuneResult

_EXPERIMENT, _ROW = "experiment.json", "row.json"


class ExperimentOptions(Settings):
    """Settings that all experiments have."""

    runs: int = Field(3, ge=1, description="runs of each system, with other seeds")
    seed: int = Field(1, ge=0, description="seed of the first run")
    effective_length: EffectiveLength
    decoding: Mapping[str, Any] = Field({}, description="decoding settings in place of the model's")

    # The tuning methods by the options that hold their settings.
    methods: ClassVar[Mapping[str, str]] = {}

    def sections(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        """Yields the options that hold settings of a method or of decoding: name, type, and values."""
        yield "decoding", DecodingSettings, self.decoding
        for name, method in self.methods.items():
            yield name, type(METHODS[method]), getattr(self, name)

    @model_validator(mode="after")
    def _check_sections(self) -> Self:
        for name, kind, values in self.sections():
            try:
                kind.model_validate(values)
            except ValidationError as error:
                raise ValueError(f"{name}: {validation_message(error, kind)}") from None
        return self


O = TypeVar("O", bound=ExperimentOptions)  # noqa: E741


class Stored(BaseModel):
    """The file of a result: the weights that it was computed with, and in subclasses the result."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]


R = TypeVar("R", bound=Stored)


class Translations(Stored):
    """A translated set: lines of tokens."""

    lines: list[str]


def stored(
    path: Path, weights: Mapping[str, float], kind: type[R], compute: Callable[[], Mapping[str, Any]]
) -> R:
    """Reads a result from its file, or computes and writes it where there is none for these weights.
    Raises FormatError for a damaged file."""
    if path.exists() and (result := read_json(path, kind)).weights == weights:
        return result
    result = kind(weights=dict(weights), **compute())
    write_atomically(path, result.model_dump_json(indent=0) + "\n")
    return result


class _Row(BaseModel):
    """The file with the options on which a system's results depend."""

    model_config = ConfigDict(extra="forbid", strict=True)

    options: dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """The parts of a system's tuning and test.

    ``decoder`` translates the sets, and the tuning set too unless there is another ``tuning_decoder``.
    ``options`` lack the seed. The rest has defaults: the laboratory's tuning set and BLEU of it, the model's
    weights to start from, all of which are tuned and reported, and no held-out set to choose an iteration by.
    """

    decoder: Decoder
    options: TuneOptions
    tuning: LabelledSet | None = None
    tuning_decoder: Decoder | None = None
    metric: Metric | None = None
    weights: Mapping[str, float] | None = None
    tuned: Sequence[str] | None = None
    held_out: HeldOut | None = None

    @property
    def start(self) -> Mapping[str, float]:
        """The weights to start from, for all features."""
        if self.weights is not None:
            return self.weights
        model = self.decoder.model
        return {name: model.weights.get(name, 0.0) for name in model.feature_names}


@dataclass(kw_only=True, eq=False)
class Laboratory(ABC, Generic[O]):
    """An experiment with its model, sets and options, in a folder.

    ``origin`` identifies model and sets: a folder of another origin is refused. ``progress`` gets lines
    that tell how far it is. Between two calls of ``run``, options may change on which no system depends that
    has begun.
    """

    model: Model
    tuning: LabelledSet
    tests: Sequence[LabelledSet]
    folder: Path
    options: O
    origin: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    progress: Callable[[str], object] = lambda _: None

    # Options on which the results of all systems depend.
    shared_options: ClassVar[tuple[str, ...]] = ("runs", "seed", "effective_length", "decoding")

    @abstractmethod
    def systems(self) -> Sequence[System]:
        """Returns all systems that are to be tuned, in order."""

    @abstractmethod
    def trial(self, system: System) -> Trial:
        """Returns how a system is tuned. Raises ValueError, FormatError or OSError where it cannot be."""

    @abstractmethod
    def write(self, results: Results) -> None:
        """Writes tables and figures into the folder."""

    def check(self) -> None:
        """Raises ValueError or FormatError for sets or options that do not fit the experiment."""

    def check_system(self, system: System) -> None:
        """Raises ValueError, FormatError or OSError for what would stop this system when its turn comes."""
        self.trial(system)

    @property
    def sets(self) -> Sequence[LabelledSet]:
        """The sets that are translated with the weights of every run."""
        return self.tests

    @cached_property
    def metrics(self) -> dict[str, Bleu]:
        """The metrics of the sets by their names. Raises ValueError for two sets of one name."""
        metrics = {one.name: self.bleu(one) for one in self.sets}
        if len(metrics) < len(self.sets):
            raise ValueError("two sets have one name")
        return metrics

    def bleu(self, one: LabelledSet) -> Bleu:
        """Returns the metric of a set."""
        return Bleu(one.references, effective_length=self.options.effective_length)

    def run(self) -> Results:
        """Tunes and tests all systems, except for what an earlier call has done, and writes the report.

        Raises what ``check`` and ``check_system`` raise, before anything is tuned; FormatError for a folder
        of another origin, or one where a system has begun with other options; OSError where another process
        works in the folder; and what ``hiero.tune.tune`` raises.
        """
        metrics = self.metrics
        self.check()
        systems = self.systems()
        for system in systems:
            self.check_system(system)
        with run_directory(self.folder, _EXPERIMENT, {"origin": dict(self.origin)}):
            for system in systems:
                self._check_begun(system)
            results = Results({system: self.outcome(system) for system in systems}, self.sets, metrics)
            self.write(results)
        return results

    def run_folder(self, system: System, run: int) -> Path:
        """Returns the folder of a run, the first being 0."""
        return self.folder / system.slug / f"run-{run + 1}"

    def begin(self, system: System) -> None:
        """Makes the folder of a system, with a record of the options on which its results depend."""
        folder = self.folder / system.slug
        folder.mkdir(parents=True, exist_ok=True)
        if not _has_begun(folder):
            write_atomically(folder / _ROW, json.dumps({"options": self._relevant(system)}, indent=1) + "\n")

    def _relevant(self, system: System) -> dict[str, Any]:
        return self.options.model_dump(mode="json", include={*self.shared_options, *system.options})

    def _check_begun(self, system: System) -> None:
        folder = self.folder / system.slug
        if not _has_begun(folder):
            return
        before = read_json(folder / _ROW, _Row).options
        if changed := list(changed_settings(before, json.loads(json.dumps(self._relevant(system))))):
            raise FormatError(
                f"{folder}: {system.name} has begun with other settings, see {_ROW}, {', '.join(changed)};"
                " choose another directory for all, or remove this one to have the row run again"
            )

    def outcome(self, system: System) -> Outcome:
        """Tunes and tests a system. Raises what ``hiero.tune.tune`` raises."""
        trial = self.trial(system)
        names = trial.start if trial.tuned is None else trial.tuned
        self.begin(system)
        runs = {
            self.run_folder(system, run): self._tuned(system, trial, run) for run in range(self.options.runs)
        }
        return Outcome(
            [{name: result.weights[name] for name in names} for result in runs.values()],
            [result.iterations[result.best].score for result in runs.values()],
            [len(result.iterations) - 1 for result in runs.values()],
            {
                one.name: np.array(
                    [self.statistics(trial.decoder, one, result.weights, run) for run, result in runs.items()]
                )
                for one in self.sets
            },
        )

    def _tuned(self, system: System, trial: Trial, run: int) -> TuneResult:
        folder, tuning = self.run_folder(system, run), trial.tuning or self.tuning

        def progress(line: str) -> None:
            self.progress(f"{system.name}, {folder.name}: {line}")

        result = tune(
            ModelDecoder(trial.tuning_decoder or trial.decoder, tuning.sentences, self.threads),
            trial.metric or self.bleu(tuning),
            self.start(trial, run),
            folder,
            trial.options.with_seed(self.options.seed + run),
            held_out=trial.held_out,
            threads=self.threads,
            report=progress,
        )
        progress(result.reason)
        return result

    def start(self, trial: Trial, run: int) -> Mapping[str, float]:
        """Returns the weights that a run starts from, the first being 0."""
        return trial.start

    def statistics(
        self, decoder: Decoder, one: LabelledSet, weights: Mapping[str, float], run: Path, suffix: str = ""
    ) -> Array:
        """Returns BLEU's statistics of what ``translated`` returns, float64 (segments, 10)."""
        return self.metrics[one.name].statistics(self.translated(decoder, one, weights, run, suffix))

    def translated(
        self, decoder: Decoder, one: LabelledSet, weights: Mapping[str, float], run: Path, suffix: str = ""
    ) -> list[str]:
        """Translates a set with the weights of a run into lines of tokens.

        ``suffix`` tells translations by another decoder than the trial's apart.
        """

        def translate() -> list[str]:
            vector = decoder.model.weight_vector(weights)
            results = decoder.with_weights(vector).translate_batch(one.sentences, threads=self.threads)
            return [" ".join(result.tokens) for result in results]

        return self.lines(run, f"{one.name}{suffix}", weights, translate)

    def lines(
        self, run: Path, name: str, weights: Mapping[str, float], translate: Callable[[], list[str]]
    ) -> list[str]:
        """Returns lines of tokens, which are kept beside the folder of the run under this name."""
        path = run.with_name(f"{run.name}.{name}.json")
        return stored(path, weights, Translations, lambda: {"lines": translate()}).lines


def _has_begun(folder: Path) -> bool:
    """Tells whether anything is kept in the folder of a system that its options have changed."""
    return (folder / _ROW).exists() and any(path.name != _ROW for path in folder.iterdir())
