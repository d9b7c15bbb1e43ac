"""Rule text and packed tables: reading, packing, looking up, writing back; bad input."""

from __future__ import annotations

import gzip
import itertools
import lzma
import os
import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from brute_force import random_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import call

import hiero
from hiero import Rule, RuleTable
from hiero.base import tables
from hiero.base.lines import open_source


def unpacked(table: RuleTable) -> list[str]:
    parts: list[bytes] = []
    tables.unpack(table, parts.append)
    return b"".join(parts).decode().split("\n")[:-1]


def packed(tmp_path: Path, text: str | bytes, **options: object) -> RuleTable:
    source = tmp_path / "rules.txt"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    tables.pack(source, tmp_path / "rules.hrt", **options)  # type: ignore[arg-type]
    return RuleTable.open(str(tmp_path / "rules.hrt"))


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
    ("[X] ||| a [X] ||| b ||| A=1", "source side only"),
    ("[X] ||| a [X] ||| b [X] ||| A=1", "bad nonterminal [X]"),
    ("[X] ||| a [1] ||| b [1] ||| A=1", "bad nonterminal [1]"),
    ("[X] ||| a [X,1,1] ||| b [1] ||| A=1", "bad nonterminal [X,1,1]"),
    ("[X] ||| a [X,1] ||| b [X,] ||| A=1", "bad nonterminal [X,]"),
    ("[X,1] ||| a ||| b ||| A=1", "bad left-hand label [X,1]"),
    ("a [X][X,1] [X] ||| b [X][X,1] [X] ||| 1 ||| 1-1", "bad nonterminal [X][X,1]"),
    ("[X] ||| [X,2] a [X] ||| [1] [2] ||| A=1", "nonterminal 2 twice"),
    ("[X] ||| a [X,9] ||| b [X,9] ||| A=1", "nonterminal index 9"),
    ("[X] ||| a [X,0] ||| b [X,0] ||| A=1", "nonterminal index 0"),
    ("[X] ||| " + "[X] " * 9 + "||| b ||| A=1", "more than 8 nonterminals"),
    ("[X] ||| a [X,1] ||| b ||| A=1", "source side only"),
    ("[X] ||| a ||| b [X,1] ||| A=1", "target side only"),
    ("[X] ||| a [X,1] ||| [Y,1] ||| A=1", "[X] on the source side and [Y]"),
    ("[X] ||| [X,1] [X,1] ||| [X,1] ||| A=1", "twice"),
    ("[X] ||| a ||| b ||| A=nan", "not finite"),
    ("[X] ||| a ||| b ||| A=inf", "not finite"),
    ("[X] ||| a ||| b ||| A=1e99", "not finite"),
    ("[X] ||| a ||| b ||| A=1e999", "not finite"),
    ("[X] ||| a ||| b ||| A=" + "9" * 400 + "e-5", "not finite"),
    ("[X] ||| a ||| b ||| A=1e-400abc", "expected a number"),
    ("[X] ||| a ||| b ||| A=1e-999,5", "expected a number"),
    ("[X] ||| a ||| b ||| A=x", "expected a number"),
    ("[X] ||| a ||| b ||| A=+-1", "expected a number"),
    ("[X] ||| a ||| b ||| A=1 A=2", "feature A twice"),
    ("[X] ||| a ||| b ||| A=1 ||| 0-1", "link 0-1 out of range"),
    ("[X] ||| a [X,1] ||| [X,1] b ||| A=1 ||| 0-0", "link 0-0 between a word and a nonterminal"),
    ("[X] ||| a ||| b ||| A=1 ||| 00", "bad alignment link"),
    ("[X][X] " * 9 + "[X] ||| a [X] ||| 1 ||| 0-0", "more than 8 nonterminals"),
    ("[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1", "expected a link for every nonterminal"),
    ("[X][X] a [X] ||| a [X] ||| 1 ||| 0-0", "differ in their nonterminals"),
    ("[X] ||| [X,1] ||| [X,1] ||| A=1", "unary rules form a cycle"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines_name_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(hiero.FormatError) as caught:
        packed(tmp_path, f"[X] ||| fine ||| fine ||| A=1\n\n{line}\n")
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
        packed(tmp_path, b"[X] ||| a ||| b ||| A=1\n[X] ||| \xe5\xbd ||| b ||| A=1\n")


def test_unary_cycles_name_the_rules(tmp_path: Path) -> None:
    text = (
        "[A] ||| [B,1] ||| [B,1] ||| f=1\n[B] ||| [C,1] ||| [C,1] ||| f=1\n[C] ||| [A,1] ||| [A,1] ||| f=1\n"
    )
    with pytest.raises(hiero.FormatError, match="cycle") as caught:
        packed(tmp_path, text + "[A] ||| a ||| a ||| f=1\n")
    for line in (1, 2, 3):
        assert f"rules.txt:{line}" in str(caught.value)
    parts = [RuleTable.from_rules([Rule(line)]) for line in text.splitlines()]
    with pytest.raises(hiero.FormatError, match="cycle"):
        hiero.Model(parts, [], {})


def test_long_unary_chains_and_what_hangs_on_a_cycle(tmp_path: Path) -> None:
    chain = [f"[L{i}] ||| [L{i + 1},1] ||| [L{i + 1},1] ||| f=1" for i in range(20000)]
    assert packed(tmp_path, "\n".join(chain)).rule_count == len(chain)
    above = "[S] ||| [A,1] ||| [A,1] ||| f=1\n"
    below = "[A] ||| [C,1] ||| [C,1] ||| f=1\n"
    cycle = "[A] ||| [B,1] ||| [B,1] ||| f=1\n[B] ||| [A,1] ||| [A,1] ||| f=1\n"
    with pytest.raises(hiero.FormatError, match="cycle") as caught:
        packed(tmp_path, above + below + cycle)
    assert {f"rules.txt:{n}" in str(caught.value) for n in (3, 4)} == {True}
    assert {f"rules.txt:{n}" in str(caught.value) for n in (1, 2)} == {False}


def test_unnamed_features_follow_the_owner() -> None:
    rule = Rule("[X] ||| a ||| b ||| A=1")
    model = hiero.Model([RuleTable.from_rules([rule])] * 2, [], {})
    assert model.core.owners == ["pt", "pt1", "glue"]
    with pytest.raises(hiero.FormatError, match="owner"):
        hiero.Model([RuleTable.from_rules([rule], owner="x")] * 2, [], {})
    # A table without a name leaves those that others have to them.
    tables = [RuleTable.from_rules([rule], owner=owner) for owner in ("", "pt", "", "pt2", "")]
    assert hiero.Model(tables, [], {}).core.owners == ["pt1", "pt", "pt3", "pt2", "pt4", "glue"]


def test_messages_name_the_text_of_a_table(tmp_path: Path) -> None:
    """Not the file that it is packed to, which is gone by then."""
    text = tmp_path / "rules.txt"
    text.write_text("[X] ||| [Y,1] ||| [Y,1]\n[Y] ||| a ||| b\n")
    other = tmp_path / "more.txt"
    other.write_text("[Y] ||| [X,1] ||| [X,1]\n")
    cycle = rf"\[Y\] \|\|\| \[X,1\] \({other}\)"
    with pytest.raises(hiero.FormatError, match=cycle) as raised:
        hiero.Model.assemble([text, other])
    assert str(text) in str(raised.value) and "hiero-" not in str(raised.value)
    # In another process too, which gets the table as a whole.
    table = pickle.loads(pickle.dumps(tables.load_table(text)))
    with pytest.raises(hiero.FormatError, match=rf"\({text}\)"):
        hiero.Model([table, tables.load_table(other)], [], {})


def test_unnamed_features_in_two_tables(tmp_path: Path) -> None:
    table = packed(tmp_path, "[X] ||| a ||| b ||| 0.5 0.25\n")
    names = hiero.Model([table, table], [], {}).feature_names
    assert {"tm_pt_0", "tm_pt_1", "tm_pt1_0", "tm_pt1_1"} <= set(names)
    assert table.lookup(["a"])[0].features == {"tm_pt_0": 0.5, "tm_pt_1": 0.25}


def test_a_value_without_a_name_and_its_name_are_one_feature(tmp_path: Path) -> None:
    table = packed(tmp_path, "[X] ||| a ||| b ||| 0.5\n[X] ||| b ||| c ||| tm_pt_0=2\n")
    assert table.feature_names == ["tm_pt_0"]
    assert table.lookup(["b"])[0].features == {"tm_pt_0": 2}
    with pytest.raises(hiero.FormatError, match=r"rules\.txt:1: feature tm_pt_0 twice"):
        packed(tmp_path, "[X] ||| a ||| b ||| tm_pt_0=1 0.5\n")


@pytest.mark.parametrize("token", ["", " ", "new york", "a\tb", "a\nb", "x ||| y"])
def test_tokens_with_white_space_are_refused(french: Path, token: str) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    with pytest.raises(hiero.FormatError, match=r"tokens: .* is empty, or has white space in it"):
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
        assert Counter(unpacked(table)) == Counter(map(str, rules))
        table.check()


def test_files_obey_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        packed(tmp_path, CANONICAL[0])
    finally:
        os.umask(old)
    assert (tmp_path / "rules.hrt").stat().st_mode & 0o777 == 0o640


def test_packing_can_be_stopped_while_the_table_is_written(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("[X] ||| a ||| b ||| A=1\n" * 40000)
    calls = []
    tables.pack(tmp_path / "g", tmp_path / "p.hrt", progress=calls.append)
    last = len(calls) - 1
    assert calls[last] == calls[last - 3] == 40000
    for stop in (0, last):
        left = iter(range(stop))

        def interrupt(count: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tables.pack(tmp_path / "g", tmp_path / "q.hrt", progress=interrupt)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g", "p.hrt"]


def test_memory_does_not_change_the_file(tmp_path: Path) -> None:
    rng = random.Random(2)
    lines = [str(rule) for _ in range(400) for rule in random_rules(rng, ["X", "Y"], "abcdefgh", "uvw")]
    one = packed(tmp_path, "\n".join(lines))
    first = (tmp_path / "rules.hrt").read_bytes()
    for memory in (1 << 10, 1 << 14, 1 << 17):
        packed(tmp_path, "\n".join(lines) + "\r\n", memory=memory)
        assert (tmp_path / "rules.hrt").read_bytes() == first
    assert Counter(unpacked(one)) == Counter(lines)
    sources = [line.split(" ||| ")[1] for line in unpacked(one)]
    assert len([s for s, t in itertools.pairwise(sources) if s != t]) + 1 == len(set(sources))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1),
                min_size=1,
                max_size=4,
            ),
            st.lists(st.sampled_from(["a", "|||", "[X]", "\\[X,1]", "é", "\\"]), max_size=3),
            st.floats(width=32, allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_words_and_values_survive(entries: list[tuple[list[str], list[str], float]]) -> None:
    lines = []
    for source, target, value in entries:
        sides = [" ".join(map(hiero._core.escape, side)) for side in (source, target)]
        lines.append(Rule(f"[X] ||| {sides[0]} ||| {sides[1]} ||| A={value!r}"))
    table = RuleTable.from_rules(lines)
    assert Counter(unpacked(table)) == Counter(map(str, lines))
    for (source, _, value), line in zip(entries, lines, strict=True):
        found = table.lookup([hiero._core.escape(token) for token in source])
        assert line in found
        assert line.features["A"] == value


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    packed(tmp_path, "\n".join(CANONICAL[:3]))
    data = (tmp_path / "rules.hrt").read_bytes()
    mutant = tmp_path / "mutant.hrt"
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << (position % 8)
        mutant.write_bytes(flipped)
        with pytest.raises(hiero.FormatError, match=r"mutant\.hrt"):
            RuleTable.open(str(mutant)).check()
    for length in (0, 1, 7, 8, 20, 100, 400, len(data) // 2, len(data) - 1):
        mutant.write_bytes(data[:length])
        with pytest.raises(hiero.FormatError):
            RuleTable.open(str(mutant)).check()
    mutant.write_bytes(data + b"\0")
    with pytest.raises(hiero.FormatError, match="bytes long"):
        RuleTable.open(str(mutant))


def test_other_versions_and_byte_orders(tmp_path: Path) -> None:
    packed(tmp_path, CANONICAL[0])
    data = bytearray((tmp_path / "rules.hrt").read_bytes())
    other = tmp_path / "other.hrt"
    other.write_bytes(data[:8] + b"\x63" + data[9:])
    with pytest.raises(hiero.FormatError, match=r"format version 99, .* pack the text grammar again"):
        RuleTable.open(str(other))
    other.write_bytes(data[:12] + data[12:16][::-1] + data[16:])
    with pytest.raises(hiero.FormatError, match="byte order"):
        RuleTable.open(str(other))
    other.write_bytes(b"no table at all")
    with pytest.raises(hiero.FormatError, match="not a packed rule table"):
        RuleTable.open(str(other))
    with pytest.raises(FileNotFoundError):
        RuleTable.open(str(tmp_path / "missing.hrt"))


def test_real_grammar_round_trip(shared: Path, tmp_path: Path) -> None:
    grammar = shared / "ja-en" / "system" / "grammar.gz"
    tables.pack(grammar, tmp_path / "g.hrt")
    table = RuleTable.open(str(tmp_path / "g.hrt"))
    with open_source(grammar) as file:
        original = file.read().decode().splitlines()
    assert table.rule_count == len(original)
    written = unpacked(table)
    sample = random.Random(4).sample(original, 5000)
    known = set(written)
    assert all(str(Rule(line)) in known for line in sample)
    assert len(written) == len(original)


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

    def found(*options: str) -> set[int]:
        done = call("hiero", "rules", grammar, *options)
        assert (done.returncode, bool(done.stderr)) == ((0, False) if done.stdout else (1, True)), done
        features = [line.split(" ||| ")[3] for line in done.stdout.decode().splitlines()]
        assert len(set(features)) == len(features)
        return {int(feature.removeprefix("F=")) for feature in features}

    assert found("--prefix", "ne") == {1, 2, 3} and found("--prefix", "nez") == {4}
    assert found("--prefix", "ne [X]") == found("--prefix", "ne [X,1]") == {1, 2}
    assert found("--prefix", "ne [X] [Y]") == {2} and found("--prefix", "[X]") == set()
    assert found("--target", "not") == {3, 5} and found("--target", "not [X]") == {1}
    assert found("--target", "[Y,2] not [X,1]") == {2} and found("--target", "no") == set()
    assert found("--prefix", "ne", "--target", "not") == {3}
    assert found("--source", "ne [X] pas") == {1}
    for options in ((), ("--source", "ne", "--prefix", "ne"), ("--source", "ne", "--target", "not")):
        assert call("hiero", "rules", grammar, *options).returncode == 2


def test_rules_of_a_model(french: Path, tmp_path: Path) -> None:
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"]).save(tmp_path / "model")
    listed = call("hiero", "rules", tmp_path / "model", "--source", "chat").stdout
    assert listed and listed == call("hiero", "rules", french / "grammar.txt", "--source", "chat").stdout
