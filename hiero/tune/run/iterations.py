"""The iterations of a tuning run on disk: each decodes with weights and leaves a folder with the weights,
what was new and the scores. The folder appears when it is complete."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero._core import FeatureNames, FormatError
from hiero.base.arrays import load_arrays, save_arrays
from hiero.base.directories import publish
from hiero.base.files import temporary_name, write_atomically
from hiero.base.json_files import read_json
from hiero.base.progress import Report
from hiero.base.weights import read_weights, write_weights
from hiero.evaluate.metric import Metric
from hiero.tune.run.accumulated import Accumulated
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.progress import ProgressDecoder
from hiero.tune.run.protocol import Array, KBestList, TuningDecoder
from hiero.tune.run.results import Iteration

_TRANSLATIONS = "translations.txt"
_TIMES = "times.json"
_JUDGED = "judged.npz"


@dataclass(frozen=True)
class HeldOut:
    """A set that iterations are compared on, but that weights are not tuned on."""

    decoder: TuningDecoder
    metric: Metric

    def statistics(self, weights: Array) -> Array:
        """Decodes the set and counts the metric's statistics of the best translations, float64 (sentences,
        width)."""
        return best_statistics(self.metric, self.decoder.kbest(weights, 1))


def best_statistics(metric: Metric, lists: Iterable[KBestList]) -> Array:
    """Counts statistics of the best translation of each sentence, float64 (sentences, width). A sentence
    without one counts as an empty translation. Raises ValueError for another number of lists."""
    rows = []
    for sentence, kbest in enumerate(lists):
        size = len(kbest.hypotheses)
        if size:
            segments = np.full(size, sentence, dtype=np.int32)
            rows.append(metric.token_statistics(segments, kbest.hypotheses)[0])
        else:
            rows.append(metric.empty_statistics([sentence])[0])
    if len(rows) != metric.segments:
        raise ValueError(f"{len(rows)} lists for {metric.segments} sentences")
    return np.array(rows)


def _score(metric: Metric, statistics: Array) -> float:
    return float(maximised_score(metric, statistics.sum(axis=0)))


class _Scores(BaseModel):
    """The content of an iteration's ``scores.json``."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    score: float
    held_out: float | None
    new: int
    generated: int


class _Times(BaseModel):
    """The content of an iteration's ``times.json``, in seconds: the only file that differs between two runs
    with the same options."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    choosing: float
    decoding: float


def read_scores(directory: Path) -> list[float]:
    """Reads the scores by which the iterations in a run's directory are compared, in order. Raises
    FormatError."""
    paths = sorted(directory.glob("iteration-*/scores.json"))
    scores = [read_json(path, _Scores) for path in paths]
    return [each.score if each.held_out is None else each.held_out for each in scores]


class RunFolder:
    """Makes the iterations of a run, or reads those that its folder holds. ``accumulated`` has the hypotheses
    of all iterations so far."""

    def __init__(
        self,
        folder: Path,
        decoder: TuningDecoder,
        metric: Metric,
        held_out: HeldOut | None,
        accumulated: Accumulated,
        progress: Report | None = None,
    ) -> None:
        self.accumulated = accumulated
        self._folder = folder
        self._decoder = decoder
        self._metric = metric
        self._held_out = held_out
        self._names = FeatureNames(decoder.feature_names)
        self._generated = 0
        self._progress = progress
        self._last_end = time.monotonic()

    def iteration(self, number: int, weights: Array) -> Iteration:
        """Decodes with these weights, unless the iteration is there, and adds its hypotheses."""
        folder = self._folder_of(number)
        if not folder.exists():
            self._decode(number, folder, weights)
        self._last_end = time.monotonic()
        self.accumulated.restore(folder)
        scores = read_json(folder / "scores.json", _Scores)
        self._generated = scores.generated
        times = read_json(folder / _TIMES, _Times)
        return Iteration(self._by_name(weights), **scores.model_dump(), **times.model_dump())

    def weights_of(self, number: int) -> Array | None:
        """Reads the weights that an iteration decoded with; None if it is not there yet. Raises
        FormatError."""
        if not self._folder_of(number).exists():
            return None
        path = self._folder_of(number) / "weights.txt"
        weights = read_weights(path)
        if list(weights) != list(self._names):
            raise FormatError(f"{path}: damaged: expected a weight of every feature")
        return self._names.vector(weights)

    def statistics_of(self, number: int) -> Array:
        """Reads the statistics by which an iteration is judged, of the best translations of the held-out set
        if there is one, else of the tuning set, float64 (sentences, width). Raises FormatError."""
        path = self._folder_of(number) / _JUDGED
        metric = self._metric if self._held_out is None else self._held_out.metric
        with load_arrays(path, f"delete {path.parent}, and the run makes it again") as arrays:
            statistics = arrays["statistics"]
            rows, width = statistics.shape
            if rows != metric.segments or width < metric.width:  # methods may count more columns
                raise ValueError("statistics of another set or metric")
        return np.asarray(statistics)

    def translations_of(self, number: int) -> Path:
        """Returns the file with an iteration's translations, as tokens."""
        return self._folder_of(number) / _TRANSLATIONS

    def _folder_of(self, number: int) -> Path:
        return self._folder / f"iteration-{number:03}"

    def _by_name(self, weights: Array) -> dict[str, Any]:
        return dict(zip(self._names, weights.tolist(), strict=True))

    def _decode(self, number: int, folder: Path, weights: Array) -> None:
        temporary = temporary_name(folder)
        temporary.mkdir()
        begin = time.monotonic()
        before = self._decoder.generated
        what = f"iteration {number}: sentences"
        decoder = ProgressDecoder(self._decoder, what, self._metric.segments, self._progress)
        decoded = self.accumulated.decode(decoder, weights, temporary)
        score, held_out, judged = _score(self._metric, decoded.statistics), None, decoded.statistics
        if self._held_out is not None:
            judged = self._held_out.statistics(weights)
            held_out = _score(self._held_out.metric, judged)
        save_arrays(temporary / _JUDGED, statistics=judged)
        scores = _Scores(
            score=score,
            held_out=held_out,
            new=decoded.new,
            generated=self._generated + self._decoder.generated - before,
        )
        write_weights(temporary / "weights.txt", self._by_name(weights))
        write_atomically(temporary / _TRANSLATIONS, "".join(f"{text}\n" for text in decoded.translations))
        times = _Times(choosing=begin - self._last_end, decoding=time.monotonic() - begin)
        write_atomically(temporary / _TIMES, times.model_dump_json() + "\n")
        write_atomically(temporary / "scores.json", scores.model_dump_json() + "\n")
        publish(temporary, folder)
