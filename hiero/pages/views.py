"""Translations, derivations and charts as plain data, which `hiero serve` answers with and its page draws.

Scores are natural logarithms. Positions count tokens from 0, and ends are exclusive. ``TextSide.text`` writes
tokens as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from hiero._core import Chart, Derivation
from hiero.forest.derivations import RuleApplication, derivation_tree

# A pair of positions: a span, or a link.
Pair = Annotated[
    tuple[int, int],
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
]
# Writes tokens as text.
Write = Callable[[Sequence[str]], str]


class RuleView(TypedDict):
    """A rule of a derivation, with those of its nonterminals in source order."""

    label: str
    span: Pair
    source: str
    target: str
    table: str
    score: float
    features: dict[str, float]
    children: list[RuleView]


class CandidateView(TypedDict):
    """A translation with its score and features."""

    text: str
    tokens: list[str]
    score: float
    features: dict[str, float]


class CellView(TypedDict):
    """A span of a chart: the items that survived pruning, those that did not, and the best one."""

    span: Pair
    items: int
    pruned: int
    best: str
    score: float


class ItemView(TypedDict):
    """An item of a chart: its best derivation, whose last rule is ``rule``."""

    label: str
    text: str
    score: float
    survived: bool
    rule: RuleView


def rule_view(rule: RuleApplication, weights: Mapping[str, float]) -> RuleView:
    """Describes a rule and all below it."""
    views: dict[int, RuleView] = {}
    for one in reversed(list(rule.preorder())):
        views[id(one)] = {
            "label": one.label,
            "span": one.span,
            "source": one.source,
            "target": one.target,
            "table": one.table,
            "score": sum(weights.get(name, 0.0) * value for name, value in one.features.items()),
            "features": dict(one.features),
            "children": [views[id(child)] for child in one.children],
        }
    return views[id(rule)]


def candidate_view(derivation: Derivation, write: Write) -> CandidateView:
    tokens = derivation.tokens
    return {
        "text": write(tokens),
        "tokens": tokens,
        "score": derivation.score,
        "features": derivation.features,
    }


def cell_views(chart: Chart, write: Write) -> list[CellView]:
    """Describes all cells of a chart that have an item."""
    views: list[CellView] = []
    for span in chart.spans:
        nodes = chart.nodes(*span)
        best, survived = chart.derivation(int(nodes[0])), int(chart.survived[nodes].sum())
        counts = {"items": survived, "pruned": len(nodes) - survived}
        views.append({"span": span, **counts, "best": write(best.tokens), "score": best.score})  # type: ignore[typeddict-item]
    return views


def item_views(
    chart: Chart, span: tuple[int, int], weights: Mapping[str, float], write: Write, most: int
) -> list[ItemView]:
    """Describes the best items of a span, at most so many; none if it has no item."""
    views: list[ItemView] = []
    for node in chart.nodes(*span)[:most].tolist():
        best = chart.derivation(node)
        views.append(
            {
                "label": chart.forest.labels[chart.forest.node_labels[node]],
                "text": write(best.tokens),
                "score": best.score,
                "survived": bool(chart.survived[node]),
                "rule": rule_view(derivation_tree(best), weights),
            }
        )
    return views
