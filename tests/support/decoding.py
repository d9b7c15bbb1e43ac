"""The input of the French system (tests/french), and the rules that decoding uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hiero


def input_lines(french: Path) -> list[str]:
    return (french / "input.fr").read_text().splitlines()


def used_rules(model: hiero.Model, sentence: str, **settings: int) -> dict[int, set[int]]:
    """Returns the rules of the table ``pt`` in the forest of a sentence, by the first position that they
    span. The forest is not pruned."""
    forest = hiero.Decoder(model, pop_limit=0, **settings).translate(sentence, keep="forest").forest
    pt = forest.tables.index("pt")
    heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
    rules: dict[int, set[int]] = {}
    for edge in np.flatnonzero(forest.edge_tables == pt).tolist():
        rules.setdefault(int(forest.node_spans[heads[edge], 0]), set()).add(int(forest.edge_rules[edge]))
    return rules
