"""Tests of extraction and scoring against slow and simple versions, and against direct counts."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from hiero import FormatError, RuleTable
from hiero.features.distortion import DistortionStatistics
from hiero.train import ExtractSettings, extract_rules, score_rules
from support import brute_force_extraction as twin
from support.brute_force_extraction import Limits, Pair
from support.extraction import extract, random_pair, read_counts, score, write_bitext

LIMITS = [
    Limits(),
    Limits(max_phrase=4),
    Limits(max_symbols=3, min_gap=2),
    Limits(max_nonterminals=1),
    Limits(max_nonterminals=0),
    Limits(max_phrase=5, unaligned_edges=True),
    Limits(max_phrase=6, max_symbols=4, unaligned_edges=True),
]


@pytest.mark.parametrize("seed", range(60))
def test_extraction_equals_the_definition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    limits = LIMITS[seed % len(LIMITS)]
    pairs = [random_pair(rng, 5 if limits.unaligned_edges else 8, "abcdef") for _ in range(6)]
    statistics = extract(tmp_path, pairs, **vars(limits))
    expected = twin.extract(pairs, limits)
    actual = read_counts(tmp_path)
    assert actual.keys() == expected.keys()
    for rule, (links, count, occurrences) in actual.items():
        assert occurrences == expected[rule].occurrences
        assert links == expected[rule].links()
        assert count == pytest.approx(float(expected[rule].count), rel=1e-9)
    assert statistics.rules == len(expected)
    assert statistics.occurrences == sum(rule.occurrences for rule in expected.values())
    phrases = sum(len(twin.initial_phrases(pair, limits)) for pair in pairs)
    assert statistics.phrases == phrases
    # Every initial phrase counts exactly 1. Floats hold sums of units of 2^-36 exactly.
    assert sum(Fraction(count) for _, count, _ in actual.values()) == phrases
    monotone, reordered = twin.distortion(pairs, limits)
    assert statistics.monotone == [monotone[size] for size in range(1, 11)]
    assert statistics.reordered == [reordered[size] for size in range(1, 11)]


def test_the_order_of_pairs_and_the_memory_change_nothing(tmp_path: Path) -> None:
    rng = random.Random(1)
    pairs = [random_pair(rng, 9, "abcdefgh") for _ in range(300)]
    extract(tmp_path, pairs)
    one, whole = read_counts(tmp_path), (tmp_path / "counts").read_bytes()
    extract(tmp_path, pairs, memory=1 << 14)  # many runs on disk, merged in several rounds
    assert (tmp_path / "counts").read_bytes() == whole
    rng.shuffle(pairs)
    extract(tmp_path, pairs)
    assert read_counts(tmp_path) == one


def test_line_ranges_say_where_rules_come_from(tmp_path: Path) -> None:
    pairs = [Pair(("a", "b"), ("A", "B"), frozenset({(0, 0), (1, 1)}))] * 3 + [
        Pair(("c", "d"), ("C", "D"), frozenset({(0, 0), (1, 1)}))
    ]
    extract(tmp_path, pairs, phrase_lines="2-3", hierarchical_lines="4")
    actual = {
        " ".join(source): (count, occurrences)
        for (source, _), (_, count, occurrences) in read_counts(tmp_path).items()
    }
    assert actual == {
        "a": (2.0, 2),
        "b": (2.0, 2),
        "a b": (2.0, 2),
        "c [X,1]": (0.5, 1),
        "[X,1] d": (0.5, 1),
    }


@pytest.mark.parametrize(
    "ranges", ["0", "0-3", "3-2", "1-99999999999999999999", "1-", "x", ((5, 1),), ((-1, 1),)]
)
def test_ranges_that_name_no_lines_are_refused(ranges: object) -> None:
    with pytest.raises(ValueError, match="phrase_lines"):
        ExtractSettings(phrase_lines=ranges)


def test_relative_frequencies_sum_to_one(tmp_path: Path) -> None:
    rng = random.Random(2)
    extract(tmp_path, [random_pair(rng, 8, "abc") for _ in range(100)])
    by_source: dict[tuple[str, ...], float] = defaultdict(float)
    by_target: dict[tuple[str, ...], float] = defaultdict(float)
    table = score(tmp_path)
    counts = read_counts(tmp_path)
    assert table.keys() == counts.keys()
    for (source, target), features in table.items():
        by_source[source] += math.exp(features["PhraseEF"])
        by_target[target] += math.exp(features["PhraseFE"])
        _, count, occurrences = counts[source, target]
        assert features["RuleCount"] == pytest.approx(math.log(count), abs=1e-5)
        assert features["Singleton"] == (occurrences == 1)
    assert all(total == pytest.approx(1, abs=1e-5) for total in [*by_source.values(), *by_target.values()])


def test_lexical_weights_worked_by_hand(tmp_path: Path) -> None:
    # Koehn et al. (2003), section 3.1. Links: a-A twice, a-B once; b-B twice; c unaligned once; D unaligned.
    pairs = [
        Pair(("a", "b"), ("A", "B"), frozenset({(0, 0), (0, 1), (1, 1)})),
        Pair(("a", "c", "b"), ("A", "D", "B"), frozenset({(0, 0), (2, 2)})),
    ]
    extract(tmp_path, pairs)
    table = score(tmp_path)
    # w(A|a) = 2/3, w(B|a) = 1/3, w(B|b) = 1, w(D|NULL) = 1;
    # w(a|A) = 1, w(a|B) = 1/3, w(b|B) = 2/3, w(c|NULL) = 1
    both = table[("a", "b"), ("A", "B")]
    assert both["LexEF"] == pytest.approx(math.log(2 / 3 * (1 / 3 + 1) / 2), abs=1e-6)
    assert both["LexFE"] == pytest.approx(math.log((1 + 1 / 3) / 2 * 2 / 3), abs=1e-6)
    whole = table[("a", "c", "b"), ("A", "D", "B")]
    assert whole["LexEF"] == pytest.approx(math.log(2 / 3 * 1 * 1), abs=1e-6)
    assert whole["LexFE"] == pytest.approx(math.log(1 * 1 * 2 / 3), abs=1e-6)
    gap = table[("a", "c", "[X,1]"), ("A", "D", "[X,1]")]
    assert gap["LexEF"] == pytest.approx(math.log(2 / 3), abs=1e-6)


def test_pruning_and_discounts(tmp_path: Path) -> None:
    rng = random.Random(3)
    extract(tmp_path, [random_pair(rng, 6, "abc") for _ in range(200)])
    counts = read_counts(tmp_path)
    plain = score(tmp_path)

    frequent = score(tmp_path, min_count=3)
    assert frequent == {rule: plain[rule] for rule, (_, _, n) in counts.items() if n >= 3}

    limited = score(tmp_path, ttable_limit=2)
    by_source: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for (source, _), features in plain.items():
        by_source[source].append(features["PhraseEF"])
    for source, values in by_source.items():
        left = [features["PhraseEF"] for (s, _), features in limited.items() if s == source]
        assert sorted(left, reverse=True) == sorted(values, reverse=True)[:2]

    seen = [sum(n == k for _, _, n in counts.values()) for k in range(20)]  # rules that occurred k times
    for rule, features in score(tmp_path, discount="absolute").items():
        n = counts[rule][2]
        factor = (n - seen[1] / (seen[1] + 2 * seen[2])) / n
        for name in ("PhraseEF", "PhraseFE"):
            assert features[name] == pytest.approx(plain[rule][name] + math.log(factor), abs=1e-5)
    for rule, features in score(tmp_path, discount="good_turing").items():
        n = counts[rule][2]
        smoothed = (n + 1) * seen[n + 1] / seen[n] if n <= 10 else n
        factor = smoothed / n if 0 < smoothed < n else 1
        assert features["PhraseEF"] == pytest.approx(plain[rule]["PhraseEF"] + math.log(factor), abs=1e-5)


def test_ties_at_the_limit_of_targets_go_by_the_order_of_counts(tmp_path: Path) -> None:
    rng = random.Random(7)
    extract(tmp_path, [random_pair(rng, 5, "abcdef") for _ in range(400)], max_nonterminals=0)
    by_source: dict[tuple[str, ...], list[tuple[float, tuple[str, ...]]]] = defaultdict(list)
    for (source, target), (_, count, _) in read_counts(tmp_path).items():
        by_source[source].append((count, target))
    ties = 0
    for limit in (1, 3):
        expected = set()
        for source, targets in by_source.items():
            best = sorted(targets, key=lambda one: one[0], reverse=True)  # which leaves ties as they are
            expected |= {(source, target) for _, target in best[:limit]}
            ties += len(best) > limit and best[limit - 1][0] == best[limit][0]
        assert score(tmp_path, ttable_limit=limit).keys() == expected
    assert ties > 20


def test_discounts_without_a_rule_seen_twice(tmp_path: Path) -> None:
    extract(tmp_path, [Pair(("a", "b"), ("A", "B"), frozenset({(0, 0), (1, 1)}))])
    plain = score(tmp_path)
    for discount in ("absolute", "good_turing"):
        assert score(tmp_path, discount=discount) == plain


def test_many_unaligned_words_take_little_time(tmp_path: Path) -> None:
    # An algorithm that tries every pair of ends among the unaligned words would take hours.
    words = ("B",) * 2_000_000
    statistics = extract(
        tmp_path, [Pair(("a",), words, frozenset({(0, 1_000_000)}))], max_phrase=4, unaligned_edges=True
    )
    assert (statistics.phrases, statistics.rules) == (4 + 3 + 2 + 1, 4)


def test_strange_tokens_survive(tmp_path: Path) -> None:
    words = ("|||", "[X,1]", "[X]", "\\[X]", "(((", "<s>", "a=1", "#")
    pair = Pair(words, words, frozenset((i, i) for i in range(len(words))))
    extract(tmp_path, [pair])
    score_rules(tmp_path / "counts", tmp_path / "rules.hrt")
    table = RuleTable.open(str(tmp_path / "rules.hrt"))
    for token, escaped in zip(words, ("\\|||", "\\[X,1]", "\\[X]", "\\\\[X]", *words[4:]), strict=True):
        (rule,) = table.lookup([escaped])
        assert rule.target == [escaped], token
    assert [rule.target for rule in table.lookup(["\\|||", "[X]", "\\[X]"])] == [["\\|||", "[X,1]", "\\[X]"]]


BAD = [
    ({"a": "0-0\n1-0\n"}, r"a:2: link 1-0 points beyond a sentence pair of 1 and 1 words"),
    ({"a": "0-0\n0:0\n"}, r"a:2: expected links such as 0-0 1-2, found 0:0"),
    ({"a": "0-0\n0-0x\n"}, r"a:2: expected links"),
    ({"a": "0-0\n-1-0\n"}, r"a:2: expected links"),
    ({"a": "0-0\n0-99999999999999999999\n"}, r"a:2: expected links"),
    ({"e": "X\n"}, r"e: ends after 1 lines, where .*f has more"),
    ({"e": "X\nY\nZ\n"}, r"f: ends after 2 lines, where .*e has more"),
    ({"a": "0-0\n"}, r"a: ends after 1 lines"),
    ({"a": "0-0\n0-0\n0-0\n"}, r"f: ends after 2 lines, where .*a has more"),
    ({"f": "", "e": "", "a": ""}, r"f: no sentence pairs"),
    ({"f": "\n\n"}, r"a:1: link 0-0 points beyond"),
]


@pytest.mark.parametrize(("files", "message"), BAD)
def test_bad_input(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, text in ({"f": "x\ny\n", "e": "X\nY\n", "a": "0-0\n0-0\n"} | files).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        extract_rules(tmp_path / "f", tmp_path / "e", tmp_path / "a", tmp_path / "counts")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "e", "f"]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_invalid_utf8_names_the_line(bad: int, tmp_path: Path) -> None:
    pair = Pair(("a",), ("A",), frozenset({(0, 0)}))
    paths = write_bitext(tmp_path, [pair, pair])
    line = paths[bad].read_bytes().splitlines()[0]
    paths[bad].write_bytes(line + b"\n" + line + b"\xff\n")
    with pytest.raises(FormatError, match=f"{'fea'[bad]}:2: invalid UTF-8"):
        extract_rules(*paths, tmp_path / "counts")


def test_damaged_counts_are_found_out(tmp_path: Path) -> None:
    rng = random.Random(4)
    extract(tmp_path, [random_pair(rng, 5, "abc") for _ in range(5)])
    good = (tmp_path / "counts").read_bytes()
    for position in range(0, len(good), 7):
        bad = bytearray(good)
        bad[position] ^= 1 << rng.randrange(8)
        (tmp_path / "counts").write_bytes(bytes(bad))
        with pytest.raises(FormatError):
            score_rules(tmp_path / "counts", tmp_path / "rules.hrt")
    for size in (0, 5, 100, len(good) - 1):
        (tmp_path / "counts").write_bytes(good[:size])
        with pytest.raises(FormatError):
            score_rules(tmp_path / "counts", tmp_path / "rules.hrt")
    assert not (tmp_path / "rules.hrt").exists()


def mix(lane: int, value: int) -> int:
    lane = (lane ^ value) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    return lane ^ lane >> 29


def checksum(data: bytes) -> int:
    """Computes the checksum of cpp/hiero/base/checksum.h."""
    lanes = [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89 ^ len(data)]
    for at in range(0, len(data), 8):
        lanes[at // 8 % 4] = mix(lanes[at // 8 % 4], int.from_bytes(data[at : at + 8], "little"))
    out = lanes[0]
    for lane in lanes[1:]:
        out = mix(out, lane)
    return out ^ out >> 32


def with_checksums(counts: bytes) -> bytes:
    """Returns a file of counts, whose parts are smaller than a block, with matching checksums."""
    parts, index_at, head_at = (int.from_bytes(counts[at : at + 8], "little") for at in (24, 32, 40))
    index = b""
    for at in range(index_at, index_at + 24 * parts, 24):
        begin, end = (int.from_bytes(counts[place : place + 8], "little") for place in (at, at + 8))
        sum_of_part = mix(0, checksum(counts[begin:end])) if begin < end else 0
        index += counts[at : at + 16] + sum_of_part.to_bytes(8, "little")
    total = mix(mix(mix(0, checksum(index)), checksum(counts[head_at:])), checksum(counts[:48]))
    return counts[:48] + total.to_bytes(8, "little") + counts[56:index_at] + index + counts[head_at:]


def test_counts_of_words_that_there_are_not(tmp_path: Path) -> None:
    extract(tmp_path, [Pair(("a",), ("A",), frozenset({(0, 0)}))])
    good = (tmp_path / "counts").read_bytes()
    assert with_checksums(good) == good
    rules_at = 56
    for at in (rules_at, rules_at + 2):  # the source and the target word of the only rule
        (tmp_path / "counts").write_bytes(with_checksums(good[:at] + b"\x7f" + good[at + 1 :]))
        with pytest.raises(FormatError, match="counts: damaged: extract again"):
            score_rules(tmp_path / "counts", tmp_path / "rules.hrt")
        with pytest.raises(FormatError, match="counts: damaged: extract again"):
            read_counts(tmp_path)


def test_distortion_statistics(tmp_path: Path) -> None:
    statistics = DistortionStatistics([4, 0, 7, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    assert statistics.log_probability(True, 1) == pytest.approx(math.log(2 / 7))
    assert statistics.log_probability(False, 3) == pytest.approx(math.log(8 / 9))
    # For a size that was never seen, the largest size that was seen counts.
    assert statistics.log_probability(True, 2) == statistics.log_probability(True, 3)
    assert statistics.log_probability(True, 40) == pytest.approx(math.log(1 / 9))
    statistics.save(tmp_path / "d.json")
    assert DistortionStatistics.load(tmp_path / "d.json") == statistics
    for text in ("", "{}", '{"monotone": [1], "reordered": [1]}', "[]"):
        (tmp_path / "d.json").write_text(text)
        with pytest.raises(FormatError):
            DistortionStatistics.load(tmp_path / "d.json")
