"""Tests of forest algorithms against all derivations of small random forests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hiero import Forest
from support.brute_force_forest import (
    derivation_value,
    derivation_words,
    derivations,
    incoming_edges,
    small_random_forest,
    tails,
)
from support.seeds import each_seed
from support.small_forest import VALID_ARRAYS

SEEDS = range(300)


@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097])
def test_strings_are_told_apart_at_any_length(length: int) -> None:
    # Two long strings as tails in both orders, and the first order again as one target side.
    a, b = [0] * length, [1] * length
    targets = [a, b, [-1, -2], [-2, -1], [*a, *b]]
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, 2, 5],
        tail_offsets=[0, 0, 0, 2, 4, 4],
        tails=[0, 1, 0, 1],
        edge_targets=range(5),
        target_offsets=list(itertools.accumulate(map(len, targets), initial=0)),
        target_symbols=list(itertools.chain(*targets)),
        words=["a", "b"],
    )
    kbest = forest.kbest(9, np.zeros(5), unique=True)
    assert [derivation.text for derivation in kbest] == [
        " ".join(first * length + second * length) for first, second in ("ab", "ba")
    ]


def random_scores(
    rng: random.Random, forest: Forest, ties: bool = False
) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = [float(rng.randint(-2, 2)) if ties else rng.gauss(0, 1) for _ in range(forest.edge_count)]
    return np.array(values)


@each_seed(SEEDS)
def test_best_derivations_and_their_number(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest, ties=seed % 2 == 0)
    all_of_them = derivations(forest)
    assert forest.derivation_count == len(all_of_them)
    # Sums of integers are exact; ties are broken by edge index.
    expected = sorted(all_of_them, key=lambda d: (-round(derivation_value(scores, d), 9), d))
    kbest = forest.kbest(len(expected) + 5, scores)
    assert [d.score for d in kbest] == pytest.approx([derivation_value(scores, d) for d in expected])
    if seed % 2 == 0:
        assert sorted(tuple(d.edges) for d in kbest) == sorted(expected)
        assert tuple(kbest[0].edges) == expected[0]
    best = forest.viterbi(scores)
    assert best is not None and list(best.edges) == list(kbest[0].edges)
    assert best.score == pytest.approx(kbest[0].score)
    lazy = list(itertools.islice(forest.kbest_iter(scores), 3))
    assert [list(d.edges) for d in lazy] == [list(d.edges) for d in kbest[:3]]

    for derivation in kbest[:20]:
        assert derivation.tokens == derivation_words(forest, tuple(derivation.edges))
    strings: dict[tuple[str, ...], float] = {}
    for d in expected:
        strings.setdefault(tuple(derivation_words(forest, d)), derivation_value(scores, d))
    unique = forest.kbest(len(expected), scores, unique=True)
    assert {tuple(d.tokens): d.score for d in unique} == pytest.approx(strings)
    assert [d.score for d in unique] == sorted((d.score for d in unique), reverse=True)

    # Any node may be the root.
    node = rng.randrange(forest.node_count)
    below = sorted(derivations(forest, node), key=lambda d: -derivation_value(scores, d))
    some = forest.kbest(len(below) + 5, scores, node=node)
    assert [d.score for d in some] == pytest.approx([derivation_value(scores, d) for d in below])
    assert sorted(tuple(d.edges) for d in some) == sorted(below)
    first = forest.viterbi(scores, node)
    assert first is not None and first.edges.tolist() == some[0].edges.tolist()
    assert [d.edges.tolist() for d in forest.kbest_iter(scores, node=node)] == [
        d.edges.tolist() for d in some
    ]
    assert forest.kbest_arrays(3, scores, node=node).scores.tolist() == [d.score for d in some[:3]]
    again = forest.derivation(some[-1].edges, scores, node)
    assert again.score == pytest.approx(some[-1].score) and again.tokens == some[-1].tokens
    assert some[-1].tokens == derivation_words(forest, tuple(some[-1].edges))

    arrays = forest.kbest_arrays(10, scores)
    assert len(arrays) == len(kbest[:10])
    for k, derivation in enumerate(kbest[:10]):
        edges = arrays.edges[arrays.edge_offsets[k] : arrays.edge_offsets[k + 1]]
        assert list(edges) == list(derivation.edges) and arrays.scores[k] == derivation.score
        text = [forest.words[w] for w in arrays.words[arrays.word_offsets[k] : arrays.word_offsets[k + 1]]]
        assert text == derivation.tokens
        row = forest.features.toarray()[list(edges)].sum(axis=0)
        assert arrays.features[[k]].toarray()[0] == pytest.approx(row)
        begin, end = arrays.features.indptr[k : k + 2]
        assert (np.diff(arrays.features.indices[begin:end]) > 0).all()


def ranked(forest: Forest, scores: Sequence[float], unique: bool) -> list[tuple[float, list[int]]]:
    """Returns all derivations of the root with their scores, in the order that kbest.h defines: at each node
    by score, then edge, then the ranks of the tails. With `unique`, only the first derivation of each
    string."""
    by_node: list[list[tuple[float, list[int]]]] = []
    for node in range(forest.node_count):
        choices = []
        for edge in incoming_edges(forest, node):
            below = [by_node[tail] for tail in tails(forest, edge)]
            for ranks in itertools.product(*(range(len(node_derivations)) for node_derivations in below)):
                parts = [node_derivations[rank] for node_derivations, rank in zip(below, ranks, strict=True)]
                score = scores[edge] + sum(part[0] for part in parts)
                choices.append((-score, edge, ranks, [edge, *(e for _, edges in parts for e in edges)]))
        node_derivations = [(-score, edges) for score, _, _, edges in sorted(choices)]
        if unique:
            first = {
                tuple(derivation_words(forest, tuple(edges))): (score, edges)
                for score, edges in reversed(node_derivations)
            }
            node_derivations = [derivation for derivation in node_derivations if derivation in first.values()]
        by_node.append(node_derivations)
    return by_node[-1]


@each_seed(range(0, 300, 3))
def test_ties_of_kbest_lists_go_by_edges_and_ranks(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300)
    scores = [float(rng.randint(-1, 1)) for _ in range(forest.edge_count)]
    for unique in (False, True):
        expected = ranked(forest, scores, unique)
        kbest = forest.kbest(len(expected) + 5, scores, unique)
        assert [(d.score, d.edges.tolist()) for d in kbest] == expected
        iterated = forest.kbest_iter(scores, unique)
        assert [d.edges.tolist() for d in iterated] == [edges for _, edges in expected]


@each_seed(SEEDS)
def test_inside_outside_and_posteriors(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest)
    if seed % 3 == 0:
        scores[rng.randrange(forest.edge_count)] = -np.inf
    all_of_them = derivations(forest)
    weights = np.array([np.exp(derivation_value(scores, d)) for d in all_of_them])
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
        inside = sum(np.exp(derivation_value(scores, d)) for d in derivations(forest, node))
        assert np.exp(p.inside[node]) == pytest.approx(inside)
        # Inside times outside over Z is the expected number of uses of a node.
        if nodes[node] > 0:
            assert np.exp(p.inside[node] + p.outside[node] - p.log_z) == pytest.approx(nodes[node])
    r = random_scores(rng, forest)
    expected, sizes = np.zeros(forest.edge_count), np.zeros(forest.edge_count)
    for weight, d in zip(probability, all_of_them, strict=True):
        np.add.at(expected, list(d), weight * derivation_value(r, d))
        np.add.at(sizes, list(d), weight * derivation_value(np.abs(r), d))
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
    weights = {d: np.exp(derivation_value(scores, d) - p.log_z) for d in derivations(forest)}
    chi_square = 0.0
    for d, probability in weights.items():
        seen = sum(tuple(other.edges) == d for other in drawn)
        chi_square += (seen - 20000 * probability) ** 2 / (20000 * probability)
    assert chi_square < n + 5 * np.sqrt(2 * n)
    assert drawn[0].score == pytest.approx(derivation_value(scores, tuple(drawn[0].edges)))


@each_seed(SEEDS)
def test_pruning(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = random_scores(rng, forest)
    all_of_them = derivations(forest)
    best = max(derivation_value(scores, d) for d in all_of_them)
    margin = rng.choice([0.0, 0.5, 2.0])
    pruned = forest.prune(scores, margin=margin)
    kept_edges = {e for d in all_of_them if derivation_value(scores, d) >= best - margin - 1e-9 for e in d}
    assert set(pruned.edge_origins) == kept_edges
    left = {tuple(int(pruned.edge_origins[e]) for e in d) for d in derivations(pruned)}
    assert left == {d for d in all_of_them if set(d) <= kept_edges}
    assert [derivation_words(pruned, d) for d in derivations(pruned)] == [
        derivation_words(forest, tuple(int(pruned.edge_origins[e]) for e in d)) for d in derivations(pruned)
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

    most = rng.randint(0, forest.edge_count + 1)
    through = [
        max((derivation_value(scores, d) for d in all_of_them if e in d), default=-9e9)
        for e in range(forest.edge_count)
    ]
    margins = sorted({best - score for score in through if score > -9e9})
    sets = [{e for e, score in enumerate(through) if score >= best - margin - 1e-9} for margin in margins]
    nearest = [edges for edges in sets if len(edges) <= most]
    assert set(forest.prune(scores, edges=most).edge_origins) == (nearest[-1] if nearest else sets[0])

    keep = np.array([rng.random() < 0.7 for _ in range(forest.edge_count)])
    part = forest.subforest(keep)
    left = {
        tuple(int(part.edge_origins[e]) for e in d) for d in (derivations(part) if part.root >= 0 else [])
    }
    assert left == {d for d in all_of_them if keep[list(d)].all()}
    assert part.derivation_count == len(left)


def test_scores_of_forests_that_share_rows() -> None:
    fewer, more = 0, 0
    for seed in range(50):
        rng = random.Random(seed)
        forest = small_random_forest(rng)
        weights = np.array([rng.gauss(0, 1) for _ in forest.feature_names])
        pruned = forest.prune(forest.scores(weights), margin=1.0)
        split = forest.annotate_ngrams(2)
        fewer += pruned.edge_count < forest.edge_count
        more += split.edge_count > forest.edge_count
        for other in (forest, pruned, split):
            assert other.scores(weights) == pytest.approx(other.features @ weights)
    assert fewer and more


def test_limits_of_pruning() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    for limit in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="posterior: expected 0 or more"):
            forest.prune([0.0] * 3, posterior=limit)
        with pytest.raises(ValueError, match="margin: expected 0 or more"):
            forest.prune([0.0] * 3, margin=limit)
    for limits in ({}, {"edges": 1, "margin": 1.0}, {"posterior": 0.5, "margin": 1.0}):
        with pytest.raises(ValueError, match="give one of posterior, margin and edges"):
            forest.prune([0.0] * 3, **limits)  # type: ignore[arg-type]
    nothing = forest.subforest([False] * 3)
    assert nothing.prune([], posterior=0.1).root == nothing.prune([], margin=1.0).root == -1
    assert nothing.prune([], edges=0).root == nothing.prune([], edges=5).root == -1


@each_seed(SEEDS)
def test_forced_decoding(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300)
    strings = {d: tuple(derivation_words(forest, d)) for d in derivations(forest)}
    references = [list(rng.choice(list(strings.values()))) for _ in range(rng.randint(1, 2))]
    references.append([rng.choice("abcde") for _ in range(rng.randint(0, 4))])
    forced = forest.constrain(references)
    expected = [d for d, string in strings.items() if list(string) in references]
    left = [tuple(int(forced.edge_origins[e]) for e in d) for d in derivations(forced)] if expected else []
    assert sorted(left) == sorted(expected)
    assert forced.derivation_count == len(expected)
    assert forest.constrain([["nothing", "like", "it"]]).node_count == 0


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
