"""Tests of Fisher's exact test of rules: probabilities against exact sums, and counts against a search of all
sentence pairs."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from hiero._core import fisher_minus_log_p
from support.brute_force import is_nonterminal, side_matches
from support.brute_force_extraction import Pair
from support.extraction import Key, extract, read_counts, score

Side = tuple[str, ...]


def exact_p(both: int, source: int, target: int, pairs: int) -> Fraction:
    """Returns the probability that at least `both` of `target` random pairs are among `source` given
    pairs."""
    ways = sum(
        math.comb(source, k) * math.comb(pairs - source, target - k)
        for k in range(both, min(source, target) + 1)
        if k + pairs >= source + target
    )
    return Fraction(ways, math.comb(pairs, target))


def minus_log(p: Fraction) -> float:
    return math.log(p.denominator) - math.log(p.numerator)


def test_probabilities_are_exact_sums() -> None:
    for pairs in range(1, 9):
        for source, target in itertools.product(range(pairs + 1), repeat=2):
            for both in range(min(source, target) + 1):
                expected = minus_log(exact_p(both, source, target, pairs))
                actual = fisher_minus_log_p(both, source, target, pairs)
                assert actual == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_probabilities_of_larger_counts() -> None:
    rng = random.Random(1)
    for _ in range(60):
        pairs = rng.randint(100, 2000)
        source, target = (max(1, round(pairs ** rng.random())) for _ in range(2))
        both = min(round(source * target / pairs * 3 * rng.random()) + rng.randint(0, 3), source, target)
        expected = minus_log(exact_p(both, source, target, pairs))
        assert fisher_minus_log_p(both, source, target, pairs) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def random_pairs(rng: random.Random, size: int) -> list[Pair]:
    """Makes sentence pairs of a few frequent words and some rare ones, aligned word by word."""
    out = []
    for _ in range(size):
        source = tuple(rng.choice("ab" if rng.random() < 0.8 else "cdefgh") for _ in range(rng.randint(1, 4)))
        target = tuple(w.upper() if rng.random() < 0.35 else rng.choice("ABXY") for w in source)
        out.append(Pair(source, target, frozenset((i, i) for i in range(len(source)))))
    return out


def holders(sentences: Sequence[Sequence[str]], sides: Iterable[Side]) -> dict[Side, set[int]]:
    return {
        side: {i for i, words in enumerate(sentences) if side_matches(words, side)} for side in set(sides)
    }


def exact_values(pairs: Sequence[Pair], rules: Sequence[Key]) -> dict[Key, float]:
    """Returns -log p of every rule, with counts from a search of all sentences for every side."""
    sources = holders([p.source for p in pairs], (f for f, _ in rules))
    targets = holders([p.target for p in pairs], (e for _, e in rules))
    p_values: dict[tuple[int, int, int], float] = {}
    out, ways = {}, Counter[str]()
    for source, target in rules:
        f, e = sources[source], targets[target]
        counts = len(f & e), len(f), len(e)
        if counts not in p_values:
            p_values[counts] = minus_log(exact_p(*counts, len(pairs)))
        out[source, target] = p_values[counts]
        # If few sentences have the rarest word of the target side, they are searched. If many have it, either
        # they or the sentences with the source side are searched, whichever are fewer.
        near = min(sum(word in p.target for p in pairs) for word in target if not is_nonterminal(word))
        if len(e) < near and len(f & e) < len(f):
            ways["few" if near < 64 else "source" if len(f) < near else "target"] += 1
    assert min(ways[way] for way in ("few", "source", "target")) >= 5, ways
    return out


def test_rules_are_pruned_by_counts_of_pairs_that_hold_their_sides(tmp_path: Path) -> None:
    pairs = random_pairs(random.Random(2), 250)
    extract(tmp_path, pairs)
    rules = list(read_counts(tmp_path))
    values = exact_values(pairs, rules)
    plain = score(tmp_path)
    # Thresholds between the values show that each value is right.
    levels = sorted({0.0, *values.values()})
    between = [(a + b) / 2 for a, b in itertools.pairwise(levels) if b - a > 1e-6 * b]
    assert len(between) > 100
    for number, threshold in enumerate([*between[:3], *between[3::40]]):
        bitext = tmp_path / "f", tmp_path / "e"
        significant = score(tmp_path, bitext, threads=1 + number % 3, significance=threshold)
        assert significant == {rule: plain[rule] for rule in rules if values[rule] > threshold}


def test_rules_are_pruned_in_batches_of_several_threads(tmp_path: Path) -> None:
    """A rule that occurs once is not significant (a+e), also in the second and third batch of rules."""
    twice = set(random.Random(3).sample(range(9000), 4000))
    rules = [((f"f{n}",), (f"e{n}",)) for n in range(9000)]
    pairs = [
        Pair(*rule, frozenset({(0, 0)})) for n, rule in enumerate(rules) for _ in range(1 + (n in twice))
    ]
    extract(tmp_path, pairs)
    for threads in (1, 3):
        significant = score(tmp_path, (tmp_path / "f", tmp_path / "e"), threads, significance="a+e")
        assert list(significant) == [rules[n] for n in sorted(twice)]


@pytest.mark.parametrize("counts", [(3, 2, 5, 10), (3, 5, 2, 10), (1, 11, 5, 10), (1, 5, 10**13, 10)])
def test_impossible_counts(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="more pairs"):
        fisher_minus_log_p(*counts)
