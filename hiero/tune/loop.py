"""The loop of tuning: decode the set, take the new hypotheses into the pool, choose better weights, again.

Everything an iteration leaves is in a folder of its own, which appears when it is whole: the weights that
decoded, what was new, the scores. Random choices follow from the seed and the iteration's number alone. A run
that was killed and is started again therefore goes on as if nothing had happened, and one that has ended does
if it may now take more iterations.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero._core import FormatError
from hiero.base.directories import publish, working_directory
from hiero.base.files import temporary_name, write_atomically
from hiero.base.json_files import json_number, read_json
from hiero.base.weights import check_names, check_writable, read_weights, weight_vector, write_weights
from hiero.evaluate.metrics import Bleu, Metric
from hiero.tune.memory import ForestMemory, ListMemory, Memory
from hiero.tune.methods import GREATEST, METHODS, Problem, troubled
from hiero.tune.objective import gain, scalable
from hiero.tune.pool import Pool
from hiero.tune.protocol import Array, TuningDecoder

_SETTINGS = "run.json"
# When a run stops makes no other run of it: it can go on.
_ENDS = ("iterations", "patience")
Report = Callable[[str], object]


@dataclass(frozen=True)
class TuneOptions:
    """How a tuning run goes, the same for all methods."""

    method: str = "mert"
    seed: int = 1
    # Length of the lists of distinct strings; None: 100.
    k: int | None = None
    # At most so many, and it stops when so many did not raise the metric of the 1-best; None: the method's.
    iterations: int | None = None
    patience: int | None = None
    # Further climbs of MERT in each iteration, further simplexes of the simplex; None: the method's.
    restarts: int | None = None
    fixed: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # Whether the simplex may change the sum of absolute weights, which threshold pruning depends on.
    free_scale: bool = False

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("iterations", 1), ("patience", 1), ("restarts", 0), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, not {value}")


@dataclass(frozen=True)
class Iteration:
    """Decoding with ``weights``: the metric of the 1-best, and of a held-out set's if there is one, in the
    sense that more is better; how much was new (hypotheses of lists; with forests, sentences with a better
    derivation than known), and hypotheses that all searches so far have generated."""

    weights: Mapping[str, float]
    score: float
    held_out: float | None
    new: int
    generated: int


@dataclass(frozen=True)
class TuneResult:
    """All iterations, which of them is the best, and why the run stopped."""

    iterations: list[Iteration]
    best: int
    reason: str

    @property
    def weights(self) -> Mapping[str, float]:
        return self.iterations[self.best].weights


@dataclass(frozen=True)
class HeldOut:
    """A set that weights are chosen by but not tuned on."""

    decoder: TuningDecoder
    metric: Metric


def tune(
    decoder: TuningDecoder,
    metric: Metric,
    start: Mapping[str, float],
    directory: str | os.PathLike[str],
    options: TuneOptions,
    *,
    held_out: HeldOut | None = None,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Report = lambda _: None,
) -> TuneResult:
    """Tunes from the weights ``start``, features without one count 0, and writes ``weights.txt``.

    A start outside its bounds begins at them. What the directory holds of this run is taken up, also with
    other ``iterations`` and ``patience``: with more it ends as it would have with so many at once; with
    fewer, what has ended has ended, and all its iterations count. A directory that holds another run, by its
    other options, its start, its references or its ``origin``, is refused: this says what else the decoder's
    results depend on, as the model and the source.
    Raises FormatError for that, for weights or options that name no feature and for names that no weights
    file can hold; ValueError for an unknown method, options or a metric that it does not take, and a start
    that nothing can be decoded with; OSError where another process works in the directory, or for one that
    holds files but no run.
    """
    if options.method not in METHODS:
        raise ValueError(f"unknown method {options.method!r}: expected one of {', '.join(METHODS)}")
    names = list(decoder.feature_names)
    check_writable(names)
    method = METHODS[options.method]
    most = method.iterations if options.iterations is None else options.iterations
    patience = method.patience if options.patience is None else options.patience
    for name in ("k", "restarts", "free_scale"):
        if getattr(options, name) not in (None, False) and name not in method.takes:
            raise ValueError(f"{options.method} takes no {name.replace('_', ' ')}")
    if method.bleu_only and not isinstance(metric, Bleu):
        raise ValueError(f"{options.method} learns from BLEU alone")
    weights, free, bounds = _checked(weight_vector(start, names), names, options)
    known = {
        "options": {name: value for name, value in asdict(options).items() if name not in _ENDS},
        "metric": [metric.signature, metric.checksum],
        "held_out": None if held_out is None else [held_out.metric.signature, held_out.metric.checksum],
        "features": names,
        "start": {name: float(weight) for name, weight in start.items()},
        "origin": dict(origin or {}),
    }
    settings = json.dumps(known, indent=1, ensure_ascii=False, default=json_number) + "\n"
    folder = Path(directory)
    with working_directory(folder, _SETTINGS, settings) as record:
        check_same(record, settings)
        run = _Run(folder, decoder, metric, held_out, options)
        history: list[Array] = []
        iterations: list[Iteration] = []
        for number in itertools.count():
            history.append(weights)
            iterations.append(run.iteration(number, weights))
            report(_line(number, iterations))
            # An iteration that is there counts, wherever this run would have stopped.
            if (made := run.weights_of(number + 1)) is not None:
                weights = made
                continue
            if reason := _enough(iterations, most, patience, method.settles):
                break
            problem = Problem(
                memory=run.memory,
                metric=metric,
                history=history,
                scores=[iteration.score for iteration in iterations],
                free=free,
                bounds=bounds,
                free_scale=options.free_scale,
                restarts=options.restarts,
                run_seed=options.seed,
                seed=_seed(options.seed, number),
                threads=threads,
            )
            chosen = method.choose(problem)
            if chosen is None:
                reason = "nothing is left to try"
                break
            if trouble := troubled(chosen):
                reason = f"stopped after iteration {number}: {trouble}"
                break
            weights = chosen
        result = TuneResult(iterations, _best(iterations), reason)
        _write_results(folder, result)
    return result


def _enough(iterations: Sequence[Iteration], most: int, patience: int, settles: bool) -> str:
    """Why a run stops after these iterations; "" if it goes on."""
    since = len(iterations) - 1 - _best(iterations)
    if settles and iterations[-1].new == 0 and since > 0:
        return "decoding finds nothing new, and nothing better"
    if since >= patience:
        return f"the metric has not risen for {patience} iterations"
    return f"{len(iterations)} iterations are done" if len(iterations) >= most else ""


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _best(iterations: Sequence[Iteration]) -> int:
    """The first of the best, by the held-out set if there is one."""
    scores = [i.score if i.held_out is None else i.held_out for i in iterations]
    return scores.index(max(scores))


def _line(number: int, iterations: Sequence[Iteration]) -> str:
    last = iterations[-1]
    held_out = "" if last.held_out is None else f", held out {last.held_out:.4f}"
    mark = " *" if _best(iterations) == number else ""
    return f"iteration {number}: {last.score:.4f}{held_out}, {last.new:,} new{mark}"


def _checked(start: Array, names: Sequence[str], options: TuneOptions) -> tuple[Array, list[int], Array]:
    """The start within its bounds, the features that may change, and least and greatest weights.

    Where fixed features or bounds keep weights from being scaled, nothing else keeps them from growing: then
    all have bounds, ten times the largest weight or bound.
    """
    check_names(options.fixed, names)
    check_names(options.bounds, names)
    if both := [name for name in options.fixed if name in options.bounds]:
        raise ValueError(f"fixed and bound: {', '.join(both)}")
    bounds = np.tile([-np.inf, np.inf], (len(names), 1))
    for name, (low, high) in options.bounds.items():
        if not low <= high:
            raise ValueError(f"bounds of {name}: {low} to {high} is no interval")
        if any(abs(bound) > GREATEST and bound != side for bound, side in ((low, -np.inf), (high, np.inf))):
            raise ValueError(f"bounds of {name}: {low} to {high} is not within {GREATEST:g}")
        bounds[list(names).index(name)] = low, high
    free = [i for i, name in enumerate(names) if name not in options.fixed]
    if not free:
        raise ValueError("all features are fixed")
    if not scalable(start, free, bounds):
        size = 10 * max(np.abs(start).max(), np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))
        bounds[free] = np.clip(bounds[free], -size, size)
    weights = np.clip(start, bounds[:, 0], bounds[:, 1])
    if trouble := troubled(weights):
        raise ValueError(f"cannot start from these weights: {trouble}")
    return weights, free, bounds


def check_same(record: Path, settings: str) -> None:
    """Raises FormatError where the record of a directory says other settings."""
    if record.read_bytes() != settings.encode():
        raise FormatError(f"{record.parent}: holds another run, see {record.name}; choose another directory")


class _Scores(BaseModel):
    """What an iteration's ``scores.json`` holds."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    score: float
    held_out: float | None
    new: int
    generated: int


