"""Speed of forest algorithms on decoder forests of three corpora, beside plain NumPy twins.

    python benchmarks/forest.py MODELS ../shared/data [--sentences N]

MODELS holds model directories `ja-en`, `de-en` and `ur-en`, as `hiero train` makes them. Prints the machine;
per corpus the forests' sizes; nanoseconds an edge of inside, outside and posteriors together, of the gradient
of risk, of oracle rescoring, and of writing and reading records; milliseconds of a 10,000-best list; what the
forests hold: derivations, entropy, expected and oracle BLEU; and how they grow by n-gram annotation. Times
are CPU time of one thread, the best of three rounds over all forests.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse
from machine import argument_parser, disturbance_check, machine

import hiero
from hiero import FeatureNames, Forest, ForestError
from hiero import forest as hf
from hiero._core import bleu, bleu_counts

# Model, source, references, pop limit.
CORPORA: dict[str, tuple[str, list[str], int]] = {
    "ja-en": ("test.ja", ["test.en"], 200),
    "de-en": ("test2016.de", ["test2016.en"], 1000),
    "ur-en": ("test.ur", [f"test.en.{k}" for k in range(4)], 200),
}
DOCUMENT = [4.0, 4.0, 4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0]
References = list[list[str]]


def best_of_three(work: Callable[[], object]) -> float:
    """Returns seconds of CPU time."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def numpy_inside_outside(forest: Forest, scores: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Returns edge posteriors as a plain NumPy program computes them, node by node in log space."""
    edges, offsets, tails = forest.edge_offsets, forest.tail_offsets, forest.tails
    inside = np.full(forest.node_count, -np.inf)
    weight = np.empty(forest.edge_count)
    for v in range(forest.node_count):
        for e in range(edges[v], edges[v + 1]):
            weight[e] = scores[e] + inside[tails[offsets[e] : offsets[e + 1]]].sum()
        inside[v] = np.logaddexp.reduce(weight[edges[v] : edges[v + 1]])
    node, posterior = np.zeros(forest.node_count), np.zeros(forest.edge_count)
    node[forest.root] = 1
    for v in range(forest.root, -1, -1):
        part = slice(edges[v], edges[v + 1])
        posterior[part] = node[v] * np.exp(weight[part] - inside[v])
        for e in range(edges[v], edges[v + 1]):
            np.add.at(node, tails[offsets[e] : offsets[e + 1]], posterior[e])
    return posterior


def widened(forest: Forest, names: FeatureNames) -> Forest:
    """Returns the forest with an index of as many features as ``names``."""
    rows = forest.features
    shape = (forest.edge_count, len(names))
    return forest.with_features(
        scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape), names
    )


def speed(forests: Sequence[Forest], scores: Sequence[np.ndarray], references: Sequence[References]) -> None:  # type: ignore[type-arg]
    edges = sum(f.edge_count for f in forests)
    nodes = sum(f.node_count for f in forests)
    pairs = list(zip(forests, scores, strict=True))

    def distributions() -> None:
        for f, s in pairs:
            f.distribution(s)

    def risks(problems: Sequence[tuple[Forest, np.ndarray, np.ndarray]]) -> None:  # type: ignore[type-arg]
        for f, weights, loss in problems:
            hf.risk_gradient(hf.LogLinear(f, weights), loss)

    def lists() -> None:
        for f, s in pairs:
            f.kbest_arrays(10_000, s)

    def oracles(beam: int) -> None:
        for (f, s), r in zip(pairs, references, strict=True):
            f.rescore(s, 0.5, r, document=DOCUMENT, document_source=4.0, beam=beam)

    rng = np.random.default_rng(1)
    problems = [(f, 0.1 * rng.normal(size=len(f.feature_names)), rng.random(f.edge_count)) for f in forests]
    names = FeatureNames([str(i) for i in range(1_000_000)])
    wide = [(widened(f, names), np.resize(w, len(names)), loss) for f, w, loss in problems[:3]]
    records = [f.record() for f in forests]

    def read() -> None:
        for f, record in zip(forests, records, strict=True):
            Forest.from_record(record, f.feature_names)

    few = pairs[:3]
    twin = best_of_three(lambda: [numpy_inside_outside(f, s) for f, s in few])
    few_edges = sum(f.edge_count for f, _ in few)
    rows = [
        ("inside, outside, posteriors", best_of_three(distributions) / edges * 1e9, "ns an edge"),
        ("  the same in NumPy", twin / few_edges * 1e9, "ns an edge"),
        ("gradient of risk", best_of_three(lambda: risks(problems)) / edges * 1e9, "ns an edge"),
        ("  of three forests", best_of_three(lambda: risks(problems[:3])) / few_edges * 1e9, "ns an edge"),
        ("  with a million features", best_of_three(lambda: risks(wide)) / few_edges * 1e9, "ns an edge"),
        ("10,000-best as arrays", best_of_three(lists) / len(forests) * 1e3, "ms a sentence"),
        ("oracle rescoring, beam 1", best_of_three(lambda: oracles(1)) / edges * 1e9, "ns an edge"),
        ("record, written", best_of_three(lambda: [f.record() for f in forests]) / edges * 1e9, "ns an edge"),
        ("record, read", best_of_three(read) / edges * 1e9, "ns an edge"),
        ("its size", sum(map(len, records)) / edges, "bytes an edge"),
        ("oracle rescoring, beam 10", best_of_three(lambda: oracles(10)) / nodes / 10 * 1e9, "ns an item"),
    ]
    for name, value, unit in rows:
        print(f"{name:28} {value:8.1f} {unit}")


