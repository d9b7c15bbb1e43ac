"""Tests of forests from arrays: valid and invalid arrays, and valid scores of edges."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from hiero import Forest, ForestError, FormatError
from hiero.forest import LogLinear
from hiero.forest.files import NO_FOREST
from support.brute_force_forest import (
    incoming_edges,
    tails,
)
from support.small_forest import VALID_ARRAYS

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
    ({"target_symbols": [0, -1, -9, 1, -1]}, "edge 2 has fewer tails than its target uses"),
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
    ({"edge_rules": np.array([2**64 - 1] * 3, dtype=np.uint64)}, "edge_rules: -1 is out of range"),
    ({"links": [0, 0, 0], "link_offsets": [0, 1, 1, 1]}, "links: expected pairs of positions"),
]


def test_good_arrays() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    assert [d.text for d in forest.kbest(5, [0.0, 0.0, -1.0])] == ["a", "a b a"]
    assert [d.score for d in forest.kbest(2, {"f": -1.0})] == [0.0, -1.0]
    assert tails(forest, 2) == [0, 0] and list(incoming_edges(forest, 1)) == [1, 2]
    assert forest.derivation([2, 0, 0], [1.0, 0.0, 2.0]).score == 4.0
    for edges in ([2, 0], [1, 0, 0], [0], [2, 0, 5], []):
        with pytest.raises(ForestError, match="derivation: "):
            forest.derivation(edges)
    for scores in ([0.0, 1.0], [0.0, 1.0, np.nan], [0.0, 1.0, np.inf], [[0.0, 1.0, 2.0]]):
        with pytest.raises(ValueError):
            forest.distribution(scores)
    empty = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[])
    assert (empty.root, empty.derivation_count, empty.viterbi([])) == (-1, 0, None)
    assert empty.kbest(3, []) == []
    with pytest.raises(TypeError, match="unexpected argument 'node'"):
        Forest.from_arrays(**VALID_ARRAYS, node=1)


@pytest.mark.parametrize(("change", "message"), BAD, ids=lambda x: None if isinstance(x, dict) else x[:40])
def test_arrays_that_make_no_forest(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ForestError, match=message):
        Forest.from_arrays(**{**VALID_ARRAYS, **change})


def test_lattices_are_forests() -> None:
    # A finite-state automaton: nodes are states, and the edge of the first node has no tail.
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


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_scores(score: float) -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
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


def test_arrays_by_edge_are_vectors() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    with pytest.raises(ValueError, match="keep: expected a vector"):
        forest.subforest([[True, True, True]])
    with pytest.raises(ValueError, match="values: expected a vector"):
        forest.distribution([0.0] * 3).edge_expectations([[0.0, 0.0, 0.0]])


def test_weights_that_are_no_weights() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    with pytest.raises(ValueError, match="could not convert string to float"):
        forest.viterbi({"f": "a"})  # type: ignore[dict-item]
    with pytest.raises(FormatError, match=r"no such feature: 7, g \(features: f\)"):
        forest.viterbi({"f": 1.0, "g": 1.0, 7: 2.0})  # type: ignore[dict-item]


def test_features_without_weight_count_nothing() -> None:
    forest = Forest.from_arrays(
        **VALID_ARRAYS | {"features": [[1, 5, 0], [2, 0, 6], [3, 7, 0]], "feature_names": [*"fgh"]}
    )
    whole, part = {"f": 0.0, "g": 0.0, "h": 0.5}, MappingProxyType({"h": 0.5})
    assert forest.scores(part).tolist() == forest.scores(whole).tolist() == [0, 3, 0]
    assert forest.scores({}).tolist() == [0, 0, 0]
    for search in (
        lambda weights: forest.viterbi(weights).edges.tolist(),
        lambda weights: [d.score for d in forest.kbest(9, weights)],
        lambda weights: forest.distribution(weights).log_z,
        lambda weights: forest.prune(weights, margin=1.0).edge_origins.tolist(),
        lambda weights: LogLinear(forest, weights).p.log_z,
    ):
        assert search(part) == search(whole)
    for search in (
        forest.scores,
        forest.viterbi,
        forest.distribution,
        lambda weights: forest.kbest(1, weights),
    ):
        with pytest.raises(FormatError, match=r"no such feature: H \(features: f, g, h\)"):
            search({"f": 1.0, "H": 1.0})
    # The empty forest of a failed sentence has no features and takes the weights of any model.
    assert NO_FOREST.viterbi(whole) is None and NO_FOREST.kbest(2, whole) == []
    assert NO_FOREST.scores(whole).shape == (0,)


def test_no_derivation_of_weight_zero() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    scores = [0.0, float("-inf"), -3.0]
    assert [d.edges.tolist() for d in forest.kbest(5, scores)] == [[2, 0, 0]]
    assert len(forest.kbest_arrays(5, scores)) == 1
    for none in ([float("-inf"), 0.0, 0.0], [0.0, float("-inf"), float("-inf")]):
        assert forest.viterbi(none) is None and forest.kbest(5, none) == []


@pytest.mark.parametrize("score", [1e30, -1e30, 1e13])
def test_weights_beyond_all_range(score: float) -> None:
    with pytest.raises(ValueError, match="edge 1 has a log weight beyond 1e12"):
        Forest.from_arrays(**VALID_ARRAYS).distribution([0.0, score, 0.0])
    assert Forest.from_arrays(**VALID_ARRAYS).distribution([0.0, 1e12, -1e12]).edges.tolist() == [
        1.0,
        1.0,
        0.0,
    ]


def test_other_features_share_all_else() -> None:
    forest = Forest.from_arrays(**VALID_ARRAYS)
    matrix = scipy.sparse.csr_array([[0.0, 2.0], [0.0, 0.0], [1.0, -1.0]])
    other = forest.with_features(matrix, ["g", "h"])
    for name in ("edge_offsets", "tail_offsets", "tails", "edge_targets", "target_symbols", "links"):
        assert np.shares_memory(getattr(other, name), getattr(forest, name)) or not getattr(other, name).size
    assert (other.features != matrix).nnz == 0 and list(other.feature_names) == ["g", "h"]
    assert other.words == forest.words and other.scores({"h": 0.5, "g": 2}).tolist() == [1, 0, 1.5]
    assert forest.scores({"f": 1.0}).tolist() == [1, 0, -2] and list(forest.feature_names) == ["f"]
    # Forests that are made from it in one or more steps have its features.
    few = other.annotate_ngrams(2).prune([0.0, -9.0, 0.0], margin=1).annotate_ngrams(3)
    assert few.edge_origins.tolist() == [0, 1] and few.features.toarray().tolist() == [[0, 2], [1, -1]]
    best = few.viterbi({"h": 1.0})
    assert best is not None and best.features == {"g": 1.0, "h": 3.0} and best.text == "a b a"


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        ([[1.0], [0.0]], ["f"], "expected a matrix of 3 edges by 1 feature names, found 2 by 1"),
        ([[1.0], [0.0], [1.0]], [], "expected a matrix of 3 edges by 0 feature names"),
        ([[1.0], [0.0], [np.inf]], ["f"], "a feature value is inf"),
        ([[1.0, 0], [0.0, 0], [0, 1.0]], ["f", "f"], "f"),
    ],
)
def test_other_features_are_checked(matrix: Any, names: list[str], message: str) -> None:
    with pytest.raises(ForestError, match=message):
        Forest.from_arrays(**VALID_ARRAYS).with_features(matrix, names)
