"""Online MIRA with parallel workers (Chiang et al. 2008, section 2).

N workers go through shares of the tuning set, each with weights and a pseudo-document of its own. A worker
decodes its sentence, learns what its forest says of it, and tells all others; before its sentence t it moves
its weights by one batch of its own sentence t - 1 and of the others' sentences t - 1 - lag. What a worker
does not know of the others at the end of a pass it learns there. So weights follow from the seed, N and the
lag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from hiero.base.arrays import load_arrays, save_arrays
from hiero.base.progress import Report
from hiero.base.settings import Settings
from hiero.evaluate.metrics import Bleu
from hiero.forest.losses import BleuDocument
from hiero.tune.exchange import in_steps
from hiero.tune.lessons import IntArray, Lesson, Oracle, Teacher, learn
from hiero.tune.limits import restrained
from hiero.tune.protocol import Array, TuningDecoder

# Of the objective; a batch may be off its optimum by so much.
TOLERANCE = 1e-6


class OnlineMiraOptions(Settings):
    """As published (Chiang et al. 2008, sections 2 and 5)."""

    workers: int = Field(20, ge=1, description="that share the sentences")
    lag: int = Field(2, ge=0, description="sentences that workers may be ahead of what others tell them")
    k: int = Field(10, ge=1, description="hypotheses of each of the three lists of a sentence")
    mu: float = Field(
        0.5, ge=0, allow_inf_nan=False, description="share of the model in what the oracle is best by"
    )
    c: float = Field(0.01, gt=0, allow_inf_nan=False, description="the longest step of an update")
    oracle: Oracle = Field("forest", description="where it is looked for: the forest or the model's k best")
    no_loss_augmented: bool = Field(False, description="without the list of the model's score less B")
    no_sharing: bool = Field(False, description="workers tell each other nothing")


@dataclass
class Worker:
    """A worker between two passes or within one; ``late`` is what the weights' average over the updates of
    the pass lacks of the weights, times their number."""

    weights: Array
    document: BleuDocument
    late: Array
    updates: int = 0

    def move(self, ids: IntArray, changes: Array, bounds: Array) -> None:
        """One more update of the pass; costs what it touches."""
        before = self.weights[ids]
        after = np.clip(before + changes, *bounds[ids].T)
        self.weights[ids] = after
        self.late[ids] += self.updates * (after - before)
        self.updates += 1

    def average(self) -> Array:
        return self.weights - self.late / max(self.updates, 1)


class Pass:
    """A pass of all workers over the tuning set. ``bounds`` are (features, 2)."""

    def __init__(
        self,
        decoder: TuningDecoder,
        metric: Bleu,
        workers: Sequence[Worker],
        order: IntArray,
        *,
        free: Sequence[int],
        bounds: Array,
        options: OnlineMiraOptions,
        tolerance: float = TOLERANCE,
    ) -> None:
        self._decoder = decoder
        self._references = metric.references
        self._workers = workers
        self._shares = [order[n :: len(workers)].tolist() for n in range(len(workers))]
        self._fixed = np.ones(len(bounds), dtype=bool)
        self._fixed[list(free)] = False
        self._bounds = bounds
        self._options = options
        self._tolerance = tolerance
        self._teacher = Teacher(
            options.k, options.mu, options.oracle, not options.no_loss_augmented, metric.effective_length
        )
        # By worker, those of its sentences that not all have learnt yet.
        self._lessons: list[dict[int, Lesson]] = [{} for _ in workers]

    def run(self, threads: int, progress: Report | None = None, what: str = "") -> None:
        total = sum(map(len, self._shares))
        done: list[int] = []

        def work(number: int, step: int) -> None:
            self._step(number, step)
            if progress is not None and step < len(self._shares[number]):
                done.append(number)
                progress(what, len(done), total)

        lag = None if self._options.no_sharing else self._options.lag
        in_steps(work, [len(share) for share in self._shares], lag, threads, self._forget)

    def _step(self, number: int, step: int) -> None:
        """Learns what has been found, then the next sentence, if there is one."""
        worker, share = self._workers[number], self._shares[number]
        if step > 0:
            self._update(worker, self._batch(number, step))
        if step == len(share):
            return
        forest = self._decoder.forest(share[step], worker.weights)
        if forest is None or forest.root < 0:
            return
        references = self._references[share[step]]
        self._lessons[number][step], worker.document = self._teacher.teach(
            forest, worker.weights, references, worker.document
        )

    def _batch(self, number: int, step: int) -> list[Lesson]:
        """Its own last sentence, and the others' of the step that the lag sets, at the end all further ones;
        the sentences of a step in the order of the workers."""
        own, last = self._lessons[number].get(step - 1), step == len(self._shares[number])
        batch = [] if own is None else [own]
        if self._options.no_sharing:
            return batch
        first = max(step - 1 - self._options.lag, 0)
        if step - 1 - self._options.lag < 0 and not last:
            return batch
        end = max(map(len, self._shares)) if last else first + 1
        for known in range(first, end):
            for other, lessons in enumerate(self._lessons):
                if other != number and known in lessons:
                    batch.append(lessons[known])
        return batch

    def _update(self, worker: Worker, batch: Sequence[Lesson]) -> None:
        if not batch:
            worker.updates += 1
            return
        found = learn(batch, worker.weights, self._fixed, self._options.c, self._tolerance)
        worker.move(found.ids, found.changes, self._bounds)

    def _forget(self, steps: int) -> None:
        """Drops what all have learnt when all have taken so many steps."""
        learnt = steps - 1 - (0 if self._options.no_sharing else self._options.lag)
        for lessons in self._lessons:
            for step in [step for step in list(lessons) if step < learnt]:
                lessons.pop(step, None)


def mira_pass(
    decoder: TuningDecoder,
    metric: Bleu,
    start: Array,
    folder: Path,
    number: int,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: int,
    threads: int,
    options: OnlineMiraOptions,
    progress: Report | None = None,
) -> Array:
    """The mean over workers of the weights' averages over pass ``number``, from 0. Workers go on where the
    pass before left them; the folder keeps that, ``pass-000.npz`` and so on, written when a pass is done."""
    path = folder / f"pass-{number:03}.npz"
    count = min(options.workers, metric.segments)
    if not path.exists():
        if number == 0:
            workers = [Worker(start.copy(), BleuDocument(), np.zeros_like(start)) for _ in range(count)]
        else:
            workers = _load(folder / f"pass-{number - 1:03}.npz", start, count)[0]
        order = np.random.default_rng(seed).permutation(metric.segments).astype(np.int32)
        whole = Pass(decoder, metric, workers, order, free=free, bounds=bounds, options=options)
        whole.run(threads, progress, f"pass {number}: sentences")
        average = np.mean([worker.average() for worker in workers], axis=0)
        _save(path, start, workers, restrained(average, start, free, bounds))
    return _load(path, start, count)[1]


def _save(path: Path, start: Array, workers: Sequence[Worker], average: Array) -> None:
    rows = np.array([average] + [worker.weights for worker in workers])
    ids = np.flatnonzero((rows != start).any(axis=0))
    documents = [[*worker.document.counts, worker.document.source] for worker in workers]
    save_arrays(path, ids=ids, weights=rows[:, ids], documents=documents)


def _load(path: Path, start: Array, count: int) -> tuple[list[Worker], Array]:
    """Workers before a pass, and the average. Raises FormatError for a damaged file."""
    with load_arrays(path, "delete it, and the run makes this pass again") as arrays:
        ids, weights, documents = arrays["ids"], arrays["weights"], arrays["documents"]
        if weights.shape != (count + 1, len(ids)) or documents.shape != (count, 11):
            raise ValueError("another number of workers or features")
        rows = np.tile(start, (count + 1, 1))
        rows[:, ids] = weights
    workers = [
        Worker(row, BleuDocument(document[:10], float(document[10])), np.zeros_like(start))
        for row, document in zip(rows[1:], documents, strict=True)
    ]
    return workers, rows[0]