def growth(forests: Sequence[Forest]) -> None:
    """Prints nodes and edges of annotated forests: median, 95 %, maximum."""

    def spread(values: Sequence[int]) -> str:
        ordered = sorted(values)
        high = ordered[int(0.95 * (len(ordered) - 1))]
        return f"{statistics.median(ordered):10,.0f} {high:10,} {ordered[-1]:10,}"

    print("n-gram annotation: nodes (median, 95 %, maximum), edges (the same)")
    sizes = ([f.node_count for f in forests], [f.edge_count for f in forests])
    print(f"  decoder's {spread(sizes[0])}   {spread(sizes[1])}")
    for n in (2, 3, 4):
        nodes, edges, over = [], [], 0
        for forest in forests:
            try:
                refined = forest.annotate_ngrams(n, max_edges=5_000_000)
                nodes.append(refined.node_count)
                edges.append(refined.edge_count)
            except ForestError:
                over += 1
        note = f"; {over} over 5 million edges left out" if over else ""
        print(f"  n = {n}     {spread(nodes)}   {spread(edges)}{note}")


def contents(
    forests: Sequence[Forest], scores: Sequence[np.ndarray], references: Sequence[References]
) -> None:  # type: ignore[type-arg]
    digits = [math.log10(f.derivation_count) for f in forests]
    distributions = [f.distribution(s) for f, s in zip(forests, scores, strict=True)]
    entropies = [hf.entropy(p) for p in distributions]
    print(
        f"log10 derivations {statistics.mean(digits):.2f} and entropy {statistics.mean(entropies):.2f}, means"
    )
    sampled, viterbi = np.zeros(10), np.zeros(10)
    for p, s, r in zip(distributions, scores, references, strict=True):
        best = p.forest.viterbi(s)
        assert best is not None
        viterbi += bleu_counts(best.tokens, r)
        for d in p.sample(20, seed=1):
            sampled += bleu_counts(d.tokens, r)
    parts = [f"expected (20 samples) {100 * bleu(sampled):.1f}", f"Viterbi {100 * bleu(viterbi):.1f}"]
    for mu in (0.0, 0.5, 1.0):
        counts, source, model = np.array(DOCUMENT), 4.0, 0.0
        total = np.zeros(10)
        for f, s, r in zip(forests, scores, references, strict=True):
            (top,) = f.rescore(s, mu, r, document=counts, document_source=source, k=1)
            total += top.counts
            model += top.derivation.score
            counts = 0.9 * (counts + top.counts)
            source = 0.9 * (source + len(f.source))
        parts.append(f"mu = {mu:g}: {100 * bleu(total):.1f} at score {model / len(forests):.3f}")
    print("BLEU:", "; ".join(parts))


def main() -> None:
    parser = argument_parser(__doc__, "models", "data")
    parser.add_argument("--sentences", type=int, default=60, help="of each test set")
    arguments = parser.parse_args()
    print(machine())
    for corpus, (source, names, pop_limit) in CORPORA.items():
        decoder = hiero.Decoder(hiero.Model.load(arguments.models / corpus), pop_limit=pop_limit)
        lines = (arguments.data / corpus / source).read_text().splitlines()[: arguments.sentences]
        texts = [(arguments.data / corpus / name).read_text().splitlines() for name in names]
        forests, scores, references = [], [], []
        for i, result in enumerate(decoder.translate_batch(lines, keep="forest")):
            if result.has_parse:
                forests.append(result.forest)
                scores.append(result.forest.scores(decoder.model.weights))
                references.append([text[i].split() for text in texts])
        edges = [f.edge_count for f in forests]
        size = f"{len(forests)} forests, {sum(edges):,} edges, at most {max(edges):,}"
        print(f"\n== {corpus}, pop limit {pop_limit}: {size}")
        with disturbance_check():
            speed(forests, scores, references)
        contents(forests, scores, references)
        growth(forests)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
