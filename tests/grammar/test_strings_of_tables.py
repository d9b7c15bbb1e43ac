"""Tests of packed tables with strings that are not UTF-8, and of binary files that are no tables or language
models."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import hiero
from hiero import FormatError, RuleTable
from hiero.base import tables
from support.commands import call, one_error_line
from support.packed_image import replace_bytes

RULES = """\
[Label] ||| source ||| target ||| Dense=1 Sparse=2
[Label] ||| other ||| one ||| Dense=1
"""
NAMES = {"owner": "an owner", "Label": "a label", "Dense": "a feature name", "Sparse": "a feature name"}
WORDS = ("source", "target")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("image")
    (folder / "rules.txt").write_text(RULES)
    tables.pack(folder / "rules.txt", folder / "rules.hrt", owner="owner")
    return (folder / "rules.hrt").read_bytes()


def write_damaged(image: bytes, path: Path, name: str) -> str:
    """Writes a table in which one byte of a name is invalid in UTF-8, and returns the path."""
    old = name.encode()
    path.write_bytes(replace_bytes(image, old, b"\xff" + old[1:]))
    return str(path)


def test_the_checksum_is_the_core_s(image: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rules.hrt"
    path.write_bytes(replace_bytes(image, b"Sparse", b"sparse"))
    table = RuleTable.open(str(path))
    table.check()
    assert "sparse" in table.feature_names


@pytest.mark.parametrize("name", NAMES)
def test_names_are_checked_when_a_table_is_opened(
    image: bytes, tmp_path: Path, french: Path, name: str
) -> None:
    path = write_damaged(image, tmp_path / "bad.hrt", name)
    message = f"{path}: damaged rule table: {NAMES[name]} that is not UTF-8"
    for opened in (
        lambda: RuleTable.open(path),
        lambda: hiero.Model.assemble([path]),
        lambda: tables.pack(path, tmp_path / "again.hrt"),
    ):
        with pytest.raises(FormatError) as raised:
            opened()
        assert str(raised.value) == message
    for command in (("check", path), ("info", path), ("rules", path, "--prefix", "no"), ("unpack", path)):
        assert one_error_line(call("hiero", *command), 1) == f"hiero: {message}\n"
    assert not (tmp_path / "again.hrt").exists()


@pytest.mark.parametrize("name", WORDS)
def test_words_are_checked_where_they_are_read(image: bytes, tmp_path: Path, french: Path, name: str) -> None:
    path = write_damaged(image, tmp_path / "bad.hrt", name)
    message = f"{path}: damaged rule table: a word that is not UTF-8"
    table = RuleTable.open(path)
    reads: list[Callable[[], object]] = [
        table.check,
        lambda: [table.rule(number) for number in range(2)],
        lambda: tables.unpack(table, len),
        lambda: tables.pack(path, tmp_path / "again.hrt"),
        lambda: hiero.Model.assemble([path], [french / "lm.arpa"]),
    ]
    if name == "target":
        reads.append(lambda: hiero.Decoder(hiero.Model.assemble([path], goal="Label")).translate("source"))
    for read in reads:
        with pytest.raises(FormatError) as raised:
            read()
        assert str(raised.value) == message
    for command in (("check", path), ("rules", path, "--prefix", "no"), ("unpack", path)):
        assert one_error_line(call("hiero", *command), 1) == f"hiero: {message}\n"


def test_owners_that_no_table_can_hold(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text(RULES)
    with pytest.raises(ValueError, match=r"owner '\\udcff': not UTF-8"):
        tables.pack(tmp_path / "rules.txt", tmp_path / "rules.hrt", owner="\udcff")
    assert not (tmp_path / "rules.hrt").exists()


BINARIES = {
    "random": random.Random(1).randbytes(3000),
    "image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "control": b"\x01\x02\x00\x1b[2J",
    "line": b"x" * 100_000,
    "counts": b"\\data\\\nngram 1=\xff\n",
}


@pytest.mark.parametrize("kind", BINARIES)
def test_a_binary_that_is_no_language_model(french: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "binary"
    path.write_bytes(BINARIES[kind])
    message = f"{path}: not a usable language model: expected an ARPA file, which is text, or a KenLM binary"
    for load in (
        lambda: hiero.LanguageModel.load(str(path)),
        lambda: hiero.Model.assemble([french / "grammar.txt"], [path]),
        lambda: hiero.LanguageModel.write_binary(str(path), str(tmp_path / "out")),
    ):
        with pytest.raises(FormatError) as raised:
            load()
        assert str(raised.value) == message
    assert one_error_line(call("hiero", "info", path), 1).startswith(f"hiero: {message}")
    decode = call("hiero-decode", "--grammar", french / "grammar.txt", "--lm", path, stdin=b"")
    assert one_error_line(decode, 1) == f"hiero: {message}\n"
