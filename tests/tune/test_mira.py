"""Online MIRA, against a literal transcription of the paper, on several threads, and in killed runs."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hiero import FormatError
from hiero.evaluate import Bleu
from hiero.forest.losses import BleuDocument
from hiero.tune import TuneOptions, TuneResult, tune
from hiero.tune.methods.mira.averaged_weights import AveragedWeights
from hiero.tune.methods.mira.online import OnlineMiraOptions, Pass, Worker
from hiero.tune.methods.mira.workers import run_workers
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array
from support.synthetic_decoder import TableDecoder, solvable

START = (1.0, 1.0, 1.0, 1.0)
BEST = (1.0, -0.5, 2.0, 0.25)


# The paper's section 2, literally, on tables of hypotheses.


def ngram_counts(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def counts_of(tokens: Sequence[str], reference: Sequence[str], clipped: bool) -> list[float]:
    """Counts c(e): length, reference length, n-grams, matches."""
    totals, matches = [], []
    for n in range(1, 5):
        found, known = ngram_counts(tokens, n), ngram_counts(reference, n)
        totals.append(sum(found.values()))
        limit = known if clipped else {ngram: math.inf for ngram in known}
        matches.append(sum(min(count, limit.get(ngram, 0)) for ngram, count in found.items()))
    return [len(tokens), len(reference), *totals, *matches]


def bleu_of(counts: Sequence[float]) -> float:
    if min(counts[6:]) == 0:
        return 0.0
    precision = sum(math.log(m / t) for m, t in zip(counts[6:], counts[2:6], strict=True)) / 4
    return math.exp(precision + min(0.0, 1 - counts[1] / counts[0]))


class Literal:
    """One worker as in the paper; ``o`` and ``o_f`` are the pseudo-document."""

    def __init__(self, decoder: TableDecoder, references: Sequence[Sequence[str]], options: Any) -> None:
        self.decoder, self.references, self.options = decoder, references, options
        self.w = np.array(START)
        self.o: list[float] = [4, 4, 4, 3, 2, 1, 4, 3, 2, 1]
        self.o_f = 4.0

    def run(self, order: Sequence[int]) -> Array:
        """Makes a pass, and returns the average of its weights."""
        visited = []
        for sentence in order:
            self.sentence(sentence)
            visited.append(self.w.copy())
        return np.asarray(np.mean(visited, axis=0))

    def b(self, counts: Sequence[float], source: int) -> float:
        return (self.o_f + source) * bleu_of([a + c for a, c in zip(self.o, counts, strict=True)])

    def sentence(self, sentence: int) -> None:
        lines, h = self.decoder.hypotheses[sentence], self.decoder.features[sentence]
        reference = self.references[sentence][0].split()
        source, k = len(lines[0]), self.options.k
        model = (h @ self.w).tolist()
        clipped = [self.b(counts_of(line, reference, True), source) for line in lines]
        rough = [self.b(counts_of(line, reference, False), source) for line in lines]

        def best(values: Sequence[float]) -> list[int]:
            strings: dict[tuple[str, ...], int] = {}
            for j in sorted(range(len(lines)), key=lambda j: -values[j]):
                strings.setdefault(tuple(lines[j]), j)
            return list(strings.values())[:k]

        first = best(model)
        mu = self.options.mu
        good = best([(1 - mu) * b + mu * m for b, m in zip(rough, model, strict=True)])
        bad = best([m - b for b, m in zip(rough, model, strict=True)])
        oracle = good[0]
        if self.options.oracle == "local":
            good, oracle = [], max(first, key=lambda j: clipped[j])
        if self.options.no_loss_augmented:
            bad = []
        hypotheses = list(dict.fromkeys([oracle, *first, *good, *bad]))
        dh = np.array([h[oracle] - h[j] for j in hypotheses])
        losses = [clipped[oracle] - clipped[j] for j in hypotheses]
        self.optimise(dh, losses)
        counts = counts_of(lines[first[0]], reference, True)
        self.o = [0.9 * (a + c) for a, c in zip(self.o, counts, strict=True)]
        self.o_f = 0.9 * (self.o_f + source)

    def optimise(self, dh: Array, losses: Sequence[float]) -> None:
        """Solves the batch by SMO over all pairs, one after another, until nothing moves."""
        alpha = [self.options.c] + [0.0] * (len(losses) - 1)
        moved = True
        rounds = 0
        while moved and rounds < 100_000:
            moved, rounds = False, rounds + 1
            for j, other in itertools.permutations(range(len(losses)), 2):
                way = dh[j] - dh[other]
                if not way.any():
                    continue
                delta = (losses[j] - losses[other] - way @ self.w) / (way @ way)
                delta = min(max(delta, -alpha[j]), alpha[other])
                moved |= abs(delta) > 1e-15
                self.w = self.w + delta * way
                alpha[j] += delta
                alpha[other] -= delta


SETTINGS: list[dict[str, Any]] = [
    {},
    {"oracle": "local"},
    {"no_loss_augmented": True},
    {"oracle": "local", "no_loss_augmented": True, "k": 4},
    {"mu": 0.3, "c": 0.1, "k": 3},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_one_worker_does_what_the_paper_says(settings: dict[str, Any]) -> None:
    decoder, references = solvable(3, BEST, sentences=30, size=25)
    options = OnlineMiraOptions(workers=1, **settings)
    literal = Literal(decoder, references, options)
    worker = Worker(AveragedWeights(np.array(START)), BleuDocument())
    order = np.random.default_rng(7).permutation(30).astype(np.int32)
    for _ in range(2):
        average = literal.run(order.tolist())
        worker.weights = AveragedWeights(worker.weights.current)
        learn_all(decoder, references, [worker], order, options)
        np.testing.assert_allclose(worker.weights.current, literal.w, atol=1e-9, rtol=0)
        np.testing.assert_allclose(worker.weights.average(), average, atol=1e-9, rtol=0)
        np.testing.assert_allclose(worker.document.counts, literal.o, rtol=1e-12)
        assert worker.document.source == pytest.approx(literal.o_f)
    assert np.abs(worker.weights.current - START).max() > 0.1


def learn_all(
    decoder: TableDecoder,
    references: list[list[str]],
    workers: Sequence[Worker],
    order: Any,
    options: OnlineMiraOptions,
    threads: int = 1,
) -> None:
    limits = Limits.unlimited(4)
    run = Pass(decoder, Bleu(references), workers, order, limits=limits, options=options, tolerance=1e-15)
    run.run(threads)


@pytest.mark.parametrize(("lag", "sharing"), [(0, True), (1, True), (3, True), (0, False)])
def test_what_is_told_when(lag: int, sharing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three workers share eleven sentences; each batch has the constraints that the lag allows."""
    decoder, references = solvable(3, BEST, sentences=11, size=10)
    learnt: list[tuple[int, ...]] = []
    sentence_of: dict[int, int] = {}

    def recorded(batch: Sequence[Any], *_: Any) -> Any:
        learnt.append(tuple(sentence_of[id(constraints)] for constraints in batch))
        return SimpleNamespace(ids=np.array([], dtype=np.int32), changes=np.array([]))

    class Noted(Pass):
        def _step(self, number: int, step: int) -> None:
            super()._step(number, step)
            if step < len(self._shares[number]):
                constraints = self._constraints[number][step]
                sentence_of[id(constraints)] = self._shares[number][step]
                alive.append(constraints)

    alive: list[Any] = []  # keeps ids from being used again
    monkeypatch.setattr("hiero.tune.methods.mira.online.solve_batch", recorded)
    workers = [Worker(AveragedWeights(np.array(START)), BleuDocument()) for _ in range(3)]
    options = OnlineMiraOptions(workers=3, lag=lag, no_sharing=not sharing)
    order, limits = np.arange(11, dtype=np.int32), Limits.unlimited(4)
    Noted(decoder, Bleu(references), workers, order, limits=limits, options=options).run(1)
    # Sentence t of worker n is 3 t + n. The batches before its sentence t, and that at the end.
    expected = []
    for worker, length in ((0, 4), (1, 4), (2, 3)):
        others = [n for n in range(3) if n != worker]
        for t in range(1, length + 1):
            told = range(max(t - 1 - lag, 0), 4) if t == length else [s for s in [t - 1 - lag] if s >= 0]
            finds = [3 * s + n for s in told for n in others if 3 * s + n < 11] if sharing else []
            expected.append((3 * (t - 1) + worker, *finds))
    assert sorted(learnt) == sorted(expected)


