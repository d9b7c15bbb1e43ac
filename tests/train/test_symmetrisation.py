"""Tests of symmetrisation against its definition."""

from __future__ import annotations

import random

import pytest

from hiero._core import symmetrise as symmetrised
from hiero.train import HEURISTICS, Heuristic

Link = tuple[int, int]


def symmetrise(forward: set[Link], backward: set[Link], rows: int, columns: int, heuristic: str) -> set[Link]:
    """Symmetrises two alignments (Koehn et al. 2005): begins with the intersection, adds neighbours in the
    union with at least one free word, and then links of which the words are free."""
    cells = [(s, t) for s in range(rows) for t in range(columns)]
    if heuristic == "intersection":
        return forward & backward
    if heuristic == "union":
        return forward | backward
    links = forward & backward

    def is_free(side: int, position: int) -> bool:
        return all(link[side] != position for link in links)

    grown = True
    while grown:
        grown = False
        for s, t in cells:
            near = any(abs(s - i) <= 1 and abs(t - j) <= 1 for i, j in links)
            if (s, t) in (forward | backward) - links and near and (is_free(0, s) or is_free(1, t)):
                links.add((s, t))
                grown = True
    if heuristic != "grow-diag":
        both = heuristic == "grow-diag-final-and"
        for direction in (forward, backward):
            for s, t in cells:
                free = (is_free(0, s), is_free(1, t))
                if (s, t) in direction and (all(free) if both else any(free)):
                    links.add((s, t))
    return links


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_symmetrisation(heuristic: Heuristic) -> None:
    rng = random.Random(1)
    for _ in range(300):
        rows, columns = rng.randint(1, 6), rng.randint(1, 7)
        there = {(rng.randrange(rows), t) for t in range(columns) if rng.random() < 0.8}
        back = {(s, rng.randrange(columns)) for s in range(rows) if rng.random() < 0.8}
        forward = [next((s for s, t in there if t == column), -1) for column in range(columns)]
        backward = [next((t for s, t in back if s == row), -1) for row in range(rows)]
        actual = symmetrised(forward, backward, heuristic)
        assert actual == sorted(symmetrise(there, back, rows, columns, heuristic))
