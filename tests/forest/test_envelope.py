"""Tests of envelopes of forests, against the lines of all derivations."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from hiero import Forest
from hiero._core import line_search
from support.brute_force_forest import derivation_value, derivation_words, derivations, small_random_forest

Array = np.ndarray  # type: ignore[type-arg]
Piece = tuple[float, float, float, list[str]]  # begin, intercept, slope, words


def pieces(forest: Forest, intercepts: Array, slopes: Array) -> list[Piece]:
    begins, b, a, offsets, words = forest.envelope(intercepts, slopes)
    texts = [[forest.words[w] for w in words[x:y].tolist()] for x, y in itertools.pairwise(offsets.tolist())]
    return list(zip(begins.tolist(), b.tolist(), a.tolist(), texts, strict=True))


@pytest.mark.parametrize("count", [500, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("integers", [False, True])
def test_envelopes_are_those_of_all_derivations(integers: bool, count: int) -> None:
    rng = random.Random(1)
    several = 0
    for _ in range(count):
        forest = small_random_forest(rng, 300)
        intercepts, slopes = (
            np.array([rng.randint(-2, 2) if integers else rng.gauss(0, 1) for _ in range(forest.edge_count)])
            for _ in range(2)
        )
        everything = derivations(forest)
        lines = np.array(
            [[derivation_value(intercepts, d), derivation_value(slopes, d)] for d in everything]
        ).reshape(-1, 2)
        envelope_pieces = pieces(forest, intercepts, slopes)
        if not everything:
            assert envelope_pieces == []
            continue
        several += len(envelope_pieces) > 2
        begins = [piece[0] for piece in envelope_pieces]
        assert begins[0] == -np.inf and begins == sorted(begins)
        assert [piece[2] for piece in envelope_pieces] == sorted(piece[2] for piece in envelope_pieces)
        for piece, end in zip(envelope_pieces, [*begins[1:], np.inf], strict=True):
            places = np.clip([piece[0], end], -1e3, 1e3)
            if places[1] - places[0] < 1e-9:
                continue  # rounding decides
            gamma = float(places.mean())
            scores = lines[:, 0] + gamma * lines[:, 1]
            assert piece[1] + gamma * piece[2] == pytest.approx(scores.max(), abs=1e-9)
            # The words are those of the derivation that viterbi chooses on this line.
            best = forest.viterbi(intercepts + gamma * slopes)
            assert best is not None
            same = [
                derivation_words(forest, d)
                for d, line in zip(everything, lines, strict=True)
                if np.allclose(line, piece[1:3], atol=1e-9)
            ]
            assert piece[3] in same
            if scores[scores < scores.max() - 1e-9].size == scores.size - 1:
                assert piece[3] == best.tokens
        # The plain envelope has as many pieces.
        changes = line_search([0, len(lines)], lines[:, 0], lines[:, 1])[1]
        if integers:
            assert len(envelope_pieces) == len(changes) + 1
            assert begins[1:] == pytest.approx(changes.tolist())
    assert several > 100


def test_ties_are_viterbis() -> None:
    # If edges score the same everywhere, the first ones win.
    forest = Forest.from_arrays(
        edge_offsets=[0, 2, 4],
        tail_offsets=[0, 0, 0, 2, 4],
        tails=[0, 0, 0, 0],
        words=["a", "b", "c", "d"],
        edge_targets=[0, 1, 2, 3],
        target_offsets=[0, 1, 2, 5, 8],
        target_symbols=[0, 1, 2, -1, -2, 3, -1, -2],
    )
    zeros = np.zeros(4)
    best = forest.viterbi(zeros)
    assert best is not None and [p[3] for p in pieces(forest, zeros, zeros)] == [best.tokens] == [
        ["c", "a", "a"]
    ]


def test_bad_values() -> None:
    forest = Forest.from_arrays(edge_offsets=[0, 1], tail_offsets=[0, 0], tails=[])
    assert [array.tolist() for array in forest.envelope([1.0], [2.0])] == [
        [-np.inf],
        [1.0],
        [2.0],
        [0, 0],
        [],
    ]
    square = Forest.from_arrays(edge_offsets=[0, 2, 3], tail_offsets=[0, 0, 0, 2], tails=[0, 0])
    for lines in (([1e308, -1e308, 0],) * 2, ([1e308, 1e308, 0], [1e308, -1e308, 0])):
        with pytest.raises(ValueError, match="scores of a derivation are beyond 1e150"):
            square.envelope(*lines)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="intercepts"):
            forest.envelope([bad], [0.0])
        with pytest.raises(ValueError, match="slopes"):
            forest.envelope([0.0], [bad])
    with pytest.raises(ValueError, match="a value per edge"):
        forest.envelope([0.0, 1.0], [0.0])
