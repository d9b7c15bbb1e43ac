"""The format of input is the one that is asked for, else that of the file's name, in all commands alike."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import hiero
from hiero import FormatError
from hiero.cli.io.lines import LINE_FORMATS, Format, Lines, format_of, line_format
from hiero.cli.io.sets import read_set
from support.paths import FRENCH

SEGMENTS = '<doc docid="d"><seg id="1">la maison</seg><seg id="2">il dort</seg></doc>'
SOURCE = f'<srcset setid="s" srclang="fr">{SEGMENTS}</srcset>'
REFERENCES = f'<refset setid="s" srclang="fr" trglang="en" refid="r">{SEGMENTS}</refset>'
JSON = '{"id": "one", "text": "la maison"}\n{"id": "two", "tokens": ["il", "dort"]}\n'


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


def test_every_format_has_a_reader() -> None:
    assert set(get_args(Format)) == {"nist", *LINE_FORMATS}
    assert line_format("nist") is LINE_FORMATS["text"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a.xml", "nist"),
        ("a.sgm.gz", "nist"),
        ("a.jsonl", "jsonl"),
        ("a.jsonl.xz", "jsonl"),
    ],
)
def test_names_tell_formats(name: str, kind: Format) -> None:
    assert format_of(Path(name), None) == kind
    assert format_of(Path(name), "text") == "text"


def test_a_set_is_read_in_the_format_that_is_asked_for(model: hiero.Model, tmp_path: Path) -> None:
    (tmp_path / "set.txt").write_text(SOURCE)
    (tmp_path / "refs.xml").write_text(REFERENCES)
    sentences, references = read_set(tmp_path / "set.txt", [tmp_path / "refs.xml"], True, model, "nist")
    assert [sentence.tokens for sentence in sentences] == [("la", "maison"), ("il", "dort")]
    assert references == [["la maison"], ["il dort"]]
    (tmp_path / "records.xml").write_text(JSON)
    (tmp_path / "refs.txt").write_text("the house\nhe sleeps\n")
    for in_tokens in (True, False):
        sentences, _ = read_set(tmp_path / "records.xml", [tmp_path / "refs.txt"], in_tokens, model, "jsonl")
        assert [(s.id, s.text) for s in sentences] == [
            ("one", None if in_tokens else "la maison"),
            ("two", None),
        ]
    with pytest.raises(
        FormatError, match=r"set.txt: source and references must both be text, or both NIST's"
    ):
        read_set(tmp_path / "set.txt", [tmp_path / "refs.txt"], True, model, "nist")


def test_ids_of_lines_that_cannot_be_read() -> None:
    lines = Lines([b"a\n", b"\xff\n"], "in", LINE_FORMATS["text"], False)
    assert [lines.id_of(number, sentence) for number, sentence in lines] == [0, 1]
    broken = [b'{"id": 7, "text": 3}\n', b"{\n", b'{"text": "x"}\n']
    lines = Lines(broken, "in", LINE_FORMATS["jsonl"], False)
    assert [lines.id_of(number, sentence) for number, sentence in lines] == [7, None, 2]
    assert sorted(lines.invalid) == [0, 1]
