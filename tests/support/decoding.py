"""The sentences of the French system, and the rules that decoding uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hiero


def lines(french: Path) -> list[str]:
    return (french / "input.fr").read_text().splitlines()


def used_rules(model: hiero.Model, sentence: str, **settings: int) -> dict[int, set[int]]:
    """By the first word that they span, the rules of a table's that a forest without pruning uses."""
    forest = hiero.Decoder(model, pop_limit=0, **settings).translate(sentence, keep="forest").forest
    pt = forest.tables.index("pt")
    heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
    found: dict[int, set[int]] = {}
    for edge in np.flatnonzero(forest.edge_tables == pt).tolist():
        found.setdefault(int(forest.node_spans[heads[edge], 0]), set()).add(int(forest.edge_rules[edge]))
    return found
