"""Tests of `hiero train` with bad text, links and options: one line names the place, and there is no
output."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest

import hiero
from hiero.train import TrainInputs, train
from hiero.train.lm import check_lm
from support.commands import call, program
from support.files import write
from support.paths import FRENCH
from support.training_command import one_error_line, train_command

ZIPPED = gzip.compress(b"a b c\n" * 100)
BAD: list[tuple[str, Sequence[str] | bytes, Sequence[str] | bytes, str]] = [
    ("longer target", ["a"], ["b", "c"], "f: ends after 1 lines, where .*e has more"),
    ("longer source", ["a", "b"], ["b"], "e: ends after 1 lines, where .*f has more"),
    ("source not UTF-8", b"a\n\xff\n", ["b", "b"], "f:2: invalid UTF-8"),
    ("target not UTF-8", ["b", "b"], b"a\n\xc3\n", "e:2: invalid UTF-8"),
    ("<UNK>", ["a", "b"], ["a", "<UNK>"], "e:2: <UNK> may not occur in the text of a language model"),
    ("<s>", ["a", "b"], ["a", "x <s> y"], "e:2: <s> may not occur in the text of a language model"),
    ("empty", [], [], "f: no sentence pairs to train on"),
    ("blank", ["", " "], ["a", "b"], "f: no sentence pairs to train on: 0 of 2 .* \\(2 empty\\)"),
    ("cut gzip", ZIPPED[:-10], ["a"] * 100, "f: damaged or truncated compressed file"),
    ("gzip, wrong checksum", ZIPPED[:-8] + bytes(8), ["a"] * 100, "f: damaged or truncated"),
    ("gzip and more", ZIPPED + b"more", ["a"] * 100, "f: damaged or truncated"),
    ("damaged gzip", ZIPPED[:10] + b"\xff" + ZIPPED[11:], ["a"] * 100, "f: damaged or truncated"),
    ("damaged xz", lzma.compress(b"a\n" * 100)[:-30] + bytes(30), ["a"] * 100, "f: damaged or truncated"),
]


@pytest.mark.parametrize("name,source,target,message", BAD, ids=[bad[0] for bad in BAD])
def test_bad_text(
    name: str, source: Sequence[str] | bytes, target: Sequence[str] | bytes, message: str, tmp_path: Path
) -> None:
    for file, content in (("f", source), ("e", target)):
        data = content if isinstance(content, bytes) else "".join(s + "\n" for s in content).encode()
        (tmp_path / file).write_bytes(data)
    with pytest.raises(hiero.FormatError, match=message):
        train(TrainInputs(tmp_path / "f", tmp_path / "e"), tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert not list((tmp_path / "m.train").glob(".*"))
    files = ("--source", tmp_path / "f", "--target", tmp_path / "e")
    one_error_line(call("hiero", "train", *files, "-o", tmp_path / "m", "--quiet"))


@pytest.mark.parametrize(
    "name,content,message",
    [
        ("missing", None, "missing: No such file or directory"),
        ("mono", "a\n\u2028 <unk>\n", "mono:2: <unk> may not occur in the text of a language model"),
        ("mono", " \n\n", "mono: no text to estimate a language model from"),
        ("/dev/stdin", None, "/dev/stdin: not a regular file, and is to be read twice"),
    ],
)
def test_monolingual_text_is_checked_before_the_long_work(
    inputs: TrainInputs,
    name: str,
    content: str | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_text(content)
    files = ["--source", inputs.source, "--target", inputs.target, "--mono", name]
    run_it = program if name == "/dev/stdin" else call  # a pipe
    done = run_it("hiero", "train", *files, "-o", "m", "--quiet", stdin="a b c\n" * 9)
    assert one_error_line(done) == f"hiero: {message}"
    assert not (tmp_path / "m").exists() and not (tmp_path / "m.train" / "alignment").exists()


ARPA = (FRENCH / "lm.arpa").read_bytes()
# Errors that are reported at once, at the beginning of a file or anywhere in a binary, and errors of
# conversion.
AT_ONCE = [
    (
        b"a b c\n",
        "lm: not a language model: expected an ARPA file, which begins with \\data\\, or a KenLM binary",
    ),
    (b"\n# iARPA\n\x00\xff\x1b[2Jnothing", r"found '\x00�\x1b[2Jnothing'"),
    (b"", "found nothing"),
    (b"\n \n", "found nothing"),
    (ZIPPED, "found 'a b c'"),
    (ZIPPED[:12], "lm: damaged or truncated compressed file"),
    (b"mmap lm http://kheafield.com/code and no more", "lm: not a usable language model"),
]
CONVERTED = [
    (gzip.compress(ARPA)[:-30], "lm: "),
    (b"BZh and no more\n", "lm: "),
    (ARPA[: len(ARPA) // 2], "lm: not a usable language model"),
    (ARPA.replace(b"ngram 2", b"ngram 3"), "lm: not a usable language model"),
]


@pytest.mark.parametrize(
    "content,message", AT_ONCE + CONVERTED, ids=[str(n) for n in range(len(AT_ONCE + CONVERTED))]
)
def test_language_models_are_checked_before_the_long_work(
    inputs: TrainInputs,
    content: bytes,
    message: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "lm").write_bytes(content)
    for name in ("train", "run"):
        files = ["--source", inputs.source, "--target", inputs.target, "--lm", tmp_path / "lm"]
        done = call("hiero", name, *files, "-o", tmp_path / "m", "--quiet")
        assert message in one_error_line(done)
        assert not list(tmp_path.rglob("alignment"))
        if (content, message) in AT_ONCE:
            assert [path.name for path in tmp_path.iterdir()] == ["lm"]


def test_language_models_by_their_beginning(tmp_path: Path) -> None:
    """An ARPA file is checked by its beginning alone, as KenLM reads it; a binary is loaded."""
    binary = tmp_path / "binary"
    hiero.LanguageModel.write_binary(str(FRENCH / "lm.arpa"), str(binary))
    plain = b"\n#comment\n\\data\\\nand so on"
    for content in (plain, gzip.compress(plain), lzma.compress(plain), bz2.compress(plain), ARPA):
        (tmp_path / "lm").write_bytes(content)
        check_lm(tmp_path / "lm")
    check_lm(binary)
    (tmp_path / "lm").write_bytes(binary.read_bytes()[:-1000])
    with pytest.raises(hiero.FormatError, match="lm: not a usable language model"):
        check_lm(tmp_path / "lm")


@pytest.mark.parametrize(
    "links,message",
    [
        (["0-0", "0-1"], "links:2: link 0-1 points beyond a sentence pair of 1 and 1 words"),
        (["0-0", "1-0"], "links:2: link 1-0 points beyond"),
        (["0-0"], "links: ends after 1 lines of 2 sentence pairs"),
        (["0-0", "", ""], "links:3: more lines than the 2 sentence pairs"),
        (["0-0", "0_0"], "links:2: expected links such as 0-0 1-2, found 0_0"),
        (["0-0", "0--1"], "links:2: expected links"),
        (["0-0", "0-99999999999999999999"], "links:2: link .* points beyond"),
    ],
)
def test_bad_links(links: list[str], message: str, tmp_path: Path) -> None:
    misaligned = TrainInputs(
        write(tmp_path / "f", ["a", "b"]),
        write(tmp_path / "e", ["A", "B"]),
        alignment=write(tmp_path / "links", links),
    )
    with pytest.raises(hiero.FormatError, match=message):
        train(misaligned, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "options,code,message",
    [
        (["--memory", "1M"], 2, "a language model needs 32M of memory or more"),
        (["--memory", "99999999999G"], 2, "expected a size such as 64M or 4G"),
        (["--lm-quantize", "8"], 2, "only a trie can be quantised"),
        (["--lm-type", "array"], 2, "--lm-type"),
        (["--significance", "b"], 2, "--significance: "),
        (["--significance", "nan"], 2, "--significance: "),
        (["--phrase-lines", "0-3"], 2, "--phrase-lines: "),
        (["--phrase-lines", "1-99999999999999999999"], 2, "--phrase-lines: "),
        (["--hierarchical-lines", "9-3"], 2, "--hierarchical-lines: "),
    ],
)
def test_bad_options(
    inputs: TrainInputs,
    options: list[str],
    code: int,
    message: str,
    tmp_path: Path,
) -> None:
    done = call(*train_command(inputs, tmp_path / "m", *options))
    errors = done.stderr.decode()
    assert done.returncode == code and message in errors and "Traceback" not in errors
    assert not list(tmp_path.iterdir())
