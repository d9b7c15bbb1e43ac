"""Features of the second stage, against the strings of all derivations of small forests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from hiero import FormatError
from hiero.rerank import NgramFeatures, frequent_ngrams
from hiero.rerank.features import SCORE
from support.brute_force_forest import WORDS, derivations, small_random_forest
from support.seeds import each_seed


def counted(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for n in range(1, order + 1) for i in range(len(words) - n + 1))


@each_seed(range(60))
def test_rows_add_up_to_what_strings_have(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    order = rng.randint(1, 3)
    # Some of what there can be, and what never is there.
    ngrams = [*{tuple(rng.choices(WORDS, k=rng.randint(1, order))) for _ in range(8)}, ("nowhere",)]
    features = NgramFeatures(ngrams)
    assert features.order == max(map(len, ngrams))
    split = forest.annotate_ngrams(features.order + rng.randint(0, 1))
    own = features.on(split, scores[split.edge_origins])
    rows = features.rows(split, scores[split.edge_origins])
    assert rows.has_canonical_format and (own.features != rows).nnz == 0
    assert list(own.feature_names) == [SCORE, *map(" ".join, ngrams)]
    for edges in derivations(split):
        found = rows[list(edges)].sum(axis=0)
        string = counted(split.derivation(edges, np.zeros(split.edge_count)).tokens, features.order)
        assert found[0] == pytest.approx(scores[split.edge_origins[list(edges)]].sum())
        assert found[1:].tolist() == [string[ngram] for ngram in ngrams]


def test_a_forest_that_is_not_annotated_far_enough() -> None:
    forest = small_random_forest(random.Random(1)).annotate_ngrams(1)
    with pytest.raises(ValueError, match=r"annotated with n = 1, not 2"):
        NgramFeatures([("a", "b")]).rows(forest, np.zeros(forest.edge_count))


def test_no_ngram_twice() -> None:
    with pytest.raises(FormatError, match="a b"):
        NgramFeatures([("a", "b"), ("a", "b")])


@pytest.mark.parametrize(("order", "least"), [(1, 1), (2, 1), (2, 2), (3, 3)])
def test_frequent_ngrams(order: int, least: int) -> None:
    rng = random.Random(order)
    texts = [rng.choices(WORDS, k=rng.randint(0, 7)) for _ in range(20)]
    every = sum((counted(words, order) for words in texts), Counter())
    found = frequent_ngrams(texts, order, least)
    assert found == sorted(ngram for ngram, count in every.items() if count >= least)
