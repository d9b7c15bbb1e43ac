"""Where the systems of an experiment are tuned and tried."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.decode.decoder import Decoder
from hiero.evaluate import Bleu, EffectiveLength
from hiero.experiments.results import AnySystem, NamedSet, Outcome
from hiero.tune.iterations import HeldOut
from hiero.tune.loop import tune
from hiero.tune.options import TuneOptions
from hiero.tune.protocol import TuningDecoder

S = TypeVar("S", bound=AnySystem)


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


class Laboratory(ABC, Generic[S]):
    """Tunes systems and translates with what came out; does nothing twice."""

    def __init__(
        self,
        sets: Sequence[NamedSet],
        folder: Path,
        *,
        runs: int,
        seed: int,
        effective_length: EffectiveLength,
        threads: int,
        report: Callable[[str], object],
    ) -> None:
        """``sets`` are translated with every run's weights."""
        self.sets = list(sets)
        self.folder = folder
        self.runs = runs
        self.seed = seed
        self.effective_length: EffectiveLength = effective_length
        self.threads = threads
        self.report = report

    @abstractmethod
    def trial(self, system: S) -> Trial:
        """How it is tuned."""

    @cached_property
    def metrics(self) -> dict[str, Bleu]:
        """By the names of sets. Raises ValueError for a name of two."""
        found = {one.name: Bleu(one.references, effective_length=self.effective_length) for one in self.sets}
        if len(found) < len(self.sets):
            raise ValueError("two sets have one name")
        return found

    def outcome(self, system: S) -> Outcome:
        """Runs are in the folder, in one of the system's name. Raises what ``hiero.tune.tune`` raises."""
        trial = self.trial(system)
        folders = [self.folder / system.slug / f"run-{run + 1}" for run in range(self.runs)]
        results = []
        for run, folder in enumerate(folders):
            folder.parent.mkdir(exist_ok=True)
            what = f"{system.name}, {folder.name}"
            results.append(
                tune(
                    trial.tuning,
                    trial.metric,
                    trial.start,
                    folder,
                    trial.options.with_seed(self.seed + run),
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
        path = run.with_name(f"{run.name}.{one.name}{how}.json")
        if path.exists() and (found := read_json(path, _Translations)).weights == weights:
            return found.lines
        results = decoder.with_weights(weights).translate_batch(one.sentences, threads=self.threads)
        made = _Translations(weights=dict(weights), lines=[" ".join(result.tokens) for result in results])
        write_atomically(path, made.model_dump_json(indent=0) + "\n")
        return made.lines
