"""Tests of packed table files: written in full, the same for any memory, read again, and refused if
damaged."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hiero
from hiero import Rule, RuleTable
from hiero.base import tables
from hiero.base.lines import open_source
from support.brute_force import random_rules
from support.packed_image import replace_bytes
from support.packed_rules import pack_text, unpack_lines

RULES = [
    "[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 B=1.25 ||| 0-1 2-1",
    "[X] ||| [X,1] de [NP,2] ||| [NP,2] 's [X,1] ||| A=1e-05",
    "[NP-SBJ/x] ||| a ||| ||| A=0",
]


def test_files_obey_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        pack_text(tmp_path, RULES[0])
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
    one = pack_text(tmp_path, "\n".join(lines))
    first = (tmp_path / "rules.hrt").read_bytes()
    for memory in (1 << 10, 1 << 14, 1 << 17):
        pack_text(tmp_path, "\n".join(lines) + "\r\n", memory=memory)
        assert (tmp_path / "rules.hrt").read_bytes() == first
    assert Counter(unpack_lines(one)) == Counter(lines)
    sources = [line.split(" ||| ")[1] for line in unpack_lines(one)]
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
    assert Counter(unpack_lines(table)) == Counter(map(str, lines))
    for (source, _, value), line in zip(entries, lines, strict=True):
        matches = table.lookup([hiero._core.escape(token) for token in source])
        assert line in matches
        assert line.features["A"] == value


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    pack_text(tmp_path, "\n".join(RULES))
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
    pack_text(tmp_path, RULES[0])
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
    written = unpack_lines(table)
    sample = random.Random(4).sample(original, 5000)
    written_lines = set(written)
    assert all(str(Rule(line)) in written_lines for line in sample)
    assert len(written) == len(original)


@pytest.mark.parametrize(
    "record",
    [
        b"\x03\x00\x00\x00\x01\x00\x07",  # a link to target position 7
        b"\x03\x00\x00\x00\x01\x00\x82",  # a number that does not end
        b"\x04\x00\x00\x00\x01\x00\x02",  # one link more than there are
    ],
)
def test_damaged_links_are_refused(tmp_path: Path, record: bytes) -> None:
    """Links are checked although the checksum matches."""
    pack_text(tmp_path, "[X] ||| a ||| b c d ||| A=1 ||| 0-0 0-1 0-2")
    image = (tmp_path / "rules.hrt").read_bytes()
    (tmp_path / "bad.hrt").write_bytes(replace_bytes(image, b"\x03\x00\x00\x00\x01\x00\x02", record))
    table = RuleTable.open(str(tmp_path / "bad.hrt"))
    with pytest.raises(hiero.FormatError, match="damaged rule table: record of rule 0"):
        table.check()