def test_defaults_are_the_paper_s() -> None:
    """The defaults are those of sections 2 and 5; the lag is chosen in benchmarks/results/mira.md."""
    published = {"workers": 20, "lag": 2, "k": 10, "mu": 0.5, "c": 0.01, "oracle": "forest"}
    whole = {"no_loss_augmented": False, "no_sharing": False}
    assert OnlineMiraOptions().model_dump() == published | whole
    assert TuneOptions("mira").settings.model_dump().items() >= (published | whole).items()


@pytest.mark.parametrize("workers", [1, 4, 20])
def test_any_number_of_threads_gives_the_same(workers: int) -> None:
    decoder, references = solvable(4, BEST, sentences=50, size=20)
    options = OnlineMiraOptions(workers=workers)
    results = []
    for threads in (1, 2, 4):
        states = [Worker(AveragedWeights(np.array(START)), BleuDocument()) for _ in range(workers)]
        order = np.arange(50, dtype=np.int32)
        learn_all(decoder, references, states, order, options, threads)
        results.append([(*w.weights.current, *w.weights.average(), *w.document.counts) for w in states])
    assert results[0] == results[1] == results[2]
    assert len(set(results[0])) == workers


def run(directory: Path, workers: int, threads: int = 1) -> TuneResult:
    decoder, references = solvable(5, BEST, sentences=50, size=20)
    start = dict(zip(decoder.feature_names, START, strict=True))
    options = TuneOptions("mira", workers=workers, iterations=4)
    return tune(decoder, Bleu(references), start, directory, options, threads=threads)


