"""A slow and simple version of soft syntax and structural distortion features (Chiang et al. 2008), by walks
over derivations, for comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import hiero
from hiero import Rule
from hiero.features import DistortionStatistics
from hiero.features.syntax import COARSE_LABELS, FINE_LABELS

STATISTICS = DistortionStatistics([50, 40, 30, 0, 20, 10, 9, 8, 7, 6], [5, 6, 7, 0, 9, 9, 9, 9, 9, 0])


def parse_brackets(text: str) -> tuple[str, int, list[tuple[str, int, int]]]:
    """Returns the label, the number of words and the constituents of a bracketed tree, by recursion over its
    text."""
    inner = text[1:-1]
    label, _, rest = inner.partition(" ")
    if "(" not in rest:
        return label, 1, []
    at, parts, depth, begin = 0, [], 0, 0
    for i, character in enumerate(rest):
        if character == "(":
            begin = i if depth == 0 else begin
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                parts.append(rest[begin : i + 1])
    constituents: list[tuple[str, int, int]] = []
    for part in parts:
        _, words, below = parse_brackets(part)
        constituents += [(name, at + b, at + e) for name, b, e in below]
        at += words
    return label, at, [(label, 0, at), *constituents]


def reordering_flags(rule: Rule) -> list[bool]:
    """Returns for each nonterminal, in source order, whether its link crosses another link of the rule."""
    positions = {token: at for at, token in enumerate(rule.target)}
    gaps = [
        (at, positions[token]) for at, token in enumerate(rule.source) if token in positions and "," in token
    ]
    links = [*gaps, *((s, t) for s, t in rule.links if "," not in rule.source[s])]
    return [any((s - a) * (t - b) < 0 for a, b in links) for s, t in gaps]


class Walk:
    """A walk over derivations that adds up the features of rule applications."""

    def __init__(
        self,
        model: hiero.Model,
        brackets: str,
        *,
        glue: bool = False,
        fine: Sequence[str] = FINE_LABELS,
        coarse: Sequence[str] = COARSE_LABELS,
        statistics: DistortionStatistics = STATISTICS,
    ) -> None:
        self.model, self.glue, self.statistics = model, glue, statistics
        self.fine, self.coarse = set(fine), set(coarse)
        self.constituents = parse_brackets(brackets)[2]

    def features(self, derivation: hiero.Derivation) -> Counter[str]:
        forest = derivation.forest
        heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
        sums: Counter[str] = Counter()
        for edge in derivation.edges.tolist():
            table, number = int(forest.edge_tables[edge]), int(forest.edge_rules[edge])
            if table < 0:
                continue
            owner = forest.tables[table]
            goal = forest.labels[forest.node_labels[heads[edge]]] == self.model.goal
            if goal and not self.glue:
                continue
            begin, end = forest.node_spans[heads[edge]].tolist()
            sums.update(self.span_features(begin, end))
            tails = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]]
            if len(tails) == 0:
                continue
            flags = reordering_flags(self.model.rule(owner, number))
            sizes = [e - b for b, e in forest.node_spans[tails].tolist()]
            for size, flag in zip(sizes, flags, strict=True):
                sums.update(self.gap_features(size, flag))
        return sums

    def span_features(self, begin: int, end: int) -> Iterator[str]:
        words = set(range(begin, end))
        matched, crossed = set(), set()
        for label, b, e in self.constituents:
            below = set(range(b, e))
            if words == below:
                matched.add(label)
            elif words & below and not words <= below and not below <= words:
                crossed.add(label)
        for kind, labels in (("Match", matched), ("Cross", crossed)):
            yield from (f"Syntax_{label}_{kind}" for label in labels & self.fine)
            if labels & self.coarse:
                yield f"Syntax_{kind}"

    def gap_features(self, size: int, flag: bool) -> Mapping[str, float]:
        kind = "Reordered" if flag else "Monotone"
        shown = str(size) if size < 10 else "10+"
        counts = list(zip(self.statistics.monotone, self.statistics.reordered, strict=True))
        size_counts = counts[min(size, 10) - 1]
        if size_counts == (0, 0):  # the size was never seen: use the largest one that was
            size_counts = next((pair for pair in reversed(counts) if pair != (0, 0)), (0, 0))
        probability = (size_counts[flag] + 1) / (sum(size_counts) + 2)
        return {
            f"Distortion_{kind}_{shown}": 1,
            f"Distortion_{kind}_*": 1,
            "Distortion": math.log(probability),
        }
