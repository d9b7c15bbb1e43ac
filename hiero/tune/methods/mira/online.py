"""Online MIRA with parallel workers (Chiang et al. 2008, section 2).

N workers go through shares of the tuning set, each with its own weights and pseudo-document. A worker decodes
a sentence and selects margin constraints from its forest, which all workers may use. Before its sentence t it
updates its weights by one batch: the constraints of its sentence t - 1 and those of the other workers'
sentences t - 1 - lag. At the end of a pass it learns from the others' constraints that it has not used yet.
Weights therefore depend on the seed, N and the lag alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from hiero._core import Forest
from hiero.base.arrays import load_arrays, save_arrays
from hiero.base.parallel import places
from hiero.base.progress import Report
from hiero.base.settings import Settings
from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.forest.losses import BleuColumns, BleuDocument
from hiero.tune.methods.kinds import DirectMethod
from hiero.tune.methods.length import LengthSearch, list_lines
from hiero.tune.methods.mira.averaged_weights import AveragedWeights
from hiero.tune.methods.mira.constraints import (
    HopeFearSelection,
    IntArray,
    MarginConstraints,
    Oracle,
    solve_batch,
)
from hiero.tune.methods.mira.workers import run_workers
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.limits import Limits
from hiero.tune.run.method import Iterations, Patience, TuningState
from hiero.tune.run.protocol import Array, TuningDecoder

# The largest error of a batch's objective at the solution.
TOLERANCE = 1e-6
# Distinct translations of each sentence among which the best length is searched for.
_LIST = 100


class OnlineMiraOptions(Settings):
    """Settings of online MIRA, with defaults as published (Chiang et al. 2008, sections 2 and 5)."""

    workers: int = Field(20, ge=1, description="workers that share the sentences")
    lag: int = Field(2, ge=0, description="sentences after which the other workers' constraints are used")
    k: int = Field(10, ge=1, description="hypotheses in each of the three lists of a sentence")
    mu: float = Field(
        0.5, ge=0, allow_inf_nan=False, description="weight of the model's score in the choice of the oracle"
    )
    c: float = Field(0.01, gt=0, allow_inf_nan=False, description="largest step of an update")
    oracle: Oracle = Field(
        "forest", description="where the oracle is found: the forest or the model's k best"
    )
    no_loss_augmented: bool = Field(False, description="leave out the list of the best by score - B")
    no_sharing: bool = Field(False, description="let each worker learn from its own sentences alone")


class Mira(OnlineMiraOptions, LengthSearch, DirectMethod):
    """Online MIRA as a tuning method: an iteration is a pass over the set. The lists of the iterations' own
    decodings are for the search for the best length alone."""

    metric: ClassVar[type[Metric] | None] = Bleu
    settles: ClassVar[bool] = False

    # The start, and one after each of nine passes over the set.
    iterations: Iterations = 10
    patience: Patience = 3

    def empty(self, metric: Metric, features: int) -> AccumulatedLists:
        return AccumulatedLists(metric, features, _LIST if self.length_search else 1)

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
        weights = mira_pass(state, self)
        return self.with_best_length(weights, list_lines(accumulated.arrays()), state)


@dataclass
class Worker:
    """A worker's weights, with their average over the updates of a pass, and its pseudo-document."""

    weights: AveragedWeights
    document: BleuDocument


@dataclass(frozen=True)
class _Select:
    """Selects constraints from a sentence's forest where it was decoded."""

    selection: HopeFearSelection
    weights: Array
    references: Sequence[Sequence[str]]
    document: BleuDocument

    def __call__(self, _: int, forest: Forest | None) -> tuple[MarginConstraints, BleuDocument] | None:
        if forest is None or forest.root < 0:
            return None
        return self.selection.select(forest, self.weights, self.references, self.document)


