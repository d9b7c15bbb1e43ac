"""Derivations as trees of rule applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hiero._core import Derivation, Forest, escape


@dataclass(frozen=True)
class RuleApplication:
    """An edge of a derivation with the rule applications below it.

    ``span`` is the first source word and the word after the last one. ``source`` and ``target`` are the sides
    of the rule in rule text, with nonterminals numbered in source order. ``table`` is the owner of the table,
    "" for the edge into the root; ``rule`` is the id within the table, or -1.
    """

    edge: int
    span: tuple[int, int]
    label: str
    table: str
    rule: int
    source: str
    target: str
    features: Mapping[str, float]
    children: tuple[RuleApplication, ...]

    def preorder(self) -> Iterator[RuleApplication]:
        """Yields this application and all below it, children in source order."""
        stack = [self]
        while stack:
            application = stack.pop()
            yield application
            stack.extend(reversed(application.children))


def derivation_tree(derivation: Derivation) -> RuleApplication:
    """Returns the tree of a derivation. Raises ValueError for a derivation without edges."""
    if len(derivation.edges) == 0:
        raise ValueError("the derivation has no edges")
    forest = derivation.forest
    applications: list[RuleApplication] = []
    # Edges are in preorder. In reverse, an edge comes after its children, whose first one is last.
    for edge in reversed(derivation.edges.tolist()):
        arity = int(forest.tail_offsets[edge + 1] - forest.tail_offsets[edge])
        children = tuple(applications.pop() for _ in range(arity))
        applications.append(rule_application(forest, edge, children))
    return applications[0]


def rule_application(
    forest: Forest, edge: int, children: tuple[RuleApplication, ...] = ()
) -> RuleApplication:
    """Returns the rule application of an edge, with the given children."""
    tails = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]].tolist()
    features = forest.features
    head = int(np.searchsorted(forest.edge_offsets, edge, "right")) - 1
    label, table = int(forest.node_labels[head]), int(forest.edge_tables[edge])
    row = slice(*features.indptr[edge : edge + 2])
    names = (forest.feature_names[f] for f in features.indices[row])
    begin, end = forest.node_spans[head].tolist()
    return RuleApplication(
        edge,
        (begin, end),
        forest.labels[label] if label >= 0 else "",
        forest.tables[table] if table >= 0 else "",
        int(forest.edge_rules[edge]),
        _source_side(forest, edge, tails),
        _target_side(forest, edge, tails),
        dict(zip(names, features.data[row].tolist(), strict=True)),
        children,
    )


def _nonterminal(forest: Forest, node: int, index: int) -> str:
    label = int(forest.node_labels[node])
    return f"[{forest.labels[label] if label >= 0 else ''},{index + 1}]"


def _source_side(forest: Forest, edge: int, tails: list[int]) -> str:
    source = forest.source
    return " ".join(
        escape(source[symbol]) if symbol >= 0 else _nonterminal(forest, tails[-1 - symbol], -1 - symbol)
        for symbol in forest.source_side(edge)
    )


def _target_side(forest: Forest, edge: int, tails: list[int]) -> str:
    template = int(forest.edge_targets[edge])
    symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
    return " ".join(
        escape(forest.words[s]) if s >= 0 else _nonterminal(forest, tails[-1 - s], -1 - s) for s in symbols
    )
