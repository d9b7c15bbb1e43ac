"""Forest algorithms against enumeration of all derivations of small random forests; arrays that make none."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
from typing import Any

import numpy as np
import pytest
from brute_force_forest import (
    counts,
    derivations,
    incoming,
    small_random_forest,
    tails,
    total,
    words,
)

from hiero import Forest, ForestError

SEEDS = range(300)


def random_scores(
    rng: random.Random, forest: Forest, ties: bool = False
) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = [float(rng.randint(-2, 2)) if ties else rng.gauss(0, 1) for _ in range(forest.edge_count)]
    return np.array(values)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_derivations_and_their_number(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest, ties=seed % 2 == 0)
    all_of_them = derivations(forest)
    assert forest.derivation_count == len(all_of_them)
    # Whole numbers add up exactly; ties go by edge index.
    expected = sorted(all_of_them, key=lambda d: (-round(total(scores, d), 9), d))
    found = forest.kbest(len(expected) + 5, scores)
    assert [d.score for d in found] == pytest.approx([total(scores, d) for d in expected])
    if seed % 2 == 0:
        assert sorted(tuple(d.edges) for d in found) == sorted(expected)
        assert tuple(found[0].edges) == expected[0]
    best = forest.viterbi(scores)
    assert best is not None and list(best.edges) == list(found[0].edges)
    assert best.score == pytest.approx(found[0].score)
    lazy = list(itertools.islice(forest.kbest_iter(scores), 3))
    assert [list(d.edges) for d in lazy] == [list(d.edges) for d in found[:3]]

    for derivation in found[:20]:
        assert derivation.tokens == words(forest, tuple(derivation.edges))
    strings: dict[tuple[str, ...], float] = {}
    for d in expected:
        strings.setdefault(tuple(words(forest, d)), total(scores, d))
    unique = forest.kbest(len(expected), scores, unique=True)
    assert {tuple(d.tokens): d.score for d in unique} == pytest.approx(strings)
    assert [d.score for d in unique] == sorted((d.score for d in unique), reverse=True)

    arrays = forest.kbest_arrays(10, scores)
    assert len(arrays) == len(found[:10])
    for k, derivation in enumerate(found[:10]):
        edges = arrays.edges[arrays.edge_offsets[k] : arrays.edge_offsets[k + 1]]
        assert list(edges) == list(derivation.edges) and arrays.scores[k] == derivation.score
        text = [forest.words[w] for w in arrays.words[arrays.word_offsets[k] : arrays.word_offsets[k + 1]]]
        assert text == derivation.tokens
        row = forest.features.toarray()[list(edges)].sum(axis=0)
        assert arrays.features[[k]].toarray()[0] == pytest.approx(row)


@pytest.mark.parametrize("seed", SEEDS)
def test_inside_outside_and_posteriors(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest)
    if seed % 3 == 0:
        scores[rng.randrange(forest.edge_count)] = -np.inf
    all_of_them = derivations(forest)
    weights = np.array([np.exp(total(scores, d)) for d in all_of_them])
    if weights.sum() == 0:
        with pytest.raises(ValueError, match="no derivation of positive weight"):
            forest.distribution(scores)
        return
    p = forest.distribution(scores)
    assert p.log_z == pytest.approx(np.log(weights.sum()))
    probability = weights / weights.sum()
    uses = np.zeros(forest.edge_count)
    for weight, d in zip(probability, all_of_them, strict=True):
        np.add.at(uses, list(d), weight)
    assert p.edges == pytest.approx(uses)
    heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
    nodes = np.bincount(heads, uses, forest.node_count)
    assert p.nodes == pytest.approx(nodes)
    for node in range(forest.node_count):
        inside = sum(np.exp(total(scores, d)) for d in derivations(forest, node))
        assert np.exp(p.inside[node]) == pytest.approx(inside)
        # inside times outside over Z: expected uses of the node
        if nodes[node] > 0:
            assert np.exp(p.inside[node] + p.outside[node] - p.log_z) == pytest.approx(nodes[node])
    r = random_scores(rng, forest)
    expected, sizes = np.zeros(forest.edge_count), np.zeros(forest.edge_count)
    for weight, d in zip(probability, all_of_them, strict=True):
        np.add.at(expected, list(d), weight * total(r, d))
        np.add.at(sizes, list(d), weight * total(np.abs(r), d))
    assert isinstance(p.edge_expectations(r), np.ndarray)
    assert (np.abs(p.edge_expectations(r) - expected) <= 1e-12 * sizes).all()


def test_samples_follow_the_distribution() -> None:
    rng = random.Random(5)
    while True:
        forest = small_random_forest(rng, most=40)
        if (n := len(derivations(forest))) >= 10:
            break
    scores = random_scores(rng, forest)
    p = forest.distribution(scores)
    drawn = p.sample(20000, seed=1)
    assert [list(d.edges) for d in p.sample(50, seed=1)] == [list(d.edges) for d in drawn[:50]]
    assert [list(d.edges) for d in p.sample(50, seed=2)] != [list(d.edges) for d in drawn[:50]]
    weights = {d: np.exp(total(scores, d) - p.log_z) for d in derivations(forest)}
    chi_square = 0.0
    for d, probability in weights.items():
        seen = sum(tuple(other.edges) == d for other in drawn)
        chi_square += (seen - 20000 * probability) ** 2 / (20000 * probability)
    assert chi_square < n + 5 * np.sqrt(2 * n)
    assert drawn[0].score == pytest.approx(total(scores, tuple(drawn[0].edges)))


@pytest.mark.parametrize("seed", SEEDS)
def test_pruning(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest)
    all_of_them = derivations(forest)
    best = max(total(scores, d) for d in all_of_them)
    margin = rng.choice([0.0, 0.5, 2.0])
    pruned = forest.prune(scores, margin=margin)
    kept = {e for d in all_of_them if total(scores, d) >= best - margin - 1e-9 for e in d}
    assert set(pruned.edge_origins) == kept
    left = {tuple(int(pruned.edge_origins[e]) for e in d) for d in derivations(pruned)}
    assert left == {d for d in all_of_them if set(d) <= kept}
    assert [words(pruned, d) for d in derivations(pruned)] == [
        words(forest, tuple(int(pruned.edge_origins[e]) for e in d)) for d in derivations(pruned)
    ]
    assert (pruned.features != forest.features[pruned.edge_origins]).nnz == 0

    p = forest.distribution(scores)
    threshold = rng.choice([0.0, 0.2, 0.9])
    pruned = forest.prune(scores, posterior=threshold)
    top = forest.viterbi(scores)
    assert top is not None
    marked = {e for e in range(forest.edge_count) if p.edges[e] >= threshold} | set(top.edges)
    left = {tuple(int(pruned.edge_origins[e]) for e in d) for d in derivations(pruned)}
    assert left == {d for d in all_of_them if set(d) <= marked}

    keep = np.array([rng.random() < 0.7 for _ in range(forest.edge_count)])
    part = forest.subforest(keep)
    left = {
        tuple(int(part.edge_origins[e]) for e in d) for d in (derivations(part) if part.root >= 0 else [])
    }
    assert left == {d for d in all_of_them if keep[list(d)].all()}
    assert part.derivation_count == len(left)


def test_limits_of_pruning() -> None:
    forest = Forest.from_arrays(**GOOD)
    for limit in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="posterior: expected 0 or more"):
            forest.prune([0.0] * 3, posterior=limit)
        with pytest.raises(ValueError, match="margin: expected 0 or more"):
            forest.prune([0.0] * 3, margin=limit)
    nothing = forest.subforest([False] * 3)
    assert nothing.prune([], posterior=0.1).root == nothing.prune([], margin=1.0).root == -1


@pytest.mark.parametrize("seed", SEEDS)
def test_forced_decoding(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300)
    strings = {d: tuple(words(forest, d)) for d in derivations(forest)}
    references = [list(rng.choice(list(strings.values()))) for _ in range(rng.randint(1, 2))]
    references.append([rng.choice("abcde") for _ in range(rng.randint(0, 4))])
    forced = forest.constrain(references)
    expected = [d for d, string in strings.items() if list(string) in references]
    left = [tuple(int(forced.edge_origins[e]) for e in d) for d in derivations(forced)] if expected else []
    assert sorted(left) == sorted(expected)
    assert forced.derivation_count == len(expected)
    assert forest.constrain([["nothing", "like", "it"]]).node_count == 0


@pytest.mark.parametrize("seed", range(100))
def test_union(seed: int) -> None:
    rng = random.Random(seed)
    forests = [small_random_forest(rng, most=100) for _ in range(rng.randint(1, 3))]
    scores = [random_scores(rng, forest) for forest in forests]
    keep = np.zeros(forests[0].edge_count, bool)
    forests.append(forests[0].subforest(keep))  # without derivations
    union = Forest.union(forests)
    weights = np.array([rng.gauss(0, 1) for _ in union.feature_names])
    found = union.kbest(1000, union.scores(weights))
    expected = []
    for forest in forests:
        if forest.root >= 0:
            assert forest.feature_names == union.feature_names
            expected += [(d.score, tuple(d.tokens)) for d in forest.kbest(1000, forest.scores(weights))]
    assert union.derivation_count == len(expected) == len(found)
    for d, (score, tokens) in zip(
        sorted((d.score, tuple(d.tokens)) for d in found), sorted(expected), strict=True
    ):
        assert d == (pytest.approx(score), tokens)
    assert len(scores) + 1 == len(forests)
    with pytest.raises(ValueError, match="a forest or more"):
        Forest.union([])


def test_union_with_nothing() -> None:
    with pytest.raises(TypeError, match="None is no forest"):
        Forest.union([Forest.from_arrays(**GOOD), None])  # type: ignore[list-item]


def test_large_numbers_of_derivations() -> None:
    # n nodes with two edges to the one below, one of them with that tail twice
    n = 9
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, *(1 + 2 * i for i in range(1, n))],
        tail_offsets=list(itertools.accumulate([0, 0, *([1, 2] * (n - 1))])),
        tails=[node for node in range(n - 1) for _ in range(3)],
    )
    expected = 1
    for _ in range(n - 1):
        expected = expected + expected**2
    assert expected > 2**128
    assert forest.derivation_count == expected == counts(forest)[-1]


def test_derivations_beyond_all_memory() -> None:
    # Every node but the first has the one below twice, so that derivations have 2^n - 1 edges.
    n = 100
    forest = Forest.from_arrays(
        edge_offsets=[0, *range(2, n + 2)],
        tail_offsets=[0, 0, *range(0, 2 * n - 1, 2)],
        tails=np.repeat(np.arange(n - 1), 2),
    )
    scores = np.full(n + 1, -1.0)
    scores[1] = -2.0
    with pytest.raises(ForestError, match=r"there are over 2\^\(2\^20\) derivations"):
        _ = forest.derivation_count
    small = forest.subforest([True, False] + [True] * (n - 1))
    assert small.derivation_count == 1
    for search in (forest.viterbi, lambda scores: forest.kbest(1, scores)):
        with pytest.raises(ForestError, match=r"a derivation has over 2\^27 edges"):
            search(scores)


GOOD: dict[str, Any] = {
    "edge_offsets": [0, 1, 3],
    "tail_offsets": [0, 0, 1, 3],
    "tails": [0, 0, 0],
    "words": ["a", "b"],
    "edge_targets": [0, 1, 2],
    "target_offsets": [0, 1, 2, 5],
    "target_symbols": [0, -1, -2, 1, -1],
    "features": [[1.0], [0.0], [-2.0]],
    "feature_names": ["f"],
}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"tails": [0, 1, 0]}, "edge 2: tail 1 does not come before its head, node 1"),
    ({"tails": [0, -1, 0]}, "edge 2: tail -1"),
    ({"tails": [0, 0, 7]}, "edge 2: tail 7"),
    ({"tails": [0.5, 0, 0]}, "tails: expected integers"),
    ({"tails": [0, 0, 2**40]}, "out of range"),
    ({"tails": [0, [0], 0]}, "tails: expected an array"),
    ({"features": [1.0, 0.0, -2.0]}, "features: expected a matrix"),
    ({"features": [[1.0], [0.0], [1j]]}, "features: expected real numbers"),
    ({"edge_offsets": [0, 0, 3]}, "node 0 has no edges"),
    ({"edge_offsets": [0, 3, 3]}, "node 1 has no edges"),
    ({"edge_offsets": [0, 4, 3]}, "edge_offsets 1: offsets fall"),
    ({"edge_offsets": [0, 1, 2]}, "edge_offsets: expected to go from 0 to 3"),
    ({"edge_offsets": [1, 1, 3]}, "edge_offsets: expected to go from 0"),
    ({"edge_offsets": []}, "edge_offsets"),
    ({"tail_offsets": [0, 0, 1, 2]}, "tail_offsets: expected to go from 0 to 3"),
    ({"tail_offsets": [0, 2, 1, 3]}, "tail_offsets 1: offsets fall"),
    ({"tail_offsets": []}, "edge_rules|edge_targets|edge_offsets|features"),
    ({"words": ["a", "a"]}, "words: a stands there twice"),
    ({"edge_targets": [0, 1, 3]}, "edge_targets 2: index 3 is out of range"),
    ({"edge_targets": [0, 2, 1]}, "edge 1 has fewer tails than its target uses"),
    ({"target_symbols": [2, -1, -2, 1, -1]}, "target 0: word 2 is out of range"),
    ({"target_symbols": [0, -1, -1, 1, -1]}, "target 2: uses tail 0 twice"),
    ({"target_symbols": [0, -1, -9, 1, -1]}, "target 2: tail 8 is out of range"),
    ({"target_offsets": []}, "target_offsets|link_offsets"),
    ({"links": [[0, 5]], "link_offsets": [0, 1, 1, 1]}, "target 0: a link points beyond it"),
    ({"features": [[1.0], [np.nan], [0.0]]}, "a feature value is nan"),
    ({"features": [[1.0], [0.0]]}, "expected a matrix of 3 edges by 1 feature names, found 2 by 1"),
    ({"feature_names": []}, "expected a matrix"),
    ({"node_spans": [[0, 1]]}, "node_spans: expected 4 entries, found 2"),
    ({"node_spans": [[0, 1], [3, 2]]}, "node 1: span out of order"),
    ({"node_labels": [0, 0]}, "node_labels 0: index 0 is out of range"),
    ({"edge_tables": [0, -1, -1]}, "edge_tables 0: index 0 is out of range"),
    ({"edge_rules": [1]}, "edge_rules: expected 3 entries"),
]


def test_good_arrays() -> None:
    forest = Forest.from_arrays(**GOOD)
    assert [d.text for d in forest.kbest(5, [0.0, 0.0, -1.0])] == ["a", "a b a"]
    assert [d.score for d in forest.kbest(2, {"f": -1.0})] == [0.0, -1.0]
    assert tails(forest, 2) == [0, 0] and list(incoming(forest, 1)) == [1, 2]
    assert forest.derivation([2, 0, 0], [1.0, 0.0, 2.0]).score == 4.0
    for edges in ([2, 0], [1, 0, 0], [0], [2, 0, 5], []):
        with pytest.raises(ForestError, match="derivation: "):
            forest.derivation(edges)
    for weights in ({}, {"f": 1.0, "g": 2.0}):
        with pytest.raises(ValueError, match="weight for"):
            forest.scores(weights)
    for scores in ([0.0, 1.0], [0.0, 1.0, np.nan], [0.0, 1.0, np.inf], [[0.0, 1.0, 2.0]]):
        with pytest.raises(ValueError):
            forest.distribution(scores)
    empty = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[])
    assert (empty.root, empty.derivation_count, empty.viterbi([])) == (-1, 0, None)
    assert empty.kbest(3, []) == []
    with pytest.raises(TypeError, match="unexpected argument 'node'"):
        Forest.from_arrays(**GOOD, node=1)


@pytest.mark.parametrize(("change", "message"), BAD, ids=lambda x: None if isinstance(x, dict) else x[:40])
def test_arrays_that_make_no_forest(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ForestError, match=message):
        Forest.from_arrays(**{**GOOD, **change})


def test_lattices_are_forests() -> None:
    # A finite-state automaton: nodes are states, the first one's edge has no tail.
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, 3, 6],
        tail_offsets=[0, 0, 1, 2, 3, 4, 5],
        tails=[0, 0, 1, 1, 0],
        words=["a", "b"],
        edge_targets=[2, 0, 1, 0, 1, 0],
        target_offsets=[0, 2, 4, 4],
        target_symbols=[-1, 0, -1, 1],
    )
    assert sorted(d.text for d in forest.kbest(10, np.zeros(6))) == ["a", "a a", "a b", "b a", "b b"]


def test_no_links_below_tails_that_a_target_leaves_out() -> None:
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, 2],
        tail_offsets=[0, 0, 1],
        tails=[0],
        node_spans=[[0, 1], [0, 2]],
        words=["A", "B"],
        edge_targets=[0, 1],
        target_offsets=[0, 1, 2],
        target_symbols=[0, 1],
        link_offsets=[0, 1, 2],
        links=[[0, 0], [1, 0]],
    )
    (derivation,) = forest.kbest(2, [0.0, 0.0])
    assert (derivation.text, derivation.alignment) == ("B", [(1, 0)])


def test_deep_forests() -> None:
    depth = 300_000
    chain = Forest.from_arrays(
        edge_offsets=[0, *range(2, depth + 2)],
        tail_offsets=[0, 0, *range(depth)],
        tails=np.arange(depth - 1),
    )
    scores = np.zeros(depth + 1)
    scores[1] = -1.0
    assert [(d.score, len(d.edges)) for d in chain.kbest(5, scores)] == [(0.0, depth), (-1.0, depth)]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_scores(score: float) -> None:
    forest = Forest.from_arrays(**GOOD)
    scores = [0.0, score, 0.0]
    for search in (
        forest.viterbi,
        forest.kbest_iter,
        lambda scores: forest.kbest(2, scores),
        lambda scores: forest.kbest_arrays(2, scores),
        forest.distribution,
        lambda scores: forest.prune(scores, margin=1.0),
    ):
        with pytest.raises(ValueError, match="scores: edge 1 has"):
            search(scores)


def test_weights_that_are_no_weights() -> None:
    forest = Forest.from_arrays(**GOOD)
    with pytest.raises(ValueError, match="could not convert string to float"):
        forest.viterbi({"f": "a"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="a weight for 7, which is no feature"):
        forest.viterbi({"f": 1.0, 7: 2.0})  # type: ignore[dict-item]


def test_no_derivation_of_weight_zero() -> None:
    forest = Forest.from_arrays(**GOOD)
    scores = [0.0, float("-inf"), -3.0]
    assert [d.edges.tolist() for d in forest.kbest(5, scores)] == [[2, 0, 0]]
    assert len(forest.kbest_arrays(5, scores)) == 1
    for none in ([float("-inf"), 0.0, 0.0], [0.0, float("-inf"), float("-inf")]):
        assert forest.viterbi(none) is None and forest.kbest(5, none) == []


def test_forced_decoding_of_an_edge_of_many_tails() -> None:
    arity = 100_000
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, 2],
        tail_offsets=[0, 0, arity],
        tails=np.zeros(arity, dtype=int),
        words=["a"],
        edge_targets=[0, 1],
        target_offsets=[0, 0, arity + 1],
        target_symbols=[*range(-1, -1 - arity, -1), 0],
    )
    assert forest.constrain([["a"]]).derivation_count == 1
    assert forest.constrain([["a", "a"]]).derivation_count == 0


@pytest.mark.parametrize("score", [1e30, -1e30, 1e13])
def test_weights_beyond_all_range(score: float) -> None:
    with pytest.raises(ValueError, match="edge 1 has a log weight beyond 1e12"):
        Forest.from_arrays(**GOOD).distribution([0.0, score, 0.0])
    assert Forest.from_arrays(**GOOD).distribution([0.0, 1e12, -1e12]).edges.tolist() == [1.0, 1.0, 0.0]


def test_threads_may_share_a_list() -> None:
    nodes, count, workers = 30, 4000, 4
    chain = Forest.from_arrays(
        edge_offsets=range(0, 2 * nodes + 1, 2),
        tail_offsets=[0, 0, *range(2 * nodes - 1)],
        tails=np.repeat(np.arange(nodes - 1), 2),
    )
    scores = np.random.default_rng(3).normal(size=2 * nodes)
    shared = chain.kbest_iter(scores)
    found: list[float] = []

    def take() -> None:
        found.extend(next(shared).score for _ in range(count))

    threads = [threading.Thread(target=take) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, reverse=True) == [d.score for d in chain.kbest(workers * count, scores)]


@pytest.mark.parametrize("arrays", [False, True])
def test_long_lists_can_be_interrupted(arrays: bool) -> None:
    nodes = 60
    chain = Forest.from_arrays(
        edge_offsets=range(0, 2 * nodes + 1, 2),
        tail_offsets=[0, 0, *range(2 * nodes - 1)],
        tails=np.repeat(np.arange(nodes - 1), 2),
    )
    scores = np.random.default_rng(3).normal(size=2 * nodes)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # Would never end.
        chain.kbest_arrays(10**9, scores) if arrays else chain.kbest(10**9, scores)
    timer.join()


def test_distinct_strings_of_very_many_derivations() -> None:
    # 60 nodes with two edges each that make the same word: 2^60 derivations of one string, and two words at
    # the last node.
    words, depth = ["a", "b"], 60
    forest = Forest.from_arrays(
        edge_offsets=range(0, 2 * depth + 1, 2),
        tail_offsets=[0, 0, *range(0, 2 * depth - 1)],
        tails=np.repeat(np.arange(depth - 1), 2),
        words=words,
        edge_targets=[0, 0, *[1, 1] * (depth - 2), 1, 2],
        target_offsets=[0, 1, 3, 5],
        target_symbols=[0, 0, -1, 1, -1],
    )
    scores = np.linspace(0, 1, forest.edge_count)
    found = [d.tokens for d in forest.kbest_iter(scores, unique=True)]
    assert found == [["b"] + ["a"] * (depth - 1), ["a"] * depth]
    assert len(forest.kbest_arrays(10, scores, unique=True)) == 2
