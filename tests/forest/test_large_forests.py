"""Tests of forests that are deep or wide, or have too many derivations to enumerate."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from hiero import Forest, ForestError
from support.brute_force_forest import (
    derivation_counts,
)


def test_large_numbers_of_derivations() -> None:
    # Each of n nodes has two edges with the node below as their tail, one of them twice.
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
    assert forest.derivation_count == expected == derivation_counts(forest)[-1]


@pytest.mark.slow
def test_derivations_beyond_all_memory() -> None:
    # The edge of each node has the node below as a tail twice, so that derivations have 2^n - 1 edges.
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("symbols", "nodes", "message"),
    [
        ([-1, -2], 29, r"a derivation has over 2\^27 edges"),
        ([0, -1, -2], 60, r"a string has over 2\^30 words"),
    ],
)
def test_oracles_beyond_all_memory(symbols: list[int], nodes: int, message: str) -> None:
    # The same forest with target sides. In the first case the strings are empty.
    forest = Forest.from_arrays(
        node_spans=np.tile([0, 1], (nodes, 1)),
        edge_offsets=range(nodes + 1),
        tail_offsets=[0, *range(0, 2 * nodes - 1, 2)],
        tails=np.repeat(np.arange(nodes - 1), 2),
        edge_targets=[0] + [1] * (nodes - 1),
        target_offsets=[0, 0, len(symbols)],
        target_symbols=symbols,
        words=["a"],
    )
    with pytest.raises(ForestError, match=message):
        forest.rescore(
            np.zeros(nodes), 0.5, [["a"]], document=[1.0] * 10, document_source=1.0, beam=2, unique=True
        )


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


@pytest.mark.slow
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


def test_threads_may_share_a_list() -> None:
    nodes, count, workers = 30, 4000, 4
    chain = Forest.from_arrays(
        edge_offsets=range(0, 2 * nodes + 1, 2),
        tail_offsets=[0, 0, *range(2 * nodes - 1)],
        tails=np.repeat(np.arange(nodes - 1), 2),
    )
    scores = np.random.default_rng(3).normal(size=2 * nodes)
    shared = chain.kbest_iter(scores)
    scores_taken: list[float] = []

    def take() -> None:
        scores_taken.extend(next(shared).score for _ in range(count))

    threads = [threading.Thread(target=take) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(scores_taken, reverse=True) == [d.score for d in chain.kbest(workers * count, scores)]


LONG: dict[str, Callable[[Forest, npt.NDArray[np.float64]], object]] = {
    "kbest": lambda forest, scores: forest.kbest(10**9, scores),
    "arrays": lambda forest, scores: forest.kbest_arrays(10**9, scores),
    "annotation": lambda forest, _: forest.annotate_ngrams(60, max_edges=2**40),
    "oracles": lambda forest, scores: forest.rescore(
        scores, 0.5, [["a"]], document=np.ones(10), document_source=1, beam=10**9, unique=False
    ),
}


@pytest.mark.parametrize("work", LONG)
def test_long_work_can_be_interrupted(work: str) -> None:
    # One of two words at each of 60 positions: 2^60 derivations and strings.
    nodes = 60
    chain = Forest.from_arrays(
        edge_offsets=range(0, 2 * nodes + 1, 2),
        tail_offsets=[0, 0, *range(2 * nodes - 1)],
        tails=np.repeat(np.arange(nodes - 1), 2),
        words=["a", "b"],
        edge_targets=[0, 1, *[2, 3] * (nodes - 1)],
        target_offsets=[0, 1, 2, 4, 6],
        target_symbols=[0, 1, -1, 0, -1, 1],
    )
    scores = np.random.default_rng(3).normal(size=2 * nodes)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        LONG[work](chain, scores)  # would never end
    timer.join()


def test_distinct_strings_of_very_many_derivations() -> None:
    # 60 nodes have two edges each with the same word, except for the last node: 2^60 derivations of two
    # strings.
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
    strings = [d.tokens for d in forest.kbest_iter(scores, unique=True)]
    assert strings == [["b"] + ["a"] * (depth - 1), ["a"] * depth]
    assert len(forest.kbest_arrays(10, scores, unique=True)) == 2
