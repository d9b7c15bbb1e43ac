"""The loop of tuning: decode the set, add the new hypotheses to those before, choose better weights, again.

Every iteration leaves a folder, which appears when it is complete, with the weights that decoded, what was
new and the scores. Random choices depend on the seed and the iteration's number alone. A run that was killed
and is started again therefore goes on as if nothing had happened, and a run that has ended goes on if it may
now take more iterations.
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
from hiero.base.files import replacing
from hiero.base.progress import Report
from hiero.base.weights import check_writable
from hiero.evaluate.metric import Metric
from hiero.tune.run.iterations import HeldOut, RunFolder
from hiero.tune.run.limits import run_limits, weight_problem
from hiero.tune.run.method import Method, TuningState
from hiero.tune.run.options import TuneOptions
from hiero.tune.run.protocol import Array, TuningDecoder
from hiero.tune.run.results import Iteration, TuneResult, best_iteration, write_result
from hiero.tune.run.stopping import Course

# The file with the settings of a run, in its directory.
RUN_RECORD = "run.json"


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
    """Tunes weights from ``start``, where a feature without a weight counts as 0, and writes the best to
    ``weights.txt`` in the directory.

    A start outside its bounds begins at them. A run that the directory holds is taken up, also with other
    ``iterations``, ``patience`` and, but for search-aware tuning, ``chance``: with more it ends as if it had
    had so many from the start; with fewer it has ended, and all its iterations count. A directory with
    another run is refused: one with other options, another start, other references or another ``origin``,
    which names what else the decoder's results depend on, such as the model and the source. ``report`` gets a
    line on each iteration, ``progress`` is called as the work goes on.

    Raises FormatError for a directory with another run, for weights or options of unknown features, and for
    feature names that no weights file can hold; ValueError for an unknown method, for options or a metric
    that it does not take, and for a start with which nothing can be decoded; OSError if another process works
    in the directory, or if it holds files but no run.
    """
    names = FeatureNames(decoder.feature_names)
    check_writable(names)
    method = options.settings
    if method.metric is not None and not isinstance(metric, method.metric):
        raise ValueError(f"{options.method} learns from {method.metric.name} alone")
    weights = names.vector(start)
    limits = run_limits(weights, names, options.fixed, options.bounds)
    weights = limits.clip(weights)
    if problem := weight_problem(weights):
        raise ValueError(f"cannot start from these weights: {problem}")
    identity = {
        "options": options.identity(),
        "metric": [metric.signature, metric.checksum],
        "held_out": None if held_out is None else [held_out.metric.signature, held_out.metric.checksum],
        "features": {"number": len(names), "fingerprint": names.fingerprint},
        "start": {name: float(weight) for name, weight in start.items() if weight != 0},
        "origin": dict(origin or {}),
    }
    folder = Path(directory)
    with run_directory(folder, RUN_RECORD, identity):
        accumulated = method.empty(metric, len(names))
        run = RunFolder(folder, decoder, metric, held_out, accumulated, progress)

        def state(weights: Array, history: Sequence[Array], scores: Sequence[float]) -> TuningState:
            seed = _iteration_seed(options.seed, len(history) - 1)
            return TuningState(
                metric,
                weights,
                history,
                scores,
                limits,
                options.seed,
                seed,
                threads,
                decoder,
                folder,
                progress,
            )

        course = Course(metric if held_out is None else held_out.metric, method.chance)
        result = _iterate(run, method, weights, state, course, report, progress)
        write_result(folder, result)
        with replacing(folder / "translations.txt") as temporary:
            shutil.copyfile(run.translations_of(result.best), temporary)
    return result


def _iterate(
    run: RunFolder,
    method: Method[Any],
    weights: Array,
    state: Callable[[Array, Sequence[Array], Sequence[float]], TuningState],
    course: Course,
    report: Callable[[str], object],
    progress: Report | None,
) -> TuneResult:
    """Makes iterations from these weights on until there is a reason to stop."""
    history: list[Array] = []
    iterations: list[Iteration] = []
    reason = ""
    while not reason:
        history.append(weights)
        iterations.append(run.iteration(len(iterations), weights))
        course.add(run.statistics_of(len(history) - 1))
        report(_line(iterations))
        # An iteration that the folder holds counts, wherever this run would have stopped.
        if (stored := run.weights_of(len(iterations))) is not None:
            weights = stored
        elif not (reason := _stop_reason(iterations, method, course.since_rise)):
            if progress is not None:
                progress(f"iteration {len(history)}: choosing weights", 0, None)
            scores = [iteration.score for iteration in iterations]
            falls = course.falls if method.steps_back else 0
            start = history[best_iteration(iterations)] if falls else weights
            chosen = method.choose(run.accumulated, state(start, history, scores))
            if chosen is not None and falls:
                chosen = start + (chosen - start) / 2**falls
            if chosen is None:
                reason = "nothing is left to try"
            elif problem := weight_problem(chosen):
                reason = f"stopped after iteration {len(iterations) - 1}: {problem}"
            else:
                weights = chosen
    return TuneResult(iterations, best_iteration(iterations), reason)


def _stop_reason(iterations: Sequence[Iteration], method: Method[Any], since_rise: int) -> str:
    """Returns why a run stops after these iterations, so many of them since the last rise; "" if it goes
    on."""
    is_best = best_iteration(iterations) == len(iterations) - 1
    if method.settles and iterations[-1].new == 0 and not is_best:
        return "decoding finds nothing new, and nothing better"
    if since_rise >= method.patience:
        rise = "" if method.chance == 1 else " by more than chance"
        count = f"{method.patience} iterations" if method.patience > 1 else "1 iteration"
        return f"the metric has not risen{rise} for {count}"
    if len(iterations) < method.iterations:
        return ""
    if len(iterations) == 1:
        return "1 iteration is done, which judged the weights to start from: to tune takes 2 or more"
    return f"{len(iterations)} iterations are done"


def _iteration_seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _line(iterations: Sequence[Iteration]) -> str:
    number, last = len(iterations) - 1, iterations[-1]
    held_out = "" if last.held_out is None else f", held out {last.held_out:.4f}"
    mark = " *" if best_iteration(iterations) == number else ""
    return f"iteration {number}: {last.score:.4f}{held_out}, {last.new:,} new{mark}"
