"""The iterations of a tuning run: each decodes with weights and leaves a folder, which appears when it is
whole, with the weights, what was new and the scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero._core import Chart, FeatureNames, Forest, FormatError
from hiero.base.directories import publish
from hiero.base.files import temporary_name, write_atomically
from hiero.base.json_files import read_json
from hiero.base.progress import Report
from hiero.base.weights import read_weights, write_weights
from hiero.evaluate.metrics import Metric
from hiero.tune.found import Found, listed
from hiero.tune.objective import gain
from hiero.tune.protocol import Array, KBestList, TuningDecoder

T = TypeVar("T")
_TRANSLATIONS = "translations.txt"
_TIMES = "times.json"


@dataclass(frozen=True)
class Iteration:
    """Decoding with ``weights``: the metric of the 1-best, and of a held-out set's if there is one, in the
    sense that more is better; how much was new (hypotheses of lists; with forests, sentences with a better
    derivation than known), hypotheses that all searches so far have generated, and the seconds that choosing
    the weights and decoding took."""

    weights: Mapping[str, float]
    score: float
    held_out: float | None
    new: int
    generated: int
    choosing: float = field(default=0.0, compare=False)
    decoding: float = field(default=0.0, compare=False)

    @property
    def judged(self) -> float:
        """The score that iterations are compared by: of the held-out set, if there is one."""
        return self.score if self.held_out is None else self.held_out


@dataclass(frozen=True)
class TuneResult:
    """All iterations, which of them is the best, and why the run stopped."""

    iterations: list[Iteration]
    best: int
    reason: str

    @property
    def weights(self) -> Mapping[str, float]:
        return self.iterations[self.best].weights

    @property
    def score(self) -> float:
        """The score of the best iteration, by the held-out set if there is one."""
        return self.iterations[self.best].judged


@dataclass(frozen=True)
class HeldOut:
    """A set that weights are chosen by but not tuned on."""

    decoder: TuningDecoder
    metric: Metric


def best_of(iterations: Sequence[Iteration]) -> int:
    """The first of the best."""
    scores = [iteration.judged for iteration in iterations]
    return scores.index(max(scores))


class Watched:
    """A decoder whose sentences are counted."""

    def __init__(self, decoder: TuningDecoder, what: str, total: int, progress: Report | None) -> None:
        self._decoder = decoder
        self._what = what
        self._total = total
        self._progress = progress

    @property
    def feature_names(self) -> Sequence[str]:
        return self._decoder.feature_names

    @property
    def generated(self) -> int:
        return self._decoder.generated

    def kbest(self, weights: Array, k: int) -> Iterator[KBestList]:
        return self._counted(self._decoder.kbest(weights, k))

    def forests(self, weights: Array) -> Iterator[Forest | None]:
        return self._counted(self._decoder.forests(weights))

    def forest(self, sentence: int, weights: Array) -> Forest | None:
        return self._decoder.forest(sentence, weights)

    def charts(self, weights: Array, then: Callable[[int, Chart | None], T]) -> Iterator[T]:
        return self._counted(self._decoder.charts(weights, then))

    def _counted(self, results: Iterator[T]) -> Iterator[T]:
        for done, result in enumerate(results, start=1):
            if self._progress is not None:
                self._progress(self._what, done, self._total)
            yield result


class _Scores(BaseModel):
    """The content of an iteration's ``scores.json``."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    score: float
    held_out: float | None
    new: int
    generated: int


def read_scores(directory: Path) -> list[float]:
    """Returns what the iterations that a run's directory holds are judged by, in their order. Raises
    FormatError."""
    paths = sorted(directory.glob("iteration-*/scores.json"))
    scores = [read_json(path, _Scores) for path in paths]
    return [each.score if each.held_out is None else each.held_out for each in scores]


class _Times(BaseModel):
    """The content of its ``times.json``: all else is the same however often a run is repeated."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    choosing: float
    decoding: float


class RunFolder:
    """Makes the iterations of a run, or takes those that are there; ``found`` is what they have found."""

    def __init__(
        self,
        folder: Path,
        decoder: TuningDecoder,
        metric: Metric,
        held_out: HeldOut | None,
        found: Found,
        progress: Report | None = None,
    ) -> None:
        self.found = found
        self._folder = folder
        self._decoder = decoder
        self._metric = metric
        self._held_out = held_out
        self._names = FeatureNames(decoder.feature_names)
        self._generated = 0
        self._progress = progress
        self._since = time.monotonic()

    def iteration(self, number: int, weights: Array) -> Iteration:
        folder = self._folder_of(number)
        if not folder.exists():
            self._decode(number, folder, weights)
        self._since = time.monotonic()
        self.found.restore(folder)
        scores = read_json(folder / "scores.json", _Scores)
        self._generated = scores.generated
        times = read_json(folder / _TIMES, _Times)
        return Iteration(self._named(weights), **scores.model_dump(), **times.model_dump())

    def weights_of(self, number: int) -> Array | None:
        """Reads the weights that an iteration decoded with, if it is there, which saves choosing them
        again."""
        if not self._folder_of(number).exists():
            return None
        path = self._folder_of(number) / "weights.txt"
        weights = read_weights(path)
        if list(weights) != list(self._names):
            raise FormatError(f"{path}: damaged: expected a weight of every feature")
        return self._names.vector(weights)

    def _folder_of(self, number: int) -> Path:
        return self._folder / f"iteration-{number:03}"

    def _named(self, weights: Array) -> dict[str, float]:
        return dict(zip(self._names, weights.tolist(), strict=True))

    def translations_of(self, number: int) -> Path:
        """The file of an iteration's translations, as tokens."""
        return self._folder_of(number) / _TRANSLATIONS

    def _decode(self, number: int, folder: Path, weights: Array) -> None:
        temporary = temporary_name(folder)
        temporary.mkdir()
        begin = time.monotonic()
        before = self._decoder.generated
        decoder = Watched(
            self._decoder, f"iteration {number}: sentences", self._metric.segments, self._progress
        )
        new, firsts, texts = self.found.decode(decoder, weights, temporary)
        scores = _Scores(
            score=float(gain(self._metric, firsts.sum(axis=0))),
            held_out=self._held_out_score(weights),
            new=new,
            generated=self._generated + self._decoder.generated - before,
        )
        write_weights(temporary / "weights.txt", self._named(weights))
        write_atomically(temporary / _TRANSLATIONS, "".join(f"{text}\n" for text in texts))
        times = _Times(choosing=begin - self._since, decoding=time.monotonic() - begin)
        write_atomically(temporary / _TIMES, times.model_dump_json() + "\n")
        write_atomically(temporary / "scores.json", scores.model_dump_json() + "\n")
        publish(temporary, folder)

    def _held_out_score(self, weights: Array) -> float | None:
        if self._held_out is None:
            return None
        metric = self._held_out.metric
        lists = self._held_out.decoder.kbest(weights, 1)
        firsts = [listed(metric, sentence, found).first for sentence, found in enumerate(lists)]
        if len(firsts) != metric.segments:
            raise ValueError(f"{len(firsts)} lists for {metric.segments} sentences")
        return float(gain(metric, np.sum(firsts, axis=0)))
