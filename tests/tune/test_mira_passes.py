"""Passes of online MIRA with several workers, against a transcription of the paper: forests of several edges,
several references, a sentence without a forest, a fixed weight and a bound one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from hiero import Forest
from hiero._core import smo
from hiero.evaluate import Bleu, EffectiveLength
from hiero.forest.losses import BleuDocument
from hiero.tune import TuneOptions, tune
from hiero.tune.methods.mira.constraints import HopeFearSelection
from hiero.tune.methods.mira.online import Pass
from hiero.tune.run.protocol import Array
from support.synthetic_decoder import WORDS, TableDecoder

SENTENCES, FEATURES = 23, 5
WITHOUT_FOREST = 5
FIXED, BOUND, LOW, HIGH = 1, 3, -0.02, 0.03
START = np.array([0.3, 0.2, -0.1, 0.0, 0.1])


class TwoParts(TableDecoder):
    """A decoder whose hypotheses join one of several left parts and one of several right parts; it records
    the order of sentences."""

    def __init__(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        self.count = count
        self.parts: list[list[list[list[str]]]] = []
        self.values: list[Array] = []
        self.references: list[list[str]] = []
        self.order: list[int] = []
        hypotheses, features = [], []
        for _ in range(SENTENCES):
            good = [rng.choice(WORDS, rng.integers(3, 6)).tolist() for _ in range(2)]
            parts = [[self._spoilt(rng, half) for _ in range(count)] for half in good]
            parts[0][1] = parts[0][0]  # strings that several derivations have
            values = rng.normal(size=(2, count, FEATURES))
            pairs = list(itertools.product(range(count), repeat=2))
            hypotheses.append([parts[0][i] + parts[1][j] for i, j in pairs])
            features.append(np.array([values[0, i] + values[1, j] for i, j in pairs]))
            self.parts.append(parts)
            self.values.append(values)
            whole = [word for half in good for word in half] + rng.choice(WORDS, 2).tolist()
            other = self._spoilt(rng, whole)[: len(whole) - 3]
            self.references.append([" ".join(whole), " ".join(other)])
        super().__init__(hypotheses, features)

    @staticmethod
    def _spoilt(rng: Any, words: list[str]) -> list[str]:
        made = [word if rng.random() < 0.7 else str(rng.choice(WORDS)) for word in words]
        return made + rng.choice(WORDS, rng.integers(0, 3)).tolist()

    def made_forest(self, sentence: int, weights: Array) -> Forest | None:
        self.order.append(sentence)
        if sentence == WITHOUT_FOREST:
            return None
        edges = 2 * self.count
        lines = [line for side in self.parts[sentence] for line in side]
        words = sorted({word for line in lines for word in line})
        symbols = [[words.index(word) for word in line] for line in lines] + [[-1, -2]]
        rows = np.vstack([*self.values[sentence], np.zeros((1, FEATURES))])
        return Forest.from_arrays(
            node_spans=[[0, 2], [2, 5], [0, 5]],
            source=["s"] * 5,
            edge_offsets=[0, self.count, edges, edges + 1],
            tail_offsets=[0] * (edges + 1) + [2],
            tails=[0, 1],
            edge_targets=list(range(edges + 1)),
            target_offsets=np.concatenate([[0], np.cumsum([len(line) for line in symbols])]),
            target_symbols=[symbol for line in symbols for symbol in line],
            words=words,
            features=scipy.sparse.csr_array(rows),
            feature_names=self.feature_names,
        )


class Transcribed:
    """A worker as in the paper: weights, O and O_f, its constraints, and its weights after every update."""

    def __init__(self, decoder: TwoParts, k: int, length: str) -> None:
        self.decoder, self.k, self.length = decoder, k, length
        self.w, self.document = START.copy(), BleuDocument()
        self.constraints: dict[int, tuple[Array, list[float]]] = {}
        self.visited: list[Array] = []

    def counts(self, line: list[str], references: list[list[str]], clipped: bool) -> Array:
        """Counts length, effective reference length, n-grams and matches."""
        lengths = sorted(map(len, references))
        effective = (
            lengths[0] if self.length == "shortest" else min(lengths, key=lambda r: abs(r - len(line)))
        )
        totals, matches = [], []
        for n in range(1, 5):
            grams = [tuple(line[i : i + n]) for i in range(len(line) - n + 1)]
            known = [[tuple(r[i : i + n]) for i in range(len(r) - n + 1)] for r in references]
            totals.append(len(grams))
            matches.append(
                sum(
                    min(grams.count(gram), max(each.count(gram) for each in known))
                    if clipped
                    else grams.count(gram) * any(gram in each for each in known)
                    for gram in set(grams)
                )
            )
        return np.array([len(line), effective, *totals, *matches], dtype=float)

    def learn_from(self, step: int, sentence: int) -> None:
        if sentence == WITHOUT_FOREST:
            return
        lines, h = self.decoder.hypotheses[sentence], self.decoder.features[sentence]
        references = [line.split() for line in self.decoder.references[sentence]]
        clipped = [self.counts(line, references, True) for line in lines]
        b = np.array([self.document.b(each, 5) for each in clipped])
        rough = np.array([self.document.b(self.counts(line, references, False), 5) for line in lines])
        model = h @ self.w

        def best(values: Array) -> list[int]:
            strings: dict[str, int] = {}
            for j in np.argsort(-values, kind="stable").tolist():
                strings.setdefault(" ".join(lines[j]), j)
            return list(strings.values())[: self.k]

        first, good, bad = best(model), best(0.5 * rough + 0.5 * model), best(model - rough)
        found = list(dict.fromkeys([good[0], *first, *good, *bad]))
        self.constraints[step] = h[found], (b[good[0]] - b[found]).tolist()
        self.document = self.document.after_sentence(clipped[first[0]], 5)

    def update(self, batch: Sequence[tuple[Array, list[float]]]) -> None:
        if batch:
            rows = scipy.sparse.csr_array(np.vstack([h for h, _ in batch]))
            ends = np.cumsum([0] + [len(losses) for _, losses in batch])
            losses = [loss for _, each in batch for loss in each]
            fixed = np.arange(FEATURES) == FIXED
            arrays = ends, ends[:-1], losses, rows.indptr, rows.indices, rows.data
            found = smo(*arrays, self.w, fixed, tolerance=1e-15)
            self.w[found.ids] += found.changes
            self.w[BOUND] = np.clip(self.w[BOUND], LOW, HIGH)
        self.visited.append(self.w.copy())


def transcribed(workers: list[Transcribed], order: list[int], lag: int, sharing: bool) -> Array:
    """Makes a pass of all workers, and returns the mean over workers of the averages of their weights."""
    count = len(workers)
    shares = [order[n::count] for n in range(count)]
    for worker in workers:
        worker.constraints, worker.visited = {}, []

    def told(n: int, steps: Sequence[int]) -> list[tuple[Array, list[float]]]:
        others = [workers[m] for m in range(count) if m != n and sharing]
        return [other.constraints[step] for step in steps for other in others if step in other.constraints]

    def own(n: int, step: int) -> list[tuple[Array, list[float]]]:
        return [workers[n].constraints[step]] if step in workers[n].constraints else []

    for t in range(max(map(len, shares))):
        for n, share in enumerate(shares):
            if t < len(share):
                if t > 0:
                    workers[n].update(own(n, t - 1) + told(n, [t - 1 - lag]))
                workers[n].learn_from(t, share[t])
    for n, share in enumerate(shares):
        late = range(max(len(share) - 1 - lag, 0), len(order))
        workers[n].update(own(n, len(share) - 1) + told(n, late))
    return np.asarray(np.mean([np.mean(worker.visited, axis=0) for worker in workers], axis=0))


@pytest.mark.parametrize(
    ("workers", "lag", "sharing", "k", "parts", "length"),
    [
        (3, 1, True, 10, 3, "shortest"),
        (4, 2, True, 3, 3, "closest"),
        (4, 2, False, 10, 3, "shortest"),
        (1, 2, True, 5, 3, "closest"),
        (3, 0, True, 10, 3, "closest"),
    ],
)
def test_passes_do_what_the_paper_says(
    workers: int,
    lag: int,
    sharing: bool,
    k: int,
    parts: int,
    length: EffectiveLength,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Pass.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(Pass.__init__.__kwdefaults__, "tolerance", 1e-15)
    decoder = TwoParts(11, parts)
    metric = Bleu(decoder.references, effective_length=length)
    options = TuneOptions(
        "mira",
        iterations=4,
        patience=9,
        workers=workers,
        lag=lag,
        no_sharing=not sharing,
        k=k,
        fixed=[f"f{FIXED}"],
        bounds={f"f{BOUND}": (LOW, HIGH)},
    )
    start = dict(zip(decoder.feature_names, START, strict=True))
    result = tune(decoder, metric, start, tmp_path / "run", options)
    orders = [decoder.order[at : at + SENTENCES] for at in range(0, 3 * SENTENCES, SENTENCES)]
    assert all(sorted(order) == list(range(SENTENCES)) for order in orders)
    assert len({tuple(order) for order in [*orders, range(SENTENCES)]}) == 4
    transcripts = [Transcribed(decoder, k, length) for _ in range(workers)]
    touched = set()
    for order, iteration in zip(orders, result.iterations[1:], strict=True):
        expected = transcribed(transcripts, order, lag, sharing)
        np.testing.assert_allclose(list(iteration.weights.values()), expected, atol=1e-9, rtol=0)
        touched |= {weights[BOUND] for worker in transcripts for weights in worker.visited}
    # Some weights are at their bounds, others move.
    assert touched & {LOW, HIGH} and len(touched) > 3
    assert np.abs(expected - START).max() > 0.02 and iteration.weights[f"f{FIXED}"] == START[FIXED]


def test_all_lists_have_k_hypotheses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists have k hypotheses, of 132 distinct strings, also if nodes keep fewer by default."""
    decoder = TwoParts(12, 12)
    forest = decoder.made_forest(0, START)
    assert forest is not None
    sizes = []

    def counted(*arguments: Any, **named: Any) -> Any:
        found = rescore(*arguments, **named)
        sizes.append(len(found))
        return found

    rescore = Forest.rescore
    monkeypatch.setattr(Forest, "rescore", counted)
    references = [line.split() for line in decoder.references[0]]
    for k in (5, 120):
        selection = HopeFearSelection(k, 0.5, "forest", True, "shortest")
        constraints, _ = selection.select(forest, START, references, BleuDocument())
        assert sizes == [k, k] and k <= len(constraints.losses) <= 3 * k
        sizes.clear()
