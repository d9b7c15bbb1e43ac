"""Lattices, drawn at random, and all derivations of them, by enumeration."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from hiero import Arc, Lattice, Rule
from support.brute_force import Derivation, Enumerator, Span, is_nonterminal, nonterminal_label

# The words of each path, and its sums of scores.
Paths = list[tuple[tuple[str, ...], tuple[float, ...]]]


class LatticeEnumerator(Enumerator):
    """Enumerates all derivations of a lattice: spans are pairs of nodes, and their limits are of the shortest
    path."""

    def __init__(
        self, rules: Sequence[Rule], lattice: Lattice, span_limit: int, sentence_rules: Sequence[Rule] = ()
    ) -> None:
        super().__init__(rules, list(lattice.words), span_limit, sentence_rules=sentence_rules)
        self.lattice = lattice
        self.last = max(arc.end for arc in lattice.arcs)

    def derivations(self) -> list[Derivation]:
        return self.span_derivations(0, self.last, self.goal)

    def distance(self, begin: int, end: int) -> float:
        """Returns the number of arcs of the shortest path between nodes."""
        if begin == end:
            return 0
        return min(
            (1 + self.distance(arc.end, end) for arc in self.lattice.arcs if arc.begin == begin),
            default=float("inf"),
        )

    def span_derivations(self, begin: int, end: int, label: str) -> list[Derivation]:
        key = (begin, end, label)
        if key not in self.memory:
            derivations = []
            for rule in self.rules:
                if rule.lhs == label and self.distance(begin, end) <= rule.span_limit:
                    for gaps, path in self.walks(rule.source, begin, end):
                        scores = Counter()
                        for arc in path:
                            scores.update({f"Lattice{k}": score for k, score in enumerate(arc.scores)})
                        for one in self.applications(rule, gaps):
                            total = Counter(one.features)
                            total.update(scores)
                            derivations.append(Derivation(one.words, total))
            self.memory[key] = derivations
        return self.memory[key]

    def walks(self, source: Sequence[str], begin: int, end: int) -> Iterator[tuple[list[Span], list[Arc]]]:
        """Yields the spans of the nonterminals and the arcs of the words for every way in which ``source``
        leads from a node to another."""
        if not source:
            if begin == end:
                yield [], []
            return
        if is_nonterminal(source[0]):
            assert nonterminal_label(source[0])
            for middle in range(begin + 1, end + 1):
                for gaps, path in self.walks(source[1:], middle, end):
                    yield [(begin, middle), *gaps], path
            return
        for arc in self.lattice.arcs:
            if arc.begin == begin and arc.word == source[0]:
                for gaps, path in self.walks(source[1:], arc.end, end):
                    yield gaps, [arc, *path]


def random_lattice(rng: random.Random, words: str, nodes: int, scores: int, empty: float = 0.0) -> Lattice:
    """Draws a lattice with so many nodes, in which some arcs have no word."""
    arcs = []

    def add(begin: int, end: int) -> None:
        word = "" if rng.random() < empty else rng.choice(words)
        arcs.append(Arc(word, begin, end, tuple(round(rng.uniform(-2, 0), 3) for _ in range(scores))))

    for node in range(nodes - 1):
        add(node, node + 1 if rng.random() < 0.7 else rng.randint(node + 1, nodes - 1))
    for node in range(1, nodes):
        if all(arc.end != node for arc in arcs):
            add(rng.randrange(node), node)
    for _ in range(rng.randint(0, 3)):
        begin = rng.randrange(nodes - 1)
        add(begin, rng.randint(begin + 1, nodes - 1))
    return Lattice(arcs)


def paths(lattice: Lattice) -> Paths:
    """Returns the words of all paths, and their sums of scores, sorted."""
    last = max(arc.end for arc in lattice.arcs)
    count = len(lattice.arcs[0].scores)

    def from_node(node: int) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
        if node == last:
            yield (), (0.0,) * count
        for arc in lattice.arcs:
            if arc.begin == node:
                for words, scores in from_node(arc.end):
                    sums = tuple(a + b for a, b in zip(arc.scores, scores, strict=True))
                    yield (*([arc.word] if arc.word else []), *words), sums

    return sorted(from_node(0))


def same_paths(left: Paths, right: Paths) -> bool:
    """Tells whether two lists of paths are the same, up to the rounding of scores."""
    pairs = itertools.zip_longest(left, right)
    return all(
        one is not None
        and other is not None
        and one[0] == other[0]
        and all(abs(a - b) < 1e-9 for a, b in zip(one[1], other[1], strict=True))
        for one, other in pairs
    )
