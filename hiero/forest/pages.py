"""Derivations and small forests as HTML pages to look at in a browser.

``derivation_page`` draws the source above the target with the word alignment between them, and below the
rule applications as a tree; ``forest_page`` draws nodes with their edges, and lines from edges to tails. A
page is one file that refers to no other; pointing at a rule marks its words and shows its features.

>>> from hiero import Forest
>>> lattice = Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> forest_page(lattice).count('class="edge')
3
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hiero._core import Derivation, Forest, ForestError
from hiero.base.weights import check_names
from hiero.forest.derivations import RuleApplication, derivation_tree, rule_application
from hiero.forest.markup import (
    LINE,
    box,
    curve,
    escaped,
    group,
    label,
    number_text,
    page,
    svg,
    text_width,
    word_rows,
)

# Above this number of edges nobody sees anything in a picture.
MOST_EDGES = 300

Weights = Mapping[str, float]

_GAP = 14.0  # between boxes
_LAYER = 90.0  # between columns of nodes, for the lines
_ARROW = " \N{RIGHTWARDS ARROW} "


def derivation_page(derivation: Derivation, weights: Weights | None = None, title: str = "Derivation") -> str:
    """The page of a derivation, with scores if there are weights; features without one count 0.

    Raises ValueError for a derivation without edges, FormatError for a weight that names no feature.
    """
    check_names(weights or {}, derivation.forest.feature_names)
    source, target = derivation.forest.source, derivation.tokens
    links = [(i, j) for i, j in derivation.alignment if i < len(source)]
    rules = _rules(derivation, links)
    score = "" if weights is None else f"<p>score {number_text(_score(derivation.features, weights))}</p>\n"
    return page(
        title,
        f"<p>{escaped(derivation.text)}</p>\n{score}",
        '<div class="scroll words">' + word_rows(source, target, links, _owners(rules)) + "</div>\n",
        '<div class="scroll">' + _tree(rules, weights) + "</div>\n",
        _feature_table(derivation.features, weights),
    )


def forest_page(forest: Forest, weights: Weights | None = None, title: str = "Forest") -> str:
    """The page of a forest; with weights, scores, and the best derivation in bold.

    Raises ForestError for a forest of more than ``MOST_EDGES`` edges or without any, FormatError for a weight
    that names no feature.
    """
    if forest.edge_count == 0:
        raise ForestError("the forest has no edges")
    if forest.edge_count > MOST_EDGES:
        raise ForestError(
            f"{forest.edge_count} edges are too many to draw, at most {MOST_EDGES}:"
            " prune the forest first, with --margin or forest.prune"
        )
    counts = f"{forest.node_count} nodes, {forest.edge_count} edges, {forest.derivation_count} derivations"
    words = word_rows(forest.source)
    return page(
        title,
        f"<p>{counts}</p>\n",
        f'<div class="scroll words">{words}</div>\n' if forest.source else "",
        '<div class="scroll">' + _graph(forest, weights) + "</div>\n",
    )


def _score(features: Weights, weights: Weights) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


def _side(side: str) -> str:
    """A side of a rule, nonterminals in the colours of their numbers."""
    tokens = []
    for token in side.split(" "):
        number = re.fullmatch(r"\[.*,(\d+)\]", token, re.DOTALL)
        kind = f' class="n{min(int(number[1]), 3)}"' if number else ""
        tokens.append(f"<tspan{kind}>{escaped(token)}</tspan>")
    return " ".join(tokens)


def _details(rule: RuleApplication, weights: Weights | None) -> str:
    """What shows when one points at a rule: where it is from, and its features."""
    lines = [f"{rule.table}, rule {rule.rule}"] if rule.table else []
    for name, value in rule.features.items():
        product = "" if weights is None else f" × {weights.get(name, 0.0):g} = "
        contribution = "" if weights is None else number_text(value * weights.get(name, 0.0))
        lines.append(f"{name}={number_text(value)}{product}{contribution}")
    return "<title>" + "\n".join(map(escaped, lines)) + "</title>"


def _name(label: str, span: tuple[int, int]) -> str:
    return f"{label} {span[0]}:{span[1]}".strip()


def _covered(forest: Forest, rule: RuleApplication) -> list[str]:
    """The ids of the source words of a span, which made forests may not have."""
    begin, end = rule.span
    return [f"s{i}" for i in range(begin, min(end, len(forest.source)))]


# Derivations.


@dataclass
class _Rule:
    """A rule application with its number in preorder, and ids of what belongs to it."""

    number: int
    application: RuleApplication
    children: list[_Rule] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)


def _rules(derivation: Derivation, links: Sequence[tuple[int, int]]) -> list[_Rule]:
    """The rules in preorder."""
    rules = [_Rule(n, application) for n, application in enumerate(derivation_tree(derivation).preorder())]
    # An edge may be in a derivation twice, so it does not name an application.
    by_identity = {id(rule.application): rule for rule in rules}
    for rule in rules:
        rule.children = [by_identity[id(child)] for child in rule.application.children]
        below = {name for child in rule.children for name in _covered(derivation.forest, child.application)}
        rule.own = [name for name in _covered(derivation.forest, rule.application) if name not in below]
    for j, owner in enumerate(_target_owners(derivation.forest, rules)):
        owner.own.append(f"t{j}")
        owner.own += [f"l{number}" for number, link in enumerate(links) if link[1] == j]
    for rule in reversed(rules):
        rule.near = [name for child in rule.children for name in child.own + child.near if name[0] != "l"]
    return rules


def _owners(rules: Sequence[_Rule]) -> dict[str, list[str]]:
    """The ids of the rules that a word belongs to."""
    owners: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.own:
            owners.setdefault(name, []).append(f"r{rule.number}")
    return owners


def _target_owners(forest: Forest, rules: Sequence[_Rule]) -> Iterator[_Rule]:
    """The rule that each target word is from."""
    open_: list[tuple[_Rule, bool]] = [(rules[0], True)]
    while open_:
        rule, whole = open_.pop()
        if not whole:
            yield rule
            continue
        template = forest.edge_targets[rule.application.edge]
        symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
        parts = [(rule, False) if s >= 0 else (rule.children[-1 - s], True) for s in symbols]
        open_.extend(reversed(parts))


def _tree(rules: Sequence[_Rule], weights: Weights | None) -> str:
    """Rules as boxes, each above its children."""
    widths = [_rule_width(rule, weights) for rule in rules]
    middles, depths, width = _layout(rules, widths)
    height = 3 * LINE + 8
    step = height + 34
    lines, boxes = [], []
    for rule in rules:
        i = rule.number
        top = 1 + depths[i] * step
        boxes.append(_rule_box(rule, middles[i], top, widths[i], weights))
        for k, child in enumerate(rule.children, start=1):
            kind = f'class="n{min(k, 3)}"'
            lines.append(curve(middles[i], top + height, middles[child.number], top + step, kind))
    return svg(width + 2, max(depths) * step + height + 2, "".join(lines) + "\n" + "".join(boxes))


def _layout(rules: Sequence[_Rule], widths: Sequence[float]) -> tuple[list[float], list[int], float]:
    """Middles, depths, and the width of all; subtrees stand side by side."""
    extents = list(widths)
    for rule in reversed(rules):
        below = sum(extents[child.number] + _GAP for child in rule.children) - _GAP
        extents[rule.number] = max(extents[rule.number], below)
    lefts, depths = [1.0] * len(rules), [0] * len(rules)
    for rule in rules:
        below = sum(extents[child.number] + _GAP for child in rule.children) - _GAP
        x = lefts[rule.number] + (extents[rule.number] - below) / 2
        for child in rule.children:
            lefts[child.number], depths[child.number] = x, depths[rule.number] + 1
            x += extents[child.number] + _GAP
    middles = [left + extent / 2 for left, extent in zip(lefts, extents, strict=True)]
    for rule in reversed(rules):
        if rule.children:
            i = rule.number
            middle = (middles[rule.children[0].number] + middles[rule.children[-1].number]) / 2
            half = widths[i] / 2
            middles[i] = min(max(middle, lefts[i] + half), lefts[i] + extents[i] - half)
    return middles, depths, extents[0]


def _heading(rule: RuleApplication, weights: Weights | None) -> tuple[str, str]:
    score = "" if weights is None else number_text(_score(rule.features, weights))
    return _name(rule.label, rule.span), score


def _rule_width(rule: _Rule, weights: Weights | None) -> float:
    name, score = _heading(rule.application, weights)
    sides = (rule.application.source, rule.application.target)
    return 20 + max(text_width(name) + _GAP + text_width(score), *map(text_width, sides))


def _rule_box(rule: _Rule, middle: float, top: float, width: float, weights: Weights | None) -> str:
    application = rule.application
    name, score = _heading(application, weights)
    x, right = middle - width / 2 + 10, middle + width / 2 - 10
    content = (
        _details(application, weights)
        + box(middle - width / 2, top, width, 3 * LINE + 8)
        + label(x, top + 18, escaped(name), "head")
        + label(right, top + 18, score, "score end")
        + label(x, top + 18 + LINE, _side(application.source))
        + label(x, top + 18 + 2 * LINE, _side(application.target))
    )
    return group(f"r{rule.number}", "rule", content, [f"r{rule.number}", *rule.own], rule.near)


def _feature_table(features: Weights, weights: Weights | None) -> str:
    heads = ["feature", "value"] if weights is None else ["feature", "value", "weight", "product"]
    rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for name, value in features.items():
        weight = 0.0 if weights is None else weights.get(name, 0.0)
        cells = [escaped(name), number_text(value), f"{weight:g}", number_text(value * weight)][: len(heads)]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>\n"


# Forests.


@dataclass
class _Node:
    """A node as a box with a row an edge."""

    name: str
    words: list[str]  # ids of the source words it covers
    edges: list[RuleApplication]
    width: float
    x: float = 0.0
    y: float = 0.0

    @property
    def height(self) -> float:
        return (len(self.edges) + 1) * LINE + 8


def _graph(forest: Forest, weights: Weights | None) -> str:
    """Nodes with their edges, each node in a column to the right of all that use it."""
    nodes = [_node(forest, number, weights) for number in range(forest.node_count)]
    width, height = _place(forest, nodes)
    best = _best_edges(forest, weights)
    lines, boxes = [], []
    for number, node in enumerate(nodes):
        boxes.append(_node_head(number, node))
        for row, rule in enumerate(node.edges, start=1):
            kind = " best" if rule.edge in best else ""
            tails = _tails(forest, rule.edge)
            top = node.y + row * LINE + 3
            boxes.append(_edge_row(rule, node, top, tails, weights, kind))
            for k, tail in enumerate(tails, start=1):
                attributes = f'id="l{rule.edge}-{k}" class="n{min(k, 3)}{kind}"'
                to = nodes[tail]
                x, y = node.x + node.width, top + LINE / 2
                lines.append(curve(x, y, to.x, to.y + LINE / 2 + 4, attributes, sideways=True))
    return svg(width, height, "".join(lines) + "\n" + "".join(boxes))


def _best_edges(forest: Forest, weights: Weights | None) -> set[int]:
    if weights is None:
        return set()
    best = forest.viterbi(weights)
    return set() if best is None else set(best.edges.tolist())


def _tails(forest: Forest, edge: int) -> list[int]:
    tails: list[int] = forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()
    return tails


def _node(forest: Forest, number: int, weights: Weights | None) -> _Node:
    edges = [rule_application(forest, edge) for edge in range(*forest.edge_offsets[number : number + 2])]
    name = _name(edges[0].label, edges[0].span)
    rows = (e.source + _ARROW + e.target + _heading(e, weights)[1] for e in edges)
    width = 20 + _GAP + max(map(text_width, (name + "999 edges", *rows)))
    return _Node(name, _covered(forest, edges[0]), edges, width)


def _place(forest: Forest, nodes: Sequence[_Node]) -> tuple[float, float]:
    """Sets where nodes are: columns by the longest way from the root, in them by span. The size of all."""
    layers = [0] * len(nodes)
    for number in reversed(range(len(nodes))):
        for rule in nodes[number].edges:
            for tail in _tails(forest, rule.edge):
                layers[tail] = max(layers[tail], layers[number] + 1)
    columns: list[list[_Node]] = [[] for _ in range(max(layers) + 1)]
    for node, layer in zip(nodes, layers, strict=True):
        columns[layer].append(node)
    height = max(sum(node.height + _GAP for node in column) for column in columns)
    x = 1.0
    for column in columns:
        y = 1 + (height - sum(node.height + _GAP for node in column)) / 2
        for node in sorted(column, key=lambda node: node.edges[0].span):
            node.x, node.y = x, y
            y += node.height + _GAP
        x += max(node.width for node in column) + _LAYER
    return x - _LAYER + 1, height


def _node_head(number: int, node: _Node) -> str:
    count = f"{len(node.edges)} edge" + "s" * (len(node.edges) != 1)
    content = (
        box(node.x, node.y, node.width, node.height)
        + label(node.x + 10, node.y + 17, escaped(node.name), "head")
        + label(node.x + node.width - 10, node.y + 17, count, "dim end")
    )
    return group(f"n{number}", "node", content, [f"n{number}", *node.words])


def _edge_row(
    rule: RuleApplication, node: _Node, y: float, tails: Sequence[int], weights: Weights | None, kind: str
) -> str:
    content = (
        _details(rule, weights)
        + box(node.x + 4, y, node.width - 8, LINE)
        + label(node.x + 10, y + 15, _side(rule.source) + _ARROW + _side(rule.target))
        + label(node.x + node.width - 10, y + 15, _heading(rule, weights)[1], "score end")
    )
    lines = [f"l{rule.edge}-{k}" for k in range(1, len(tails) + 1)]
    own = [f"e{rule.edge}", *lines, *(f"n{tail}" for tail in tails)]
    return group(f"e{rule.edge}", "edge" + kind, content, own, node.words)
