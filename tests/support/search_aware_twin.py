"""The algorithms of Zhai et al. (2015) straight from the paper, over derivations as trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from hiero import Chart, Forest
from hiero._core import bleu, bleu_counts

Span = tuple[int, int]
Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """A rule of the chart's forest, by its edge, over derivations of its nonterminals in source order."""

    edge: int
    children: tuple[Tree, ...]

    def edges(self) -> Iterator[int]:
        yield self.edge
        for child in self.children:
            yield from child.edges()


def tree_of(forest: Forest, edges: Sequence[int]) -> Tree:
    rest = iter(edges)

    def grow() -> Tree:
        edge = int(next(rest))
        return Tree(edge, tuple(grow() for _ in tails_of(forest, edge)))

    return grow()


def tails_of(forest: Forest, edge: int) -> list[int]:
    return _tails(forest)[edge]


@lru_cache(maxsize=1)
def _tails(forest: Forest) -> list[list[int]]:
    """Returns the tails of every edge as lists, since slices of arrays take a hundred times as long."""
    tails = forest.tails.tolist()
    return [tails[begin:end] for begin, end in itertools.pairwise(forest.tail_offsets.tolist())]


@lru_cache(maxsize=1)
def _targets(forest: Forest) -> list[list[str | int]]:
    symbols, words = forest.target_symbols.tolist(), forest.words
    targets = [
        [words[s] if s >= 0 else s for s in symbols[begin:end]]
        for begin, end in itertools.pairwise(forest.target_offsets.tolist())
    ]
    return [targets[template] for template in forest.edge_targets.tolist()]


def head_of(forest: Forest, edge: int) -> int:
    return int(np.searchsorted(forest.edge_offsets, edge, "right")) - 1


def bleu_plus_one(tokens: Sequence[str], references: Sequence[Sequence[str]], length: str) -> float:
    counts = bleu_counts(list(tokens), [list(r) for r in references], effective_length=length)
    return float(bleu(counts + np.array([0, 0, 0, 1, 1, 1, 0, 1, 1, 1])))


@dataclass
class Good:
    tree: Tree
    bleu: float


