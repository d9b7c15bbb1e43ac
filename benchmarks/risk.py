"""The effect of pruning on minimum risk, and the time of a pass over a set of forests.

    python benchmarks/risk.py MODEL TEXT REFERENCES... [--pop-limit 200] [--sentences 500] [--threads 1 2]

Decodes a tokenised text with the model's weights. Of the first sentences whose whole forests can be annotated
with 4-grams prints expected loss, entropy and gradient, at several gammas, and how far they are from that
where forests are pruned first: to so many edges, or to edges of a posterior. Then, of all sentences at the
default bound, edges and seconds of a pass that sums the objective and its gradient, with the model's features
and with a count of each unigram and bigram besides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from machine import argument_parser, disturbance_check, machine, tokenised_pairs

import hiero
from hiero import Forest, ForestError
from hiero._core import ForestSource, RiskSum, minimum_risk
from hiero.forest.decisions import best_part
from hiero.forest.losses import ORDER, LinearBleu, totals_and_matches
from hiero.rerank import NgramFeatures
from hiero.tune.methods.risk import RiskOptions

WHOLE = 60  # sentences whose forests are annotated without pruning
MOST = 1_500_000  # edges of them
LOSS = LinearBleu(1.0).costs
PRUNED: Sequence[tuple[str, Callable[[Forest, np.ndarray], Forest]]] = [  # type: ignore[type-arg]
    *((f"{n:,} edges", lambda f, s, n=n: f.prune(s, edges=n)) for n in (300, 1000, 3000, 10_000)),  # type: ignore[misc]
    *((f"posterior {p:g}", lambda f, s, p=p: f.prune(s, posterior=p)) for p in (1e-2, 1e-3, 1e-4)),  # type: ignore[misc]
]
Pair = tuple[Forest, list[list[str]]]


class Problem:
    """The risk of annotated forests with their counts."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        counts = [totals_and_matches(forest, references) for forest, references in pairs]
        self.edges = sum(map(len, counts))
        self._arguments = (
            ForestSource([forest for forest, _ in pairs]),
            np.concatenate(counts),
            np.cumsum([0, *map(len, counts)]),
            LOSS,
        )

    def sum(self, weights: np.ndarray, gamma: float = 1.0, threads: int = 1) -> RiskSum:  # type: ignore[type-arg]
        return minimum_risk(*self._arguments, weights, gamma=gamma, threads=threads)


def compare(pairs: Sequence[Pair], weights: np.ndarray) -> None:  # type: ignore[type-arg]
    unpruned, whole = [], []
    for forest, references in pairs:
        try:
            whole.append((forest.annotate_ngrams(4, max_edges=MOST), references))
            unpruned.append((forest, references))
        except ForestError:
            continue
    exact = Problem(whole)
    count, edges = len(unpruned), sum(forest.edge_count for forest, _ in unpruned)
    print(f"{count} sentences, {edges / count:,.0f} edges a forest, {exact.edges / count:,.0f} annotated")
    for gamma in (0.5, 1.0, 2.0, 4.0):
        full = exact.sum(weights, gamma)
        print(f"gamma {gamma:g}: R {LOSS @ full.counts / count:.3f}, H {full.entropy / count:.3f}")
        for name, prune in PRUNED:
            small = [(prune(forest, forest.scores(gamma * weights)), r) for forest, r in unpruned]
            size = sum(forest.edge_count for forest, _ in small) / count
            problem = Problem([(forest.annotate_ngrams(4), r) for forest, r in small])
            pruned = problem.sum(weights, gamma)
            change = np.linalg.norm(pruned.gradient - full.gradient) / np.linalg.norm(full.gradient)
            sums = f"R {LOSS @ pruned.counts / count:.3f}, H {pruned.entropy / count:.3f}"
            sizes = f"{size:7,.0f} edges, {problem.edges / count:8,.0f} annotated"
            print(f"  {name:16} {sizes}, {sums}, gradient differs by {change:.1%}")


def measure(pairs: Sequence[Pair], weights: np.ndarray, threads: Sequence[int]) -> None:  # type: ignore[type-arg]
    bound = RiskOptions().edges
    split = [
        (best_part(forest, forest.scores(weights), bound, ORDER)[0], references)
        for forest, references in pairs
    ]
    features = NgramFeatures(sorted({n for f, _ in split for n in f.ngrams()[0] if len(n) <= 2}))
    wide = [(features.on(forest, forest.scores(weights)), references) for forest, references in split]
    heavy = np.zeros(len(features))
    heavy[0] = 1.0
    for label, problem, theta in (
        (f"{len(weights)} features", Problem(split), weights),
        (f"{len(features):,} features", Problem(wide), heavy),
    ):
        for count in threads:
            times = []
            for _ in range(3):
                begin = time.perf_counter()
                problem.sum(theta, threads=count)
                times.append(time.perf_counter() - begin)
            each = min(times) * count / problem.edges * 1e9
            size = f"{len(pairs)} forests of {problem.edges / len(pairs):,.0f} edges"
            took = f"{min(times):.2f} s a pass, {each:.0f} ns an edge and thread"
            print(f"{label}, {size}, threads {count}: {took}")


def main() -> None:
    parser = argument_parser(__doc__, "model", "text")
    parser.add_argument("references", type=Path, nargs="+")
    parser.add_argument("--pop-limit", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    model = hiero.Model.load(arguments.model)
    decoder = hiero.Decoder(model, pop_limit=arguments.pop_limit)
    weights = model.weight_vector(model.weights)
    pairs = []
    for source, references in tokenised_pairs(arguments.text, arguments.references, arguments.sentences):
        forest = decoder.translate(source, keep="forest").forest
        if forest.root >= 0:
            pairs.append((forest, references))
    print(machine())
    with disturbance_check():
        print(f"{arguments.model}, {arguments.text}, pop limit {arguments.pop_limit}")
        compare(pairs[:WHOLE], weights)
        measure(pairs, weights, arguments.threads)


if __name__ == "__main__":
    main()
