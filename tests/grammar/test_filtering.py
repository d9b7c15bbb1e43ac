"""Tests of packing only the rules for one input text, and of packing packed tables again."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

import hiero
from hiero import Rule, RuleTable
from hiero.base import tables
from support.brute_force import side_matches
from support.packed_rules import pack_text, unpack_lines


@pytest.mark.parametrize("span_limit", [0, 4])
def test_filtering_for_an_input_is_exact(tmp_path: Path, span_limit: int) -> None:
    rng = random.Random(span_limit)
    for _ in range(30):
        rules = []
        for number in range(40):
            source = [rng.choice("abcd") for _ in range(rng.randint(1, 6))]
            gaps = [f"[X,{n + 1}]" for n in range(rng.randint(0, min(2, len(source) - 1)))]
            for gap, at in zip(gaps, sorted(rng.sample(range(len(source)), len(gaps))), strict=True):
                source[at] = gap
            rules.append(f"[X] ||| {' '.join(source)} ||| {' '.join([*gaps, 'x'])} ||| A={number}")
        sentences = [[rng.choice("abc") for _ in range(rng.randint(0, 7))] for _ in range(3)]
        (tmp_path / "input").write_text("".join(" ".join(words) + "\n" for words in sentences))
        table = pack_text(
            tmp_path, "\n".join(rules) + "\n", filter_for=tmp_path / "input", span_limit=span_limit
        )
        expected = [
            rule for rule in rules if any(side_matches(s, Rule(rule).source, span_limit) for s in sentences)
        ]
        assert sorted(unpack_lines(table)) == sorted(expected)


def test_the_span_limit_does_not_bind_goal_rules_in_filtering(tmp_path: Path) -> None:
    rules = ["[X] ||| b ||| B ||| A=1", *(f"[{label}] ||| a [X,1] e ||| E [X,1] ||| A=1" for label in "STX")]
    rules.append("[X] ||| b [X,1] ||| B [X,1] ||| A=1")
    (tmp_path / "input").write_text("a b b b e\n")
    models = []
    for options in ({}, {"filter_for": tmp_path / "input"}):
        table = pack_text(tmp_path, "\n".join(rules) + "\n", span_limit=3, **options)
        models.append(hiero.Model([table], [], {"A": 1.0}))
    assert sorted(unpack_lines(table)) == sorted(rule for rule in rules if rule not in rules[2:4])
    translations = [hiero.Decoder(model).translate("a b b b e") for model in models]
    assert translations[0].tokens == translations[1].tokens == ["E", "B", "B", "B"]
    table = pack_text(
        tmp_path, "\n".join(rules) + "\n", span_limit=3, filter_for=tmp_path / "input", goal="T"
    )
    assert rules[2] in unpack_lines(table)
    assert rules[1] not in unpack_lines(table)


JOSHUA_GLUE = [
    "[GOAL] ||| <s> ||| <s> ||| G=0",
    "[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| G=-1",
    "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| G=0",
]


def test_glue_with_sentence_marks_is_kept(tmp_path: Path) -> None:
    rules = ["[X] ||| a ||| A ||| W=1", "[X] ||| b ||| B ||| W=1"]
    (tmp_path / "input").write_text("a\n\nb\n")  # a goal stands for <s> alone, and no other word
    glue = pack_text(tmp_path, "\n".join(JOSHUA_GLUE), span_limit=1, filter_for=tmp_path / "input")
    assert sorted(unpack_lines(glue)) == sorted(JOSHUA_GLUE)
    model = hiero.Model([RuleTable.from_rules([Rule(rule) for rule in rules]), glue], [], {})
    assert [hiero.Decoder(model).translate(line).text for line in "ab"] == ["A", "B"]
    # A packed table is read in another order than text.
    tables.pack(tmp_path / "rules.hrt", tmp_path / "again.hrt", filter_for=tmp_path / "input")
    assert unpack_lines(RuleTable.open(str(tmp_path / "again.hrt"))) == unpack_lines(glue)


def test_marks_match_the_edges_of_lines_alone(tmp_path: Path) -> None:
    goal = "[G] ||| {0} ||| {1} ||| A=1"
    matching = [
        goal.format("<s>", "<s>"),
        goal.format("<s> a", "<s>"),
        goal.format("<s> a [X,1] e </s>", "<s> [X,1] </s>"),
        goal.format("[G,1] d e </s>", "[G,1] </s>"),
        goal.format("[G,1] a [X,2] e", "[G,1] [X,2]"),
        goal.format("<s> [X,1] </s>", "<s> [X,1] </s>"),
        "[X] ||| b [X,1] d ||| [X,1] ||| A=1",
        # All rules that begin sentences, also those that do not match.
        goal.format("<s> b", "<s>"),
        goal.format("<s> [X,1] a", "<s> [X,1]"),
        goal.format("<s> a b c d </s>", "<s> </s>"),
    ]
    dropped = [
        goal.format("[G,1] d </s>", "[G,1] </s>"),
        goal.format("[G,1] a [X,2] b c d e [X,3]", "[G,1] [X,2] [X,3]"),
        goal.format("[G,1] e [X,2]", "[G,1] [X,2]"),
        goal.format("[G,1] [X,2] [X,3] [X,4] [X,5] [X,6] [X,7]", "[G,1] [X,2] [X,3] [X,4] [X,5] [X,6] [X,7]"),
        "[X] ||| a [X,1] e ||| [X,1] ||| A=1",
        "[X] ||| [X,1] a ||| [X,1] ||| A=1",
        "[X] ||| e [X,1] ||| [X,1] ||| A=1",
        "[X] ||| b <s> c ||| x ||| A=1",
    ]
    (tmp_path / "input").write_text("a b c d e\n")
    grammar = "\n".join([*matching, *dropped])
    table = pack_text(tmp_path, grammar, span_limit=3, filter_for=tmp_path / "input")
    assert sorted(unpack_lines(table)) == sorted(matching)


def test_words_like_marks_make_no_goal(tmp_path: Path) -> None:
    matching = [
        "[X] ||| <s> ||| x ||| A=1",
        "[X] ||| <s> e ||| x ||| A=1",
    ]
    dropped = ["[X] ||| a [X,1] e ||| [X,1] ||| A=1", "[X] ||| [X,1] a ||| [X,1] ||| A=1"]
    (tmp_path / "input").write_text("a <s> e\na b b e\n")
    table = pack_text(tmp_path, "\n".join(matching + dropped), span_limit=2, filter_for=tmp_path / "input")
    assert sorted(unpack_lines(table)) == sorted(matching)


def test_filtering_keeps_the_names_of_features(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("b\n")
    rules = "[X] ||| a ||| x ||| 1 Rare=1\n[X] ||| b ||| y ||| 1\n[X] ||| c ||| z ||| 1 Rarer=1\n"
    table = pack_text(tmp_path, rules, filter_for=tmp_path / "input")
    assert table.rule_count == 1
    assert sorted(table.feature_names) == ["Rare", "Rarer", "tm_pt_0"]
    weights = {"tm_pt_0": 1.0, "Rare": 2.0, "Rarer": 3.0}
    assert hiero.Decoder(hiero.Model([table], [], weights)).translate("b").text == "y"


def test_filtering_for_a_very_long_line(tmp_path: Path) -> None:
    # An algorithm that looks at the rest of the line from every "a" would take hours.
    (tmp_path / "input").write_text("a " * 2_000_000 + "b\n")
    rule = "[X] ||| {} [X,1] b ||| [X,1] ||| A=1\n"
    table = pack_text(
        tmp_path, rule.format("a a") + rule.format("b"), span_limit=3, filter_for=tmp_path / "input"
    )
    assert table.rule_count == 0


def test_filtering_a_packed_table(tmp_path: Path) -> None:
    rules = ["[X] ||| a [X,1] ||| x [X,1] ||| A=0.1", "[X] ||| b ||| y ||| A=-2.5 B=1"]
    pack_text(tmp_path, "\n".join(rules) + "\n", owner="me", span_limit=7)
    (tmp_path / "input").write_text("c b\n")
    tables.pack(tmp_path / "rules.hrt", tmp_path / "less.hrt", filter_for=tmp_path / "input")
    table = RuleTable.open(str(tmp_path / "less.hrt"))
    assert (unpack_lines(table), table.owner, table.span_limit) == (rules[1:], "me", 7)
    (tmp_path / "input").write_bytes(b"a b\n\xff\n")
    with pytest.raises(hiero.FormatError, match="input:2: invalid UTF-8"):
        tables.pack(tmp_path / "rules.hrt", tmp_path / "none.hrt", filter_for=tmp_path / "input")
    (tmp_path / "input").write_text("c\n")
    tables.pack(tmp_path / "rules.hrt", tmp_path / "empty.hrt", filter_for=tmp_path / "input")
    assert RuleTable.open(str(tmp_path / "empty.hrt")).rule_count == 0
    damaged = bytearray((tmp_path / "rules.hrt").read_bytes())
    for at in range(0, len(damaged), 7):
        spoilt = damaged.copy()
        spoilt[at] ^= 0x55
        (tmp_path / "damaged.hrt").write_bytes(spoilt)
        with contextlib.suppress(hiero.Error):  # or what was damaged does not matter to the rules
            tables.pack(tmp_path / "damaged.hrt", tmp_path / "whole.hrt")
            assert RuleTable.open(str(tmp_path / "whole.hrt")).rule_count == 2


def test_packing_a_damaged_table_leaves_the_old_output(tmp_path: Path) -> None:
    pack_text(tmp_path, "".join(f"[X] ||| w{n} ||| v ||| A=1\n" for n in range(50_000)))
    data = bytearray((tmp_path / "rules.hrt").read_bytes())
    data[len(data) // 2] ^= 1  # the rules before this place are read
    (tmp_path / "damaged.hrt").write_bytes(data)
    (tmp_path / "output.hrt").write_bytes(b"old")
    with pytest.raises(hiero.FormatError, match=r"damaged\.hrt: damaged rule table"):
        tables.pack(tmp_path / "damaged.hrt", tmp_path / "output.hrt")
    assert (tmp_path / "output.hrt").read_bytes() == b"old"