class _Run:
    """Makes iterations, or takes those that are there."""

    def __init__(
        self,
        folder: Path,
        decoder: TuningDecoder,
        metric: Metric,
        held_out: HeldOut | None,
        options: TuneOptions,
    ) -> None:
        features = len(decoder.feature_names)
        method = METHODS[options.method]
        self.memory: Memory = (
            ForestMemory(metric)
            if method.forests
            else ListMemory(metric, features, 1 if method.direct else options.k or 100)
        )
        self._folder = folder
        self._decoder = decoder
        self._metric = metric
        self._held_out = held_out
        self._options = options
        self._generated = 0

    def iteration(self, number: int, weights: Array) -> Iteration:
        folder = self._folder_of(number)
        if not folder.exists():
            self._decode(folder, weights)
        self.memory.restore(folder)
        scores = read_json(folder / "scores.json", _Scores)
        self._generated = scores.generated
        return Iteration(self._named(weights), **scores.model_dump())

    def weights_of(self, number: int) -> Array | None:
        """What an iteration decoded with, if it is there: choosing weights again would only take time."""
        if not self._folder_of(number).exists():
            return None
        path = self._folder_of(number) / "weights.txt"
        weights = read_weights(path)
        if list(weights) != list(self._decoder.feature_names):
            raise FormatError(f"{path}: damaged: expected a weight of every feature")
        return weight_vector(weights, self._decoder.feature_names)

    def _folder_of(self, number: int) -> Path:
        return self._folder / f"iteration-{number:03}"

    def _named(self, weights: Array) -> dict[str, float]:
        return dict(zip(self._decoder.feature_names, weights.tolist(), strict=True))

    def _decode(self, folder: Path, weights: Array) -> None:
        temporary = temporary_name(folder)
        temporary.mkdir()
        before = self._decoder.generated
        new, firsts = self.memory.decode(self._decoder, weights, temporary)
        scores = _Scores(
            score=float(gain(self._metric, firsts.sum(axis=0))),
            held_out=self._held_out_score(weights),
            new=new,
            generated=self._generated + self._decoder.generated - before,
        )
        write_weights(temporary / "weights.txt", self._named(weights))
        write_atomically(temporary / "scores.json", scores.model_dump_json() + "\n")
        publish(temporary, folder)

    def _held_out_score(self, weights: Array) -> float | None:
        if self._held_out is None:
            return None
        metric = self._held_out.metric
        _, firsts = Pool(metric.segments, len(weights), metric).unseen(
            self._held_out.decoder.kbest(weights, 1)
        )
        return float(gain(metric, firsts.sum(axis=0)))


def _write_results(folder: Path, result: TuneResult) -> None:
    rows = ["iteration\tscore\theld out\tnew\tgenerated"]
    for number, iteration in enumerate(result.iterations):
        held_out = "" if iteration.held_out is None else repr(iteration.held_out)
        rows.append(f"{number}\t{iteration.score!r}\t{held_out}\t{iteration.new}\t{iteration.generated}")
    write_atomically(folder / "iterations.tsv", "\n".join(rows) + "\n")
    write_weights(folder / "weights.txt", result.weights)
