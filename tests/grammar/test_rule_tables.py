"""Tests of rule text and rule tables: reading, look-up, writing, and bad input."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

import hiero
from hiero import Rule, RuleTable
from hiero.base import tables
from support.brute_force import random_rules
from support.commands import call
from support.packed_rules import pack_text, unpack_lines

CANONICAL = [
    "[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 B=1.25 ||| 0-1 2-1",
    "[X] ||| [X,1] de [NP,2] ||| [NP,2] 's [X,1] ||| A=1e-05",
    "[NP-SBJ/x] ||| a ||| ||| A=0",
    "[X] ||| \\[X] \\\\[Y,1] \\||| ||| \\[] (( # ||| A=1 ||| 0-0 1-1 2-2",
    "[X] ||| [X,1] ||| [X,1] a ||| A=1",
    "[X] ||| [A,1] [B,2] [C,3] [D,4] [E,5] [F,6] [G,7] [H,8] "
    "||| [H,8] [A,1] [B,2] [C,3] [D,4] [E,5] [F,6] [G,7] ||| A=1",
]


@pytest.mark.parametrize("line", CANONICAL)
def test_canonical_lines_are_written_back_the_same(line: str) -> None:
    assert str(Rule(line)) == line


def test_other_spellings() -> None:
    assert Rule("[X] ||| [X,2] a [X,1] ||| [2] b [1] ||| A=1") == Rule(
        "[X] ||| [X,1] a [X,2] ||| [X,1] b [X,2] ||| A=1"
    )
    assert Rule("[X] ||| [A] a [B] [C] ||| [2] b [3] [A,1]") == Rule(
        "[X] ||| [A,1] a [B,2] [C,3] ||| [B,2] b [C,3] [A,1] |||"
    )
    assert Rule("[X] ||| a ||| b c").target == ["b", "c"]
    assert Rule("[X] ||| a |||  ||| A=+1").target == []
    named = Rule("[X] ||| a ||| b ||| 0.5 x=y=2 -3").features
    assert named == {"tm_sentence_0": 0.5, "x=y": 2, "tm_sentence_1": -3}


@pytest.mark.parametrize("value", ["1e-400", "-1e-99999999999999999999", "0." + "0" * 400 + "1", "12.5e-340"])
def test_tiny_values_are_zero(value: str) -> None:
    assert Rule(f"[X] ||| a ||| b ||| A={value}").features == {"A": 0}


def test_moses_format() -> None:
    rule = Rule("[X][X] de [X][NP] [X] ||| [X][NP] 's [X][X] [VP] ||| 0.5 0 ||| 0-2 2-0 1-1 ||| 3 2 ||| s 2")
    assert (rule.lhs, rule.source, rule.target) == (
        "VP",
        ["[X,1]", "de", "[NP,2]"],
        ["[NP,2]", "'s", "[X,1]"],
    )
    assert rule.links == [(1, 1)]
    assert rule.features.keys() == {"tm_sentence_0", "tm_sentence_1", "s"}
    bare = Rule("a [X][X] [X] ||| b c [X][X] [X] ||| 1")
    assert (bare.source, bare.target, bare.links) == (["a", "[X,1]"], ["b", "c", "[X,1]"], [])
    assert Rule("a [X][X] [X] ||| [X][X] b [X] ||| 1 ||| 0-1").target == ["[X,1]", "b"]
    assert list(rule.features.values()) == pytest.approx([-0.6931472, -100, 2])


def test_moses_glue_grammar() -> None:
    bos = Rule("<s> [X] ||| <s> [S] ||| 1 ||| ||| 0")
    assert str(bos) == "[S] ||| <s> ||| <s> ||| tm_sentence_0=0"
    glue = Rule("[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0")
    assert (glue.lhs, glue.source, glue.target) == ("S", ["[S,1]", "[X,2]"], ["[S,1]", "[X,2]"])


BAD = [
    ("a [foo] [X] ||| b [X] ||| 1 ||| 0-0", "bad nonterminal [foo]"),
    ("a [X][] [X] ||| b [X][] [X] ||| 1 ||| 1-1", "bad nonterminal [X][]"),
    ("a [X][NP] [X] ||| b [X][VP] [X] ||| 1 ||| 1-1", "labels NP and VP"),
    ("[X] ||| a", 'expected 4 fields separated by "|||", found 2'),
    ("a ||| b ||| c ||| d", "expected a left-hand label"),
    ("[X] ||| ||| b ||| A=1", "empty source side"),
    ("[X] ||| a [X] ||| b ||| A=1", "occurs on the source side only"),
    ("[X] ||| a [X] ||| b [X] ||| A=1", "bad nonterminal [X]"),
    ("[X] ||| a [1] ||| b [1] ||| A=1", "bad nonterminal [1]"),
    ("[X] ||| a [X,1,1] ||| b [1] ||| A=1", "bad nonterminal [X,1,1]"),
    ("[X] ||| a [X,1] ||| b [X,] ||| A=1", "bad nonterminal [X,]"),
    ("[X,1] ||| a ||| b ||| A=1", "bad left-hand label [X,1]"),
    ("a [X][X,1] [X] ||| b [X][X,1] [X] ||| 1 ||| 1-1", "bad nonterminal [X][X,1]"),
    ("[X] ||| [X,2] a [X] ||| [1] [2] ||| A=1", "nonterminal 2 occurs twice"),
    ("[X] ||| a [X,9] ||| b [X,9] ||| A=1", "nonterminal index 9"),
    ("[X] ||| a [X,0] ||| b [X,0] ||| A=1", "nonterminal index 0"),
    ("[X] ||| " + "[X] " * 9 + "||| b ||| A=1", "more than 8 nonterminals"),
    ("[X] ||| a [X,1] ||| b ||| A=1", "occurs on the source side only"),
    ("[X] ||| a ||| b [X,1] ||| A=1", "occurs on the target side only"),
    ("[X] ||| a [X,1] ||| [Y,1] ||| A=1", "[X] on the source side and [Y]"),
    ("[X] ||| [X,1] [X,1] ||| [X,1] ||| A=1", "occurs twice"),
    ("[X] ||| a ||| b ||| A=nan", "not finite"),
    ("[X] ||| a ||| b ||| A=inf", "not finite"),
    ("[X] ||| a ||| b ||| A=1e99", "not finite"),
    ("[X] ||| a ||| b ||| A=1e999", "not finite"),
    ("[X] ||| a ||| b ||| A=" + "9" * 400 + "e-5", "not finite"),
    ("[X] ||| a ||| b ||| A=1e-400abc", "expected a number"),
    ("[X] ||| a ||| b ||| A=1e-999,5", "expected a number"),
    ("[X] ||| a ||| b ||| A=x", "expected a number"),
    ("[X] ||| a ||| b ||| A=+-1", "expected a number"),
    ("[X] ||| a ||| b ||| A=1 A=2", "feature A occurs twice"),
    ("[X] ||| a ||| b ||| A=1 ||| 0-1", "link 0-1 is out of range"),
    ("[X] ||| a [X,1] ||| [X,1] b ||| A=1 ||| 0-0", "link 0-0 is between a word and a nonterminal"),
    ("[X] ||| a ||| b ||| A=1 ||| 00", "bad alignment link"),
    ("[X][X] " * 9 + "[X] ||| a [X] ||| 1 ||| 0-0", "more than 8 nonterminals"),
    ("[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1", "expected a link for every nonterminal"),
    ("[X][X] a [X] ||| a [X] ||| 1 ||| 0-0", "different numbers of nonterminals"),
    ("[X] ||| [X,1] ||| [X,1] ||| A=1", "unary rules form a cycle"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines_name_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(hiero.FormatError) as caught:
        pack_text(tmp_path, f"[X] ||| fine ||| fine ||| A=1\n\n{line}\n")
    assert "rules.txt:3: " in str(caught.value)
    assert message in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["rules.txt"]


@pytest.mark.parametrize("opener", [open, gzip.open, lzma.open])
def test_grammars_from_pipes(tmp_path: Path, opener: Callable[..., IO[bytes]]) -> None:
    with opener(tmp_path / "g", "wb") as file:
        file.write(b"".join(b"[X] ||| w%d ||| b ||| A=1\n" % n for n in range(5000)))
    os.mkfifo(tmp_path / "pipe")
    for load in (
        lambda: tables.pack(tmp_path / "pipe", tmp_path / "p.hrt"),
        lambda: tables.load_table(tmp_path / "pipe").save(str(tmp_path / "p.hrt")),
    ):
        data = (tmp_path / "g").read_bytes()
        feeder = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
        feeder.start()
        load()
        feeder.join()
        assert RuleTable.open(str(tmp_path / "p.hrt")).rule_count == 5000


def test_invalid_utf8(tmp_path: Path) -> None:
    with pytest.raises(hiero.FormatError, match=r"rules\.txt:2: invalid UTF-8"):
        pack_text(tmp_path, b"[X] ||| a ||| b ||| A=1\n[X] ||| \xe5\xbd ||| b ||| A=1\n")


def test_unary_cycles_name_the_rules(tmp_path: Path) -> None:
    text = (
        "[A] ||| [B,1] ||| [B,1] ||| f=1\n[B] ||| [C,1] ||| [C,1] ||| f=1\n[C] ||| [A,1] ||| [A,1] ||| f=1\n"
    )
    with pytest.raises(hiero.FormatError, match="cycle") as caught:
        pack_text(tmp_path, text + "[A] ||| a ||| a ||| f=1\n")
    for line in (1, 2, 3):
        assert f"rules.txt:{line}" in str(caught.value)
    parts = [RuleTable.from_rules([Rule(line)]) for line in text.splitlines()]
    with pytest.raises(hiero.FormatError, match="cycle"):
        hiero.Model(parts, [], {})


def test_long_unary_chains_and_what_hangs_on_a_cycle(tmp_path: Path) -> None:
    chain = [f"[L{i}] ||| [L{i + 1},1] ||| [L{i + 1},1] ||| f=1" for i in range(20000)]
    assert pack_text(tmp_path, "\n".join(chain)).rule_count == len(chain)
    above = "[S] ||| [A,1] ||| [A,1] ||| f=1\n"
    below = "[A] ||| [C,1] ||| [C,1] ||| f=1\n"
    cycle = "[A] ||| [B,1] ||| [B,1] ||| f=1\n[B] ||| [A,1] ||| [A,1] ||| f=1\n"
    with pytest.raises(hiero.FormatError, match="cycle") as caught:
        pack_text(tmp_path, above + below + cycle)
    assert {f"rules.txt:{n}" in str(caught.value) for n in (3, 4)} == {True}
    assert {f"rules.txt:{n}" in str(caught.value) for n in (1, 2)} == {False}


def test_unnamed_features_follow_the_owner() -> None:
    rule = Rule("[X] ||| a ||| b ||| A=1")
    model = hiero.Model([RuleTable.from_rules([rule])] * 2, [], {})
    assert model.core.owners == ["pt", "pt1", "glue"]
    with pytest.raises(hiero.FormatError, match="owner"):
        hiero.Model([RuleTable.from_rules([rule], owner="x")] * 2, [], {})
    # A table without a name does not take a name that another table has.
    tables = [RuleTable.from_rules([rule], owner=owner) for owner in ("", "pt", "", "pt2", "")]
    assert hiero.Model(tables, [], {}).core.owners == ["pt1", "pt", "pt3", "pt2", "pt4", "glue"]


def test_messages_name_the_text_of_a_table(tmp_path: Path) -> None:
    """A message does not name the temporary packed file, which is removed by then."""
    text = tmp_path / "rules.txt"
    text.write_text("[X] ||| [Y,1] ||| [Y,1]\n[Y] ||| a ||| b\n")
    other = tmp_path / "more.txt"
    other.write_text("[Y] ||| [X,1] ||| [X,1]\n")
    cycle = rf"\[Y\] \|\|\| \[X,1\] \({other}\)"
    with pytest.raises(hiero.FormatError, match=cycle) as raised:
        hiero.Model.assemble([text, other])
    assert str(text) in str(raised.value) and "hiero-" not in str(raised.value)
    # The same in another process, to which the whole table is sent.
    table = pickle.loads(pickle.dumps(tables.load_table(text)))
    with pytest.raises(hiero.FormatError, match=rf"\({text}\)"):
        hiero.Model([table, tables.load_table(other)], [], {})


def test_unnamed_features_in_two_tables(tmp_path: Path) -> None:
    table = pack_text(tmp_path, "[X] ||| a ||| b ||| 0.5 0.25\n")
    names = hiero.Model([table, table], [], {}).feature_names
    assert {"tm_pt_0", "tm_pt_1", "tm_pt1_0", "tm_pt1_1"} <= set(names)
    assert table.lookup(["a"])[0].features == {"tm_pt_0": 0.5, "tm_pt_1": 0.25}


def test_a_value_without_a_name_and_its_name_are_one_feature(tmp_path: Path) -> None:
    table = pack_text(tmp_path, "[X] ||| a ||| b ||| 0.5\n[X] ||| b ||| c ||| tm_pt_0=2\n")
    assert table.feature_names == ["tm_pt_0"]
    assert table.lookup(["b"])[0].features == {"tm_pt_0": 2}
    with pytest.raises(hiero.FormatError, match=r"rules\.txt:1: feature tm_pt_0 occurs twice"):
        pack_text(tmp_path, "[X] ||| a ||| b ||| tm_pt_0=1 0.5\n")


@pytest.mark.parametrize("token", ["", " ", "new york", "a\tb", "a\nb", "x ||| y"])
def test_tokens_with_white_space_are_refused(french: Path, token: str) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    with pytest.raises(hiero.FormatError, match=r"tokens: .* is empty or contains white space"):
        hiero.Decoder(model).translate(["le", token, "dort"])


def test_lookup_equals_a_dictionary() -> None:
    rng = random.Random(1)
    for _ in range(100):
        rules = random_rules(rng, ["X", "Y"], "abc", "uvw")
        table = RuleTable.from_rules(rules)
        by_source: dict[tuple[str, ...], list[str]] = {}
        for rule in rules:
            by_source.setdefault(tuple(rule.source), []).append(str(rule))
        for source, expected in by_source.items():
            assert Counter(map(str, table.lookup(source))) == Counter(expected)
        assert table.lookup(["a", "b", "c", "a", "b"]) == []
        assert table.lookup(["never"]) == table.lookup(["[Never]"]) == []
        assert Counter(unpack_lines(table)) == Counter(map(str, rules))
        table.check()


def test_rules_by_beginning_and_target(tmp_path: Path) -> None:
    lines = [
        "[X] ||| ne [X,1] pas ||| not [X,1] ||| F=1 ||| 0-0",
        "[X] ||| ne [X,1] [Y,2] ||| [Y,2] not [X,1] ||| F=2 ||| 0-1",
        "[X] ||| ne ||| not ||| F=3 ||| 0-0",
        "[Y] ||| nez ||| nose ||| F=4 ||| 0-0",
        "[Y] ||| pas ||| not ||| F=5 ||| 0-0",
    ]
    grammar = tmp_path / "grammar"
    grammar.write_text("".join(f"{line}\n" for line in lines))

    def find_rules(*options: str) -> set[int]:
        done = call("hiero", "rules", grammar, *options)
        assert (done.returncode, bool(done.stderr)) == ((0, False) if done.stdout else (1, True)), done
        features = [line.split(" ||| ")[3] for line in done.stdout.decode().splitlines()]
        assert len(set(features)) == len(features)
        return {int(feature.removeprefix("F=")) for feature in features}

    assert find_rules("--prefix", "ne") == {1, 2, 3} and find_rules("--prefix", "nez") == {4}
    assert find_rules("--prefix", "ne [X]") == find_rules("--prefix", "ne [X,1]") == {1, 2}
    assert find_rules("--prefix", "ne [X] [Y]") == {2} and find_rules("--prefix", "[X]") == set()
    assert find_rules("--target", "not") == {3, 5} and find_rules("--target", "not [X]") == {1}
    assert find_rules("--target", "[Y,2] not [X,1]") == {2} and find_rules("--target", "no") == set()
    assert find_rules("--prefix", "ne", "--target", "not") == {3}
    assert find_rules("--source", "ne [X] pas") == {1}
    for options in ((), ("--source", "ne", "--prefix", "ne"), ("--source", "ne", "--target", "not")):
        assert call("hiero", "rules", grammar, *options).returncode == 2


def test_rules_of_a_model(french: Path, tmp_path: Path) -> None:
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"]).save(tmp_path / "model")
    listed = call("hiero", "rules", tmp_path / "model", "--source", "chat").stdout
    assert listed and listed == call("hiero", "rules", french / "grammar.txt", "--source", "chat").stdout
