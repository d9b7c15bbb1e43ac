"""Pruning by Fisher's exact test (Johnson et al. 2007) against fractions and counts read off the text."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest
from brute_force import holds
from test_extraction import extract, random_pair, read, rows, scored

from hiero import FormatError
from hiero._core import fisher_minus_log_p
from hiero.train import ScoreSettings, score_rules


def fisher(both: int, source: int, target: int, pairs: int) -> float:
    """-log p by fractions."""
    ways = Fraction(math.comb(pairs, target))
    p = sum(
        math.comb(source, k) * math.comb(pairs - source, target - k) / ways
        for k in range(both, min(source, target) + 1)
    )
    return -(math.log(p.numerator) - math.log(p.denominator)) if isinstance(p, Fraction) else math.inf


def test_the_test_itself() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        pairs = rng.choice([5, 30, 400, 3000])
        source, target = (min(pairs, 1 + int(rng.expovariate(8 / pairs))) for _ in range(2))
        both = rng.randint(max(0, source + target - pairs), min(source, target))
        expected = fisher(both, source, target, pairs)
        assert fisher_minus_log_p(both, source, target, pairs) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    for pairs in (10, 50_000, 10**7):  # a rule seen once of sides seen once
        assert fisher_minus_log_p(1, 1, 1, pairs) == pytest.approx(math.log(pairs), abs=1e-6)


@pytest.mark.parametrize("density", ["abc", "abcdefghijklmnopqrstuvwxy"])
def test_pruning_keeps_what_exceeds_the_threshold(tmp_path: Path, density: str) -> None:
    rng = random.Random(2)
    pairs = [random_pair(rng, 6, density) for _ in range(120)]
    extract(tmp_path, pairs)
    bitext = (tmp_path / "f", tmp_path / "e")
    expected = {}
    for source, target in read(tmp_path):
        f = [holds(pair.source, source) for pair in pairs]
        e = [holds(pair.target, target) for pair in pairs]
        both = sum(x and y for x, y in zip(f, e, strict=True))
        expected[source, target] = fisher(both, sum(f), sum(e), len(pairs))
    plain = scored(tmp_path)
    once = math.log(len(pairs))
    for setting, threshold in [(4.0, 4.0), ("a+e", once + 1e-6), ("a-e", once - 1e-6)]:
        settings = ScoreSettings(significance=setting)
        statistics = score_rules(tmp_path / "counts", tmp_path / "s.hrt", settings=settings, bitext=bitext)
        kept = {rule for rule, value in expected.items() if value > threshold}
        assert 0 < len(kept) < len(plain)
        assert (statistics.read, statistics.kept) == (len(plain), len(kept))
        assert rows(tmp_path / "s.hrt") == {rule: plain[rule] for rule in kept}
    with pytest.raises(ValueError, match="needs the bitext"):
        score_rules(tmp_path / "counts", tmp_path / "t.hrt", settings=ScoreSettings(significance=1.0))


def test_another_bitext_than_that_of_the_rules_is_refused(tmp_path: Path) -> None:
    rng = random.Random(5)
    extract(tmp_path, [random_pair(rng, 6, "abc") for _ in range(20)])
    (tmp_path / "g").write_text("a\n\n" * 15)
    settings = ScoreSettings(significance=1.0)
    with pytest.raises(FormatError, match=r"g: 15 sentence pairs .* where the rules come from 20"):
        score_rules(tmp_path / "counts", tmp_path / "s.hrt", settings=settings, bitext=(tmp_path / "g",) * 2)


@pytest.mark.parametrize("threshold", [math.nan, math.inf, "nan"])
def test_a_threshold_is_a_number(threshold: object) -> None:
    with pytest.raises(ValueError, match="significance"):
        ScoreSettings(significance=threshold)
