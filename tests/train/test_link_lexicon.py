"""Tests of how the core finds wrong sentence pairs: log odds of pairs, and the first of the same ones."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from hiero import FormatError
from hiero._core import DigestIndex, LinkLexicon
from hiero.base.text import format_links
from support.slow_lexicon import SlowLexicon

Pair = tuple[list[str], list[str], list[tuple[int, int]]]


def slow_log_odds(pair: Pair, others: Sequence[Pair]) -> float:
    """Returns the log odds by the formula of ``LinkLexicon``, from the counts of other pairs."""
    links = Counter((f[i], e[j]) for f, e, a in others for i, j in a)
    odds = []
    for side in (0, 1):  # of the words of one side, given the other
        words = Counter(word for other in others for word in other[side])
        total = 0.0
        for word in pair[side]:
            p = words[word] / words.total() if words[word] else 0.0
            given = p
            for other in pair[1 - side]:
                together = links[(word, other) if side == 0 else (other, word)]
                of_other = sum(n for link, n in links.items() if link[1 - side] == other)
                given += (together + p) / (of_other + 1)
            if p > 0:
                total += math.log(given / (len(pair[1 - side]) + 1) / p)
        odds.append(total)
    return sum(odds) / 2


def random_pairs(rng: random.Random) -> list[Pair]:
    pairs = []
    for _ in range(rng.randint(2, 8)):
        source, target = (rng.choices(side, k=rng.randint(1, 6)) for side in ("abcdefg", "uvwxyz"))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        pairs.append((source, target, sorted(rng.sample(cells, rng.randint(0, min(5, len(cells)))))))
    return pairs


def lines(pair: Pair) -> tuple[str, str, str]:
    return " ".join(pair[0]), " ".join(pair[1]), format_links(pair[2])


def lexicon_of(pairs: Iterable[Pair]) -> LinkLexicon:
    lexicon = LinkLexicon()
    for pair in pairs:
        lexicon.add(*lines(pair))
    return lexicon


def test_log_odds_are_those_of_all_other_pairs() -> None:
    signs = Counter[bool]()
    for seed in range(300):
        pairs = random_pairs(random.Random(seed))
        lexicon = lexicon_of(pairs)
        for n, pair in enumerate(pairs):
            expected = slow_log_odds(pair, pairs[:n] + pairs[n + 1 :])
            assert lexicon.log_odds(*lines(pair)) == pytest.approx(expected, abs=1e-9)
            signs[expected > 0] += 1
    assert min(signs.values()) > 100


def corpus_of_frequent_and_rare_words(rng: random.Random) -> list[Pair]:
    """Pairs of sentences in which some words come twice, some in no other pair, and some have no link."""
    ranks = range(1, 3000)
    weights = [1 / rank for rank in ranks]
    pairs = []
    for _ in range(400):
        source, target = (
            [f"{side}{n}" for n in rng.choices(ranks, weights, k=rng.randint(1, 30))] for side in "fé"
        )
        cells = [(rng.randrange(len(source)), rng.randrange(len(target))) for _ in range(rng.randint(0, 30))]
        pairs.append((source, target, sorted(set(cells))))
    return pairs


def test_the_slow_twin_says_the_same() -> None:
    for seed in range(3):
        pairs = corpus_of_frequent_and_rare_words(random.Random(seed))
        lexicon, twin = lexicon_of(pairs), SlowLexicon()
        for pair in pairs:
            twin.add(*pair)
        for pair in pairs:
            assert lexicon.log_odds(*lines(pair)) == pytest.approx(twin.log_odds(*pair), rel=1e-12, abs=1e-12)
        # The cases are not trivial.
        words = Counter(word for pair in pairs for word in set(pair[0]))
        assert list(words.values()).count(1) > 300
        assert sum(len(set(pair[0])) < len(pair[0]) for pair in pairs) > 100
        assert sum(not pair[2] for pair in pairs) > 5


THREE: Pair = (["a", "b", "c"], ["x", "y"], [(0, 0), (2, 1)])


def test_white_space_and_the_order_of_links_do_not_matter() -> None:
    lexicon = LinkLexicon()
    lexicon.add(" a  b\tc", "x y ", "2-1 0-0 2-1")
    lexicon.add("a c", "x y", "0-0 1-1")
    lexicon.add("d", "z z z", "")
    # A link that is written twice counts once: the other pair is as if it had been written once.
    expected = slow_log_odds((["a", "c"], ["x", "y"], []), [THREE, (["d"], ["z"] * 3, [])])
    assert lexicon.log_odds("a c", "x y", " 1-1 0-0 ") == pytest.approx(expected)
    odds = lexicon.log_odds("a b c", "x y", "0-0 2-1")
    assert odds == lexicon.log_odds("a b c", " x\fy", "2-1 0-0 2-1") > 0


def test_a_pair_without_words() -> None:
    lexicon = lexicon_of([([], [], []), (["a"], ["x"], [(0, 0)]), (["a"], [], [])])
    assert lexicon.log_odds("", "", "") == 0


@pytest.mark.parametrize("links", ["0:0", "0-", "-0", "0-0-0", "0-+1", "0-99999999999", "2-0", "0-2", "１-1"])
def test_nothing_is_counted_for_links_that_are_wrong(links: str) -> None:
    lexicon = lexicon_of([(["a", "b"], ["x", "y"], [(0, 0)]), (["a", "b"], ["x", "x"], [(0, 0), (1, 1)])])
    pair = "a b", "x y", "0-0"
    before = lexicon.log_odds(*pair)
    with pytest.raises(FormatError, match=f"(expected links such as 0-0 1-2, found|link) {re.escape(links)}"):
        lexicon.add("a b", "x y", f"0-0 {links}")
    assert lexicon.log_odds(*pair) == before
    with pytest.raises(FormatError):
        lexicon.log_odds("a b", "x y", links)


@pytest.mark.parametrize(
    "pair",
    [
        ("a c", "x", ""),  # a word that is in no pair
        ("a", "new", ""),  # one that is only in a pair that was not counted
        ("a a b", "x", ""),  # words that are there less often
        ("a b", "x y", "0-0 1-0 1-1"),  # and links
        ("a b", "x y", "0-1"),
    ],
)
def test_a_pair_that_was_not_added(pair: tuple[str, str, str]) -> None:
    lexicon = lexicon_of([(["a", "b"], ["x", "y"], [(0, 0), (1, 1)])])
    with pytest.raises(FormatError):
        lexicon.add("a", "new", "9-9")
    with pytest.raises(ValueError, match="was not added"):
        lexicon.log_odds(*pair)


def test_digests_tell_the_first_item() -> None:
    rng = random.Random(1)
    halves = [rng.randbytes(8) for _ in range(60)]
    digests = [rng.choice(halves) + rng.choice(halves) for _ in range(5000)]
    index = DigestIndex()
    first: dict[bytes, int] = {}
    for item, digest in enumerate(digests):
        assert index.add(digest) == first.setdefault(digest, item)
    assert 2000 < len(first) < 3000 and len(index) == 5000
    counts = Counter(digests)
    for item, digest in enumerate(digests):
        assert index.first(item) == first[digest]
        assert index.is_repeated(item) == (first[digest] == item and counts[digest] > 1)


def test_digests_that_are_wrong() -> None:
    index = DigestIndex()
    for size in (0, 15, 17):
        with pytest.raises(ValueError, match="expected 16 bytes"):
            index.add(bytes(size))
    assert index.add(bytes(16)) == 0 and len(index) == 1
    for item in (-1, 1):
        with pytest.raises(IndexError, match="no item"):
            index.first(item)
        with pytest.raises(IndexError, match="no item"):
            index.is_repeated(item)
