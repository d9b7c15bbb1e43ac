"""Pictures of small forests: nodes with their edges, and lines from edges to tails.

The root is at the upper left. Each node is in a column to the right of all nodes that use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hiero._core import Forest
from hiero.forest.derivations import RuleApplication, rule_application
from hiero.pages.details import Details, rule_score
from hiero.pages.markup import (
    Weights,
    colour_class,
    count_text,
    curve,
    marks,
    number_text,
    rule_sides,
    span_text,
    svg,
    text_width,
    words_text,
)
from hiero.pages.outline import source_word_ids

_LINE = 20.0  # height of a row of a node, as in page.css
_BORDER = 4.0  # width of the border and padding, as in page.css
_GAP = 14.0  # between nodes
_COLUMN_GAP = 90.0  # space for the lines
_END = 3  # number of words shown at the beginning and at the end of a node's yield


@dataclass
class _Node:
    """A box with a row for the name of a node, a row for its best yield, and a row for each edge."""

    number: int
    words: list[str]  # ids of the source words that it covers
    edges: list[RuleApplication]
    best: list[str]
    width: float
    x: float = 0.0
    y: float = 0.0

    @property
    def height(self) -> float:
        return (len(self.edges) + 2) * _LINE + 2 * _BORDER


def graph(name: str, forest: Forest, weights: Weights | None, details: Details) -> str:
    """Draws a forest in the section ``name``. With weights it has scores, and the best derivation in bold."""
    yields = _yields(forest, weights)
    nodes = [_node(forest, number, yields[number], weights) for number in range(forest.node_count)]
    width, height = _lay_out(forest, nodes)
    best = _best_edges(forest, weights)
    lines, boxes = [], []
    for node in sorted(nodes, key=lambda node: (node.x, node.y)):
        rows = []
        for row, rule in enumerate(node.edges, start=2):
            kind = " best" if rule.edge in best else ""
            tails = _tails(forest, rule.edge)
            rows.append(_edge_row(name, node, rule, tails, weights, kind, details))
            y = node.y + _BORDER + (row + 0.5) * _LINE
            for k, tail in enumerate(tails, start=1):
                head, attributes = (
                    nodes[tail],
                    f'id="{name}-l{rule.edge}-{k}" class="{colour_class(k)}{kind}"',
                )
                head_y = head.y + _BORDER + _LINE / 2
                lines.append(curve(node.x + node.width, y, head.x, head_y, attributes, sideways=True))
        boxes.append(_box(name, node, "".join(rows)))
    size = f"width:{width:g}px;height:{height:g}px"
    picture = svg(width, height, "".join(lines))
    content = f'<div style="{size}">{picture}\n{"".join(boxes)}</div>'
    return f'<div class="graph" role="listbox" aria-label="nodes and edges">{content}</div>\n'


def _best_edges(forest: Forest, weights: Weights | None) -> set[int]:
    if weights is None:
        return set()
    best = forest.viterbi(weights)
    return set() if best is None else set(best.edges.tolist())


def _tails(forest: Forest, edge: int) -> list[int]:
    tails: list[int] = forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()
    return tails


def _yields(forest: Forest, weights: Weights | None) -> list[list[str]]:
    """Returns the yield of each node by its best derivation; without weights, by its first edges.

    Nodes of one span with different language model states differ at the ends of their yields.
    """
    scores = forest.scores(weights or {})
    best: list[float] = []
    yields: list[list[str]] = []
    for node in range(forest.node_count):
        edges = range(*forest.edge_offsets[node : node + 2])
        totals = [scores[edge] + sum(best[tail] for tail in _tails(forest, edge)) for edge in edges]
        best.append(max(totals))
        edge = edges[totals.index(best[-1])]
        template, tails = forest.edge_targets[edge], _tails(forest, edge)
        symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
        parts = ([forest.words[s]] if s >= 0 else yields[tails[-1 - s]] for s in symbols)
        yields.append(_shorten([word for part in parts for word in part]))
    return yields


def _shorten(words: list[str]) -> list[str]:
    """Keeps only both ends of long yields. With repeated tails the length could grow exponentially."""
    if len(words) <= 2 * _END + 1:
        return words
    return [*words[:_END], "\N{HORIZONTAL ELLIPSIS}", *words[-_END:]]


def _node(forest: Forest, number: int, best: list[str], weights: Weights | None) -> _Node:
    edges = [rule_application(forest, edge) for edge in range(*forest.edge_offsets[number : number + 2])]
    rows = [f"{rule.source} - {rule.target}{_score(rule, weights)}" for rule in edges]
    rows += [f"{span_text(edges[0])} node {number} {len(edges)} edges", " ".join(best)]
    return _Node(number, source_word_ids(forest, edges[0]), edges, best, 40 + max(map(text_width, rows)))


def _score(rule: RuleApplication, weights: Weights | None) -> str:
    return "" if weights is None else number_text(rule_score(rule.features, weights))


def _lay_out(forest: Forest, nodes: Sequence[_Node]) -> tuple[float, float]:
    """Assigns positions to nodes. Returns the total width and height.

    The column of a node is its longest distance from the root. In a column, nodes are sorted by span.
    """
    layers = [0] * len(nodes)
    for number in reversed(range(len(nodes))):
        for rule in nodes[number].edges:
            for tail in _tails(forest, rule.edge):
                layers[tail] = max(layers[tail], layers[number] + 1)
    columns: list[list[_Node]] = [[] for _ in range(max(layers) + 1)]
    for node, layer in zip(nodes, layers, strict=True):
        columns[layer].append(node)
    x = height = 0.0
    for column in columns:
        y = 0.0
        for node in sorted(column, key=lambda node: node.edges[0].span):
            node.x, node.y = x, y
            y += node.height + _GAP
        x += max(node.width for node in column) + _COLUMN_GAP
        height = max(height, y)
    return x - _COLUMN_GAP, height


def _box(name: str, node: _Node, rows: str) -> str:
    position = f"left:{node.x:g}px;top:{node.y:g}px;width:{node.width:g}px"
    return (
        f'<div id="{name}-n{node.number}" class="node" role="group" style="{position}"'
        f" {marks([f'n{node.number}', *node.words])}>"
        f'<div><span class="head">{span_text(node.edges[0])}</span>'
        f'<span class="dim">node {node.number}, {count_text(len(node.edges), "edge")}</span></div>'
        f'<div class="dim"><span class="text">{words_text(node.best)}</span></div>\n{rows}</div>\n'
    )


def _edge_row(
    name: str,
    node: _Node,
    rule: RuleApplication,
    tails: Sequence[int],
    weights: Weights | None,
    kind: str,
    details: Details,
) -> str:
    lines = [f"l{rule.edge}-{k}" for k in range(1, len(tails) + 1)]
    elements = [f"e{rule.edge}", *lines, *(f"n{tail}" for tail in tails)]
    over = f" over {', '.join(map(str, tails))}" if tails else ""
    where = f", of node {node.number}{over}"
    return (
        f'<div id="{name}-e{rule.edge}" class="edge{kind}" role="option" tabindex="-1"'
        f' data-rule="{details.add(rule, where)}" {marks(elements, node.words)}>'
        f'{rule_sides(rule)}<span class="over dim">{over}</span>'
        f'<span class="score">{_score(rule, weights)}</span></div>\n'
    )