@pytest.mark.parametrize("workers", [1, 4, 20])
def test_killed_at_any_moment(workers: int, tmp_path: Path) -> None:
    """A run that is killed twenty times ends as if nothing had happened."""
    began = time.monotonic()
    whole = run(tmp_path / "whole", workers)
    seconds = time.monotonic() - began
    moments = random.Random(workers)
    for kill in range(20):
        child = os.fork()
        if child == 0:
            run(tmp_path / "killed", workers, threads=(1, 2, 4)[kill % 3])
            os._exit(0)
        time.sleep(moments.uniform(0, 0.3 * seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert run(tmp_path / "killed", workers, threads=2) == whole
    weights = (tmp_path / "whole" / "weights.txt").read_bytes()
    assert (tmp_path / "killed" / "weights.txt").read_bytes() == weights


def test_a_pass_that_is_damaged_is_named(tmp_path: Path) -> None:
    run(tmp_path, 4)
    last = tmp_path / "pass-002.npz"
    last.write_bytes(last.read_bytes()[:-9])
    (tmp_path / "weights.txt").unlink()
    os.rename(tmp_path / "iteration-003", tmp_path / "gone")
    with pytest.raises(FormatError, match=r"pass-002\.npz: damaged"):
        run(tmp_path, 4)


def test_fixed_weights_and_bounds_hold(tmp_path: Path) -> None:
    decoder, references = solvable(5, BEST, sentences=50, size=20)
    start = dict(zip(decoder.feature_names, START, strict=True))
    options = TuneOptions("mira", workers=4, iterations=4, fixed=["f0"], bounds={"f1": (0.5, 2.0)})
    result = tune(decoder, Bleu(references), start, tmp_path, options)
    for iteration in result.iterations:
        assert iteration.weights["f0"] == 1.0
        assert iteration.weights["f1"] >= 0.5
    assert result.iterations[-1].weights["f1"] < 0.6


def test_steps_wait_for_what_they_use() -> None:
    done: list[tuple[int, int]] = []

    def work(worker: int, step: int) -> None:
        lengths = (5, 4, 4)
        for other, length in enumerate(lengths):
            last = step == lengths[worker]
            needed = length if last else min(step - 1, length)
            assert all((other, before) in done for before in range(needed))
        time.sleep(random.random() / 1000)
        done.append((worker, step))

    run_workers(work, (5, 4, 4), 1, 4)
    assert sorted(done) == [(n, t) for n, length in enumerate((5, 4, 4)) for t in range(length + 1)]


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_of_steps_end_it(threads: int) -> None:
    def work(worker: int, step: int) -> None:
        if (worker, step) == (1, 2):
            raise KeyError("found")

    with pytest.raises(KeyError, match="found"):
        run_workers(work, [4, 4], 0, threads)
