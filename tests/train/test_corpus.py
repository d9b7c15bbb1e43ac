"""Tests of preparing a corpus: which pairs are left out and why, for tokens and raw text."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiero import FormatError
from hiero.text import TextProcessing, TextSide
from hiero.train import CorpusReport, prepare_corpus, prepare_text


def test_pairs_are_judged(tmp_path: Path) -> None:
    sources = [
        "a b",
        "",
        "c",
        " ".join("d" * 9),
        " ".join("e" * 10),
        "f " * 101,
        "g " * 100,
        "h\u3000h\u2028i",
        "\t",
        " ",
        "",
    ]
    targets = ["x", "y", "", "z", "z", "f", " ".join("g" * 100), "h\u00a0h", "y", "", "\t"]
    (tmp_path / "f").write_text("".join(line + "\n" for line in sources))
    (tmp_path / "e").write_bytes("".join(line + "\r\n" for line in targets).encode())
    report = prepare_corpus([(tmp_path / "f", tmp_path / "e")], tmp_path / "F", tmp_path / "E")
    assert report == CorpusReport(pairs=9, kept=4, empty=3, too_long=1, lopsided=1, blank=2)
    assert str(report) == (
        "4 of 9 sentence pairs (3 empty, 1 too long, 1 lopsided); 2 lines are blank on both sides, as where"
        " pairs were set aside"
    )
    kept_numbers = [0, 3, 6, 7]
    for name, lines in (("F", sources), ("E", targets)):
        expected = "".join(
            (" ".join(line.split(" ")).strip() if i in kept_numbers else "") + "\n"
            for i, line in enumerate(lines)
        )
        assert (tmp_path / name).read_bytes().decode() == expected
    report = prepare_corpus(
        [(tmp_path / "f", tmp_path / "e")] * 2, tmp_path / "F", tmp_path / "E", max_length=10, max_ratio=10
    )
    assert report == CorpusReport(pairs=18, kept=8, empty=6, too_long=4, blank=4)


def test_progress_is_of_lines(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n\n" * 1250)
    told: list[int] = []
    report = prepare_corpus(
        [(tmp_path / "f", tmp_path / "f")], tmp_path / "F", tmp_path / "E", progress=told.append
    )
    assert told == [1000, 2000] and (report.pairs, report.blank) == (1250, 1250)


def test_text_is_processed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("犬 が いる\n")
    (tmp_path / "e").write_text("There's a DOG, isn't there?\n")
    text = TextProcessing(TextSide("none", "ja"), TextSide("moses", "en", lowercase=True))
    prepare_corpus([(tmp_path / "f", tmp_path / "e")], tmp_path / "F", tmp_path / "E", text=text)
    assert (tmp_path / "F").read_text() == "犬 が いる\n"
    assert (tmp_path / "E").read_text() == "there 's a dog , isn 't there ?\n"
    assert prepare_text([tmp_path / "e", tmp_path / "e"], tmp_path / "T", text.target) == 2
    assert (tmp_path / "T").read_text() == (tmp_path / "E").read_text() * 2


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(FileNotFoundError) as caught:
        prepare_text([tmp_path / "t"], tmp_path / "no" / "T", TextSide())
    assert caught.value.filename == str(tmp_path / "no" / "T")


def test_reserved_words_are_found(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\nb </s>\n")
    with pytest.raises(FormatError, match="t:2: </s> may not occur"):
        prepare_text([tmp_path / "t"], tmp_path / "T", TextSide())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t"]