@dataclass
class Twin:
    """Outside strings of spans, and the derivations that the guided backtrace recovers."""

    chart: Chart
    references: Sequence[Sequence[str]] = ()
    k: int = 50
    beam: int = 30
    most: int = 50
    length: str = "average"
    strings: dict[Span, tuple[Tokens, Tokens]] = field(default_factory=dict)
    recovered: dict[Span, list[Good]] = field(default_factory=dict)
    best_bleu: float = 0.0
    oracle_bleu: float = 0.0
    oracle: Tokens = ()

    def __post_init__(self) -> None:
        self.forest = self.chart.forest
        self.final = [
            tree_of(self.forest, d.edges.tolist())
            for d in self.forest.kbest(self.k, self.chart.edge_scores, unique=True)
        ]

    # --- derivations -------------------------------------------------------------------------------------

    def span(self, tree: Tree) -> Span:
        begin, end = self.forest.node_spans[head_of(self.forest, tree.edge)].tolist()
        return begin, end

    def label(self, tree: Tree) -> int:
        return int(self.forest.node_labels[head_of(self.forest, tree.edge)])

    def target(self, edge: int) -> list[str | int]:
        """Returns the target side of a rule: words, and -1 - i for nonterminal i."""
        return _targets(self.forest)[edge]

    def e(self, tree: Tree) -> Tokens:
        """Returns the translation of a derivation."""
        out: list[str] = []
        for symbol in self.target(tree.edge):
            out += [symbol] if isinstance(symbol, str) else self.e(tree.children[-1 - symbol])
        return tuple(out)

    def around_child(self, tree: Tree, place: int) -> tuple[Tokens, Tokens] | None:
        """Returns eta_d and xi_d of a nonterminal; None if the target side does not have it."""
        symbols = self.target(tree.edge)
        if -1 - place not in symbols:
            return None
        at = symbols.index(-1 - place)

        def words(part: list[str | int]) -> Tokens:
            out: list[str] = []
            for symbol in part:
                out += [symbol] if isinstance(symbol, str) else self.e(tree.children[-1 - symbol])
            return tuple(out)

        return words(symbols[:at]), words(symbols[at + 1 :])

    def is_unary(self, tree: Tree) -> bool:
        return len(tree.children) == 1 and self.span(tree.children[0]) == self.span(tree)

    def best(self, node: int) -> Tree:
        return tree_of(self.forest, self.chart.derivation(node).edges.tolist())

    def b(self, span: Span) -> list[Tree]:
        """Returns the beam of a span."""
        nodes = [int(v) for v in self.chart.nodes(*span) if self.chart.survived[v]]
        return [self.best(node) for node in nodes[: self.beam]]

    # --- outside strings ---------------------------------------------------------------------------------

    def top_down(self) -> None:
        """Runs algorithm 1."""

        def visit(d: Tree, eta: Tokens, xi: Tokens) -> None:
            self.strings.setdefault(self.span(d), (eta, xi))
            for x, child in enumerate(d.children):
                if (found := self.around_child(d, x)) is not None:
                    visit(child, eta + found[0], found[1] + xi)

        for d in self.final:
            visit(d, (), ())

    def guided_backtrace(self) -> None:
        """Runs algorithm 2."""
        strings = [self.e(d) for d in self.final]
        self.best_bleu = max(self.quality(string) for string in strings)
        self.oracle_bleu = self.best_bleu
        self.oracle = next(string for string in strings if self.quality(string) == self.best_bleu)
        good = self.guided(self.final[0], (), ())
        # Translations of the whole sentence have the rule on top that ends them.
        whole = self.span(self.final[0])
        last = self.final[0].edge
        goal = int(self.forest.node_labels[tails_of(self.forest, last)[0]])
        self.recovered[whole] = []
        for g in sorted(good, key=lambda g: -g.bleu)[: self.most]:
            if (fitting := self.with_label(g.tree, goal)) is not None:
                root_edge = int(self.forest.edge_offsets[self.forest.root])
                self.recovered[whole].append(Good(Tree(root_edge, (fitting,)), g.bleu))

    def quality(self, string: Tokens) -> float:
        return bleu_plus_one(string, self.references, self.length)

    def guided(self, d: Tree, eta: Tokens, xi: Tokens) -> list[Good]:
        span = self.span(d)
        if span in self.strings:
            return []
        self.strings[span] = eta, xi
        good: list[Good] = []
        if d is not self.final[0]:
            for candidate in self.b(span):
                string = eta + self.e(candidate) + xi
                quality = self.quality(string)
                if quality > self.best_bleu:
                    good.append(Good(candidate, quality))
                if quality > self.oracle_bleu:
                    self.oracle_bleu, self.oracle = quality, string
        s = [
            (self.quality(eta + self.e(tree) + xi), split.score, tree)
            for split in self.chart.splits(*span).values()
            for tree in [tree_of(self.forest, split.edges.tolist())]
        ]
        for _, _, derivation in sorted(s, key=lambda one: (-one[0], -one[1])):
            # Unary rules on top are looked through.
            chain, rule = [], derivation
            outer: tuple[Tokens, Tokens] | None = (eta, xi)
            while self.is_unary(rule):
                chain.append(rule.edge)
                inner = self.around_child(rule, 0)
                outer = None if inner is None or outer is None else (outer[0] + inner[0], inner[1] + outer[1])
                rule = rule.children[0]
            for x, child in enumerate(rule.children):
                inner = self.around_child(rule, x)
                if inner is None or outer is None:
                    continue
                for g in self.guided(child, outer[0] + inner[0], inner[1] + outer[1]):
                    fitting = self.with_label(g.tree, self.label(child))
                    if fitting is None:
                        continue
                    made = Tree(rule.edge, (*rule.children[:x], fitting, *rule.children[x + 1 :]))
                    for edge in reversed(chain):
                        made = Tree(edge, (made,))
                    good.append(Good(made, g.bleu))
        self.recovered[span] = sorted(good, key=lambda g: -g.bleu)[: self.most]
        return good

    def with_label(self, tree: Tree, label: int) -> Tree | None:
        """Returns the derivation with this label below the copying unary rules on top, or puts a copying rule
        with the label on top; None if there is neither."""
        levels = [tree]
        while self.label(levels[-1]) != label and self.is_copy(levels[-1]):
            levels.append(levels[-1].children[0])
        if self.label(levels[-1]) == label:
            return levels[-1]
        for level in levels:
            for node in self.chart.nodes(*self.span(level)).tolist():
                if self.forest.node_labels[node] != label:
                    continue
                for edge in range(*self.forest.edge_offsets[node : node + 2].tolist()):
                    tails = tails_of(self.forest, edge)
                    over = Tree(edge, tuple(self.best(tail) for tail in tails))
                    if self.is_copy(over) and self.label(over.children[0]) == self.label(level):
                        return Tree(edge, (level,))
        return None

    def is_copy(self, tree: Tree) -> bool:
        return self.is_unary(tree) and self.target(tree.edge) == [-1]

    def concatenation(self, span: Span) -> tuple[Tokens, Tokens]:
        """Returns the best translations of the spans before and behind a span."""
        length = self.forest.source_length
        arcs = self.forest.source_nodes.reshape(-1, 2).tolist()
        words = [tuple(arc) for arc in arcs] or [(at, at + 1) for at in range(length)]

        def whole(begin: int, end: int) -> tuple[int, float, Tokens] | None:
            nodes = self.chart.nodes(begin, end)
            if len(nodes) == 0:
                return None
            return 0, -float(self.chart.scores[nodes[0]]), self.e(self.best(int(nodes[0])))

        def cut(pieces: list[tuple[Span, Span, Span]]) -> tuple[int, float, Tokens]:
            """Returns the best of the ways to cut a span into (left, right, the one of them that is
            translated)."""
            made = []
            for left, right, piece in pieces:
                found = whole(*piece)
                if found is None and piece not in words:
                    continue
                here = found or (1, 0.0, ())
                there = before(left[1]) if piece == right else behind(right[0])
                both = (there, here) if piece == right else (here, there)
                made.append((here[0] + there[0], here[1] + there[1], both[0][2] + both[1][2]))
            return min(made, key=lambda one: one[:2])

        def before(at: int) -> tuple[int, float, Tokens]:
            if at == 0:
                return 0, 0.0, ()
            return whole(0, at) or cut([((0, b), (b, at), (b, at)) for b in range(at)])

        def behind(at: int) -> tuple[int, float, Tokens]:
            if at == length:
                return 0, 0.0, ()
            ends = range(length, at, -1)
            return whole(at, length) or cut([((at, e), (e, length), (at, e)) for e in ends])

        return before(span[0])[2], behind(span[1])[2]
