"""Tests of n-gram annotation and counts of forests, against the strings of all derivations."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from hiero import Forest, ForestError
from support.brute_force_forest import derivation_value, derivation_words, derivations, small_random_forest
from support.seeds import each_seed


def ngrams(tokens: list[str], most: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for n in range(1, most + 1) for i in range(len(tokens) - n + 1))


@each_seed(range(300))
def test_annotated_forests_count_the_ngrams_of_strings(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    n = rng.randint(1, 5)
    refined = forest.annotate_ngrams(n)
    assert refined.ngram_order == n
    before = sorted(derivations(forest))
    after = derivations(refined)
    assert sorted(tuple(int(refined.edge_origins[e]) for e in d) for d in after) == before
    for d in after:
        assert derivation_words(refined, d) == derivation_words(
            forest, tuple(int(refined.edge_origins[e]) for e in d)
        )

    # Nodes differ, and all strings of a node begin and end alike.
    for node in range(refined.node_count - 1):
        first, last = refined.node_boundaries[node]
        for d in derivations(refined, node):
            text = derivation_words(refined, d)
            assert [refined.words[w] for w in first if w >= 0] == text[: n - 1]
            assert [refined.words[w] for w in last if w >= 0] == (text[1 - n :] if n > 1 else [])
    assert (refined.node_boundaries[refined.root] == -1).all()

    names, matrix = refined.ngrams()
    references = [derivation_words(forest, rng.choice(before)), [rng.choice("abce") for _ in range(4)]]
    reference_ngrams = {ngram for reference in references for ngram in ngrams(reference, n)}
    totals, matches = refined.ngram_matches(references)
    for d in after:
        text = derivation_words(refined, d)
        expected = ngrams(text, n)
        counts = matrix[list(d)].sum(axis=0)
        assert {name: count for name, count in zip(names, counts, strict=True) if count} == expected
        assert refined.target_words[list(d)].sum() == len(text)
        for k in range(1, n + 1):
            same = [(g, c) for g, c in expected.items() if len(g) == k]
            assert totals[list(d)].sum(axis=0)[k - 1] == sum(c for _, c in same)
            assert matches[list(d)].sum(axis=0)[k - 1] == sum(c for g, c in same if g in reference_ngrams)


@each_seed(range(50))
def test_beams_keep_the_best(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    whole = forest.annotate_ngrams(3)
    for beam in (1, 2, 100):
        part = forest.annotate_ngrams(3, scores=scores, beam=beam)
        assert part.edge_count <= whole.edge_count
        left = {tuple(int(part.edge_origins[e]) for e in d) for d in derivations(part)}
        assert left <= set(derivations(forest))
        best = max(derivations(forest), key=lambda d: derivation_value(scores, d))
        assert best in left
    assert part.edge_count == whole.edge_count and len(left) == len(derivations(forest))


def test_limits() -> None:
    rng = random.Random(1)
    forest = small_random_forest(rng)
    with pytest.raises(ForestError, match="over 3 edges for n = 2; prune the forest first"):
        forest.annotate_ngrams(2, max_edges=3)
    for n in (0, 101, 2**31 - 1):
        with pytest.raises(ValueError, match="n: expected 1 to 100"):
            forest.annotate_ngrams(n)
    assert forest.annotate_ngrams(100).ngram_order == 100
    with pytest.raises(ValueError, match="give scores and a beam"):
        forest.annotate_ngrams(2, beam=3)
    with pytest.raises(ValueError, match="annotate it"):
        forest.ngrams()
    empty = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[]).annotate_ngrams(2)
    assert (empty.node_count, empty.ngrams()[1].shape) == (0, (0, 0))
