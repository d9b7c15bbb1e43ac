"""Translations, derivations and charts as plain data, which `hiero serve` answers with. ``views.js`` draws
them, in its page and in notebooks.

Scores are natural logarithms. Positions count tokens from 0, and ends are exclusive. ``TextSide.text`` writes
tokens as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from hiero._core import Chart, Derivation, Translation
from hiero.forest.derivations import RuleApplication, derivation_tree, rule_application
from hiero.pages.details import rule_score

# A pair of positions: a span, or a link.
Pair = Annotated[
    tuple[int, int],
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
]
# Writes tokens as text.
Write = Callable[[Sequence[str]], str]


class RuleView(TypedDict):
    """A rule of a derivation, with those of its nonterminals in source order, and its score if weights are
    known."""

    label: str
    span: Pair
    source: str
    target: str
    table: str
    score: float | None
    features: dict[str, float]
    children: list[RuleView]


class SentenceView(TypedDict):
    """A translated sentence. Confidence, features and derivation are empty unless details were asked for."""

    source: list[str]
    tokens: list[str]
    text: str
    score: float
    alignment: list[Pair]
    unknown: Annotated[list[int], Field(description="positions of unknown source tokens")]
    confidence: list[float]
    features: dict[str, float]
    derivation: RuleView | None


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
    """An item of a chart: its best derivation, whose last rule is ``rule``, without those below it."""

    label: str
    text: str
    score: float
    survived: bool
    rule: RuleView


def sentence_view(result: Translation, details: bool) -> SentenceView:
    """Describes a translation. Details are those of its derivation, and confidence if its forest was kept."""
    details = details and result.has_parse
    return {
        "source": result.source,
        "tokens": result.tokens,
        "text": result.text,
        "score": result.score if result.has_parse else 0.0,
        "alignment": result.alignment,
        "unknown": result.unknown,
        "confidence": result.confidence() if details and hasattr(result, "forest") else [],
        "features": result.features if details else {},
        "derivation": rule_view(derivation_tree(result.derivation), result.weights) if details else None,
    }


def derivation_view(derivation: Derivation) -> SentenceView:
    """Describes a derivation whose weights are not known. Raises ValueError for one without edges."""
    source = derivation.forest.source
    return {
        "source": source,
        "tokens": derivation.tokens,
        "text": derivation.text,
        "score": derivation.score,
        # A forest made from arrays may have spans, but no words.
        "alignment": [(i, j) for i, j in derivation.alignment if i < len(source)],
        "unknown": [],
        "confidence": [],
        "features": derivation.features,
        "derivation": rule_view(derivation_tree(derivation), None),
    }


def rule_view(rule: RuleApplication, weights: Mapping[str, float] | None) -> RuleView:
    """Describes a rule and all below it, with scores if there are weights."""
    views: dict[int, RuleView] = {}
    for one in reversed(list(rule.preorder())):
        views[id(one)] = {
            "label": one.label,
            "span": one.span,
            "source": one.source,
            "target": one.target,
            "table": one.table,
            "score": None if weights is None else rule_score(one.features, weights),
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
    return [item_view(chart, node, weights, write) for node in chart.nodes(*span)[:most].tolist()]


def item_view(chart: Chart, node: int, weights: Mapping[str, float] | None, write: Write) -> ItemView:
    """Describes an item, with the last rule of its best derivation."""
    best = chart.derivation(node)
    rule = rule_application(chart.forest, int(best.edges[0]))
    return {
        "label": chart.forest.labels[chart.forest.node_labels[node]],
        "text": write(best.tokens),
        "score": best.score,
        "survived": bool(chart.survived[node]),
        "rule": rule_view(rule, weights),
    }
