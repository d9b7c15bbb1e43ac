"""The loop of tuning: decode the set, take the new hypotheses into the pool, choose better weights, again.

Everything an iteration leaves is in a folder of its own, which appears when it is whole: the weights that
decoded, what was new, the scores. Random choices follow from the seed and the iteration's number alone. A run
that was killed and is started again therefore goes on as if nothing had happened, and one that has ended does
if it may now take more iterations.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hiero._core import FeatureNames
from hiero.base.directories import run_directory
from hiero.base.files import replacing, write_atomically
from hiero.base.progress import Report
from hiero.base.weights import check_writable, write_weights
from hiero.evaluate.metrics import Metric
from hiero.tune.iterations import HeldOut, Iteration, RunFolder, TuneResult, best_of
from hiero.tune.limits import limits_of, troubled
from hiero.tune.methods import Method, Problem
from hiero.tune.options import TuneOptions
from hiero.tune.protocol import Array, TuningDecoder

_SETTINGS = "run.json"


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
    report: Callable[[str], object] = lambda _: None,
    progress: Report | None = None,
) -> TuneResult:
    """Tunes from the weights ``start``, features without one count 0, and writes ``weights.txt``.

    A start outside its bounds begins at them. What the directory holds of this run is taken up, also with
    other ``iterations`` and ``patience``: with more it ends as it would have with so many at once; with
    fewer, what has ended has ended, and all its iterations count. A directory that holds another run, by its
    other options, its start, its references or its ``origin``, is refused: this says what else the decoder's
    results depend on, as the model and the source. ``report`` is told of each iteration in a line,
    ``progress`` how far it is.
    Raises FormatError for that, for weights or options that name no feature and for names that no weights
    file can hold; ValueError for an unknown method, options or a metric that it does not take, and a start
    that nothing can be decoded with; OSError where another process works in the directory, or for one that
    holds files but no run.
    """
    names = FeatureNames(decoder.feature_names)
    check_writable(names)
    method = options.settings
    if method.metric is not None and not isinstance(metric, method.metric):
        raise ValueError(f"{options.method} learns from {method.metric.name} alone")
    weights = names.vector(start)
    limits = limits_of(weights, names, options.fixed, options.bounds)
    weights = np.clip(weights, *limits["bounds"].T)
    if trouble := troubled(weights):
        raise ValueError(f"cannot start from these weights: {trouble}")
    known = {
        "options": options.identity(),
        "metric": [metric.signature, metric.checksum],
        "held_out": None if held_out is None else [held_out.metric.signature, held_out.metric.checksum],
        "features": {"number": len(names), "fingerprint": names.fingerprint},
        "start": {name: float(weight) for name, weight in start.items() if weight != 0},
        "origin": dict(origin or {}),
    }
    folder = Path(directory)
    with run_directory(folder, _SETTINGS, known):
        found = method.nothing(metric, len(names))
        run = RunFolder(folder, decoder, metric, held_out, found, progress)
        history: list[Array] = []
        iterations: list[Iteration] = []

        def choose() -> Array | None:
            if progress is not None:
                progress(f"iteration {len(history)}: choosing weights", 0, None)
            scores = [iteration.score for iteration in iterations]
            seed = _seed(options.seed, len(history) - 1)
            problem = Problem(
                metric, history, scores, limits, options.seed, seed, threads, decoder, folder, progress
            )
            return method.choose(found, problem)

        reason = ""
        while not reason:
            history.append(weights)
            iterations.append(run.iteration(len(iterations), weights))
            report(_line(iterations))
            # An iteration that is there counts, wherever this run would have stopped.
            if (made := run.weights_of(len(iterations))) is not None:
                weights = made
            elif not (reason := _enough(iterations, method)):
                weights, reason = _next(choose(), weights, len(iterations) - 1)
        result = TuneResult(iterations, best_of(iterations), reason)
        _write_results(folder, result)
        with replacing(folder / "translations.txt") as temporary:
            shutil.copyfile(run.translations_of(result.best), temporary)
    return result


def _enough(iterations: Sequence[Iteration], method: Method[Any]) -> str:
    """Why a run stops after these iterations; "" if it goes on."""
    since = len(iterations) - 1 - best_of(iterations)
    if method.settles and iterations[-1].new == 0 and since > 0:
        return "decoding finds nothing new, and nothing better"
    if since >= method.patience:
        return f"the metric has not risen for {method.patience} iterations"
    if len(iterations) < method.iterations:
        return ""
    if len(iterations) == 1:
        return "1 iteration is done, which judged the weights to start from: to tune takes 2 or more"
    return f"{len(iterations)} iterations are done"


def _next(chosen: Array | None, weights: Array, number: int) -> tuple[Array, str]:
    """The weights to go on with after an iteration, and why it does not, if it does not."""
    if chosen is None:
        return weights, "nothing is left to try"
    if trouble := troubled(chosen):
        return weights, f"stopped after iteration {number}: {trouble}"
    return chosen, ""


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _line(iterations: Sequence[Iteration]) -> str:
    number, last = len(iterations) - 1, iterations[-1]
    held_out = "" if last.held_out is None else f", held out {last.held_out:.4f}"
    mark = " *" if best_of(iterations) == number else ""
    return f"iteration {number}: {last.score:.4f}{held_out}, {last.new:,} new{mark}"


def _write_results(folder: Path, result: TuneResult) -> None:
    rows = ["iteration\tscore\theld out\tnew\tgenerated\tchoosing\tdecoding"]
    for number, iteration in enumerate(result.iterations):
        held_out = "" if iteration.held_out is None else repr(iteration.held_out)
        cells = (number, repr(iteration.score), held_out, iteration.new, iteration.generated)
        times = f"{iteration.choosing:.1f}", f"{iteration.decoding:.1f}"
        rows.append("\t".join(map(str, (*cells, *times))))
    write_atomically(folder / "iterations.tsv", "\n".join(rows) + "\n")
    write_weights(folder / "weights.txt", result.weights)
