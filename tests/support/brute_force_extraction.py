"""A slow and simple version of rule extraction by its definition (Chiang 2007, section 3.2), for
comparison."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

Links = frozenset[tuple[int, int]]
Span = tuple[int, int, int, int]  # source begin, end, target begin, end


@dataclass(frozen=True)
class Pair:
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: Links


@dataclass(frozen=True)
class Limits:
    max_phrase: int = 10
    max_symbols: int = 5
    max_nonterminals: int = 2
    min_gap: int = 1
    unaligned_edges: bool = False


@dataclass
class RuleCount:
    """The counts of a rule: the sum of its shares of initial phrases, its occurrences, and those by
    alignment."""

    count: Fraction
    occurrences: int
    alignments: Counter[tuple[tuple[int, int], ...]]

    def links(self) -> tuple[tuple[int, int], ...]:
        """Returns the most frequent alignment, the first one in order among several."""
        most = max(self.alignments.values())
        return min(links for links, n in self.alignments.items() if n == most)


Rule = tuple[tuple[str, ...], tuple[str, ...]]


def inside(link: tuple[int, int], span: Span) -> bool:
    return span[0] <= link[0] < span[1] and span[2] <= link[1] < span[3]


def is_initial(pair: Pair, span: Span, limits: Limits) -> bool:
    i, j, k, m = span
    if j - i > limits.max_phrase or m - k > limits.max_phrase:
        return False
    links = [link for link in pair.links if i <= link[0] < j or k <= link[1] < m]
    if not links or not all(inside(link, span) for link in links):
        return False
    edges_aligned = [{i, j - 1} <= {s for s, _ in links}, {k, m - 1} <= {t for _, t in links}]
    return limits.unaligned_edges or all(edges_aligned)


def initial_phrases(pair: Pair, limits: Limits) -> list[Span]:
    return [
        (i, j, k, m)
        for i, j in itertools.combinations(range(len(pair.source) + 1), 2)
        for k, m in itertools.combinations(range(len(pair.target) + 1), 2)
        if is_initial(pair, (i, j, k, m), limits)
    ]


def gap_choices(phrase: Span, phrases: list[Span], pair: Pair, limits: Limits) -> Iterator[tuple[Span, ...]]:
    """Yields the smaller phrases that each rule of a phrase replaces by nonterminals."""
    subphrases = [
        p
        for p in phrases
        if phrase[0] <= p[0] and p[1] <= phrase[1] and phrase[2] <= p[2] and p[3] <= phrase[3]
        if p[1] - p[0] >= limits.min_gap
    ]
    yield ()
    for count in range(1, limits.max_nonterminals + 1):
        for gaps in itertools.combinations(sorted(subphrases), count):
            if any(a[1] >= b[0] for a, b in itertools.pairwise(gaps)):  # overlapping or adjacent
                continue
            if any(a[2] < b[3] and b[2] < a[3] for a, b in itertools.combinations(gaps, 2)):
                continue
            symbols = phrase[1] - phrase[0] - sum(g[1] - g[0] - 1 for g in gaps)
            links = [x for x in pair.links if inside(x, phrase) and not any(inside(x, g) for g in gaps)]
            if symbols <= limits.max_symbols and links:
                yield gaps


def make_rule(phrase: Span, gaps: tuple[Span, ...], pair: Pair) -> tuple[Rule, tuple[tuple[int, int], ...]]:
    """Returns a rule and its links, by positions in the rule."""
    sides: list[tuple[str, ...]] = []
    rule_positions: list[dict[int, int]] = []  # by side: position in the sentence -> position in the rule
    for words, at in ((pair.source, 0), (pair.target, 2)):
        tokens: list[str] = []
        positions: dict[int, int] = {}
        for position in range(phrase[at], phrase[at + 1]):
            number = next((n for n, g in enumerate(gaps) if g[at] <= position < g[at + 1]), None)
            if number is None:
                positions[position] = len(tokens)
                tokens.append(words[position])
            elif position == gaps[number][at]:
                tokens.append(f"[X,{number + 1}]")
        sides.append(tuple(tokens))
        rule_positions.append(positions)
    source, target = rule_positions
    links = sorted((source[s], target[t]) for s, t in pair.links if s in source and t in target)
    return (sides[0], sides[1]), tuple(links)


def extract(pairs: Iterable[Pair], limits: Limits) -> dict[Rule, RuleCount]:
    rules: dict[Rule, RuleCount] = defaultdict(lambda: RuleCount(Fraction(0), 0, Counter()))
    for pair in pairs:
        phrases = initial_phrases(pair, limits)
        for phrase in phrases:
            choices = list(gap_choices(phrase, phrases, pair, limits))
            for gaps in choices:
                rule, links = make_rule(phrase, gaps, pair)
                rules[rule].count += Fraction(1, len(choices))
                rules[rule].occurrences += 1
                rules[rule].alignments[links] += 1
    return rules


def distortion(pairs: Iterable[Pair], limits: Limits) -> tuple[Counter[int], Counter[int]]:
    """Returns the numbers of monotone and of reordered nonterminals by source words; 10 stands for 10 or
    more."""
    counts: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for pair in pairs:
        phrases = initial_phrases(pair, limits)
        for phrase in phrases:
            for gaps in gap_choices(phrase, phrases, pair, limits):
                words = [x for x in pair.links if inside(x, phrase) and not any(inside(x, g) for g in gaps)]
                links = [*words, *((g[0], g[2]) for g in gaps)]
                for gap in gaps:
                    crossed = any(
                        (s < gap[0]) != (t < gap[2]) for s, t in links if (s, t) != (gap[0], gap[2])
                    )
                    counts[crossed][min(10, gap[1] - gap[0])] += 1
    return counts