class Pass:
    """A pass of all workers over the tuning set, whose sentences they share in this ``order``."""

    def __init__(
        self,
        decoder: TuningDecoder,
        metric: Bleu,
        workers: Sequence[Worker],
        order: IntArray,
        *,
        limits: Limits,
        options: OnlineMiraOptions,
        tolerance: float = TOLERANCE,
    ) -> None:
        self._decoder = decoder
        self._references = metric.references
        self._workers = workers
        self._shares = [order[n :: len(workers)].tolist() for n in range(len(workers))]
        self._limits = limits
        self._options = options
        self._tolerance = tolerance
        self._selection = HopeFearSelection(
            options.k, options.mu, options.oracle, not options.no_loss_augmented, metric.effective_length
        )
        # The constraints of each worker by step, until all workers have used them.
        self._constraints: list[dict[int, MarginConstraints]] = [{} for _ in workers]

    def run(self, threads: int, progress: Report | None = None, what: str = "") -> None:
        """Decodes each sentence once and updates the workers. ``progress(what, done, total)`` counts
        sentences."""
        total = sum(map(len, self._shares))
        done: list[int] = []

        def work(worker: int, step: int) -> None:
            self._step(worker, step)
            if progress is not None and step < len(self._shares[worker]):
                done.append(worker)
                progress(what, len(done), total)

        lag = None if self._options.no_sharing else self._options.lag
        lengths = [len(share) for share in self._shares]
        run_workers(work, lengths, lag, min(places(threads), len(lengths)), self._forget)

    def _step(self, number: int, step: int) -> None:
        """Updates the worker's weights, then decodes its next sentence, if there is one."""
        worker, share = self._workers[number], self._shares[number]
        if step > 0:
            self._update(worker, self._batch(number, step))
        if step == len(share):
            return
        weights = worker.weights.current
        select = _Select(self._selection, weights, self._references[share[step]], worker.document)
        selected = self._decoder.forest(share[step], weights, select)
        if selected is not None:
            self._constraints[number][step], worker.document = selected

    def _batch(self, number: int, step: int) -> list[MarginConstraints]:
        """Returns the constraints of the worker's last sentence, then those of the others: of the step that
        the lag allows or, at the end of the pass, of that and all later steps. Constraints of one step are in
        the order of the workers."""
        last = self._constraints[number].get(step - 1)
        batch = [] if last is None else [last]
        if self._options.no_sharing:
            return batch
        is_end = step == len(self._shares[number])
        first = step - 1 - self._options.lag
        if first < 0 and not is_end:
            return batch
        first = max(first, 0)
        end = max(map(len, self._shares)) if is_end else first + 1
        for shared_step in range(first, end):
            for other, constraints in enumerate(self._constraints):
                if other != number and shared_step in constraints:
                    batch.append(constraints[shared_step])
        return batch

    def _update(self, worker: Worker, batch: Sequence[MarginConstraints]) -> None:
        if not batch:
            worker.weights.skip()
            return
        solution = solve_batch(
            batch, worker.weights.current, self._limits.fixed, self._options.c, self._tolerance
        )
        worker.weights.update(solution.ids, solution.changes, self._limits)

    def _forget(self, steps: int) -> None:
        """Drops constraints that all workers have used, when all have taken so many steps."""
        used = steps - 1 - (0 if self._options.no_sharing else self._options.lag)
        for constraints in self._constraints:
            for step in [step for step in list(constraints) if step < used]:
                constraints.pop(step, None)


def mira_pass(state: TuningState, options: OnlineMiraOptions) -> Array:
    """Makes the pass after the state's last iteration, and returns the mean over workers of their average
    weights, clipped to the limits. Workers go on where the pass before left them. The state's folder has
    their files, ``pass-000.npz`` and so on; a pass that has one is not made again. Raises FormatError for a
    damaged file."""
    assert isinstance(state.metric, Bleu)
    number, start = len(state.history) - 1, state.history[0]
    path = _pass_file(state.folder, number)
    count = min(options.workers, state.metric.segments)
    if not path.exists():
        if number == 0:
            workers = [Worker(AveragedWeights(start.copy()), BleuDocument()) for _ in range(count)]
        else:
            workers = load_pass(_pass_file(state.folder, number - 1), start, count)[0]
        order = np.random.default_rng(state.seed).permutation(state.metric.segments).astype(np.int32)
        whole = Pass(state.decoder, state.metric, workers, order, limits=state.limits, options=options)
        whole.run(state.threads, state.progress, f"pass {number}: sentences")
        average = np.mean([worker.weights.average() for worker in workers], axis=0)
        _save_pass(path, start, workers, state.limits.clip_free(average, start))
    return load_pass(path, start, count)[1]


def _pass_file(folder: Path, number: int) -> Path:
    return folder / f"pass-{number:03}.npz"


def _save_pass(path: Path, start: Array, workers: Sequence[Worker], average: Array) -> None:
    """Writes the average and the workers' weights, of the features where any differs from the start, and the
    workers' documents."""
    rows = np.array([average] + [worker.weights.current for worker in workers])
    ids = np.flatnonzero((rows != start).any(axis=0))
    documents = [[*worker.document.counts, worker.document.source] for worker in workers]
    save_arrays(path, ids=ids, weights=rows[:, ids], documents=documents)


def load_pass(path: Path, start: Array, count: int) -> tuple[list[Worker], Array]:
    """Reads the workers after a pass, and the average. Raises FormatError for a damaged file."""
    width = BleuColumns.WIDTH
    with load_arrays(path, "delete it, and the run makes this pass again") as arrays:
        ids, weights, documents = arrays["ids"], arrays["weights"], arrays["documents"]
        if weights.shape != (count + 1, len(ids)) or documents.shape != (count, width + 1):
            raise ValueError("another number of workers or features")
        rows = np.tile(start, (count + 1, 1))
        rows[:, ids] = weights
    workers = [
        Worker(AveragedWeights(row), BleuDocument(document[:width], float(document[width])))
        for row, document in zip(rows[1:], documents, strict=True)
    ]
    return workers, rows[0]
