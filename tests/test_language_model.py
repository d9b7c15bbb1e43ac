"""What is said of files that are no language models."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from in_process import call
from test_cli import one_error_line

import hiero


def bad_files(french: Path) -> dict[str, bytes]:
    arpa = (french / "lm.arpa").read_bytes()
    return {
        "junk": b"junk\n",
        "unigrams": b"\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta\n\\end\\\n",
        "cut": arpa[: len(arpa) // 2],
        "number": arpa.replace(b"-", b"x-", 5),
        "count": arpa.replace(b"ngram 1=", b"ngram 1=9", 1),
        "binary": b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(200),
    }


def test_messages_name_the_file_and_nothing_of_the_build(french: Path, tmp_path: Path) -> None:
    for name, content in bad_files(french).items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(hiero.FormatError) as caught:
            hiero.LanguageModel.load(str(path))
        message = str(caught.value)
        assert message.startswith(f"{path}: not a usable language model: ") and "\n" not in message
        said = message.split(": not a usable language model: ")[1]
        assert len(said) > 10
        for part in (".cc", ".hh", "threw", "lm::", "util::", "because `", "::"):
            assert part not in said, message


def test_what_is_neither_table_nor_model(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(gzip.compress(b"junk"))
    message = one_error_line(call("hiero", "info", tmp_path / "junk"), 1)
    assert message.startswith(f"hiero: {tmp_path / 'junk'}: not a usable language model: ")
    assert message.endswith("; nor a packed rule table (hiero pack makes one from text)\n")
