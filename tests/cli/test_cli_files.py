"""Files of commands: outputs appear whole and are no inputs; standard streams, compression, marks."""

from __future__ import annotations

import gzip
import lzma
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.commands import BIN, call, one_error_line, program, usage_error

LINES = "le chat noir\nil ne marche pas\n"


@pytest.fixture
def decode(french: Path) -> list[object]:
    grammar, lm = french / "grammar.txt", french / "lm.arpa"
    return ["hiero-decode", "--grammar", grammar, "--lm", lm, "--weights", french / "weights.txt", "--quiet"]


def test_an_output_that_is_an_input_is_refused(decode: list[object], tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(LINES)
    (tmp_path / "link").symlink_to(text)
    for output in (text, tmp_path / "link", tmp_path / "." / "text"):
        for option in ("--output", "--derivations", "--forests"):
            done = call(*decode, "--input", text, option, output)
            assert "is read, and would be written over" in usage_error(done)
    assert text.read_text() == LINES
    lm = call("hiero", "lm", text, "-o", text)
    assert lm.returncode == 2 and text.read_text() == LINES
    sides = ("--source", text, "--target", text)
    for command in (
        ("hiero", "align", *sides, "-o", text),
        ("hiero", "corpus", *sides, "-o", tmp_path / "new", text),
        ("hiero", "align", *sides, "-o", tmp_path / "a", "--held-out", text, text, text),
        (
            "hiero",
            "align",
            *sides,
            "-o",
            tmp_path / "a",
            "--held-out",
            text,
            text,
            tmp_path / "b",
            *[text] * 3,
        ),
        ("hiero", "truecaser", text, "-o", text),
        ("hiero", "pack", text, "-o", text),
        ("hiero", "unpack", text, "-o", text),
        ("hiero", "score", text, "-o", text),
    ):
        done = call(*command)
        assert "would be written over" in usage_error(done), command
        assert text.read_text() == LINES


def test_a_link_is_followed_to_what_is_replaced(decode: list[object], french: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    commands = {
        "out": (*decode, "--output"),
        "t.hrt": ("hiero", "pack", french / "grammar.txt", "-o"),
        "a.gz": (*decode, "--output"),
    }
    for name, command in commands.items():
        file, link = tmp_path / "disk" / name, tmp_path / name
        file.write_text("old")
        link.symlink_to(file)
        assert call(*command, link, stdin=LINES).returncode == 0
        assert link.is_symlink() and file.read_bytes() != b"old"
    assert (tmp_path / "disk" / "out").read_text().count("\n") == 2
    (tmp_path / "new").symlink_to(tmp_path / "disk" / "new")  # to nothing yet
    assert call(*decode, "-o", tmp_path / "new", stdin=LINES).returncode == 0
    assert (tmp_path / "new").is_symlink() and (tmp_path / "disk" / "new").is_file()


def test_an_output_within_a_model_that_is_read_is_refused(french: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    parts = ("--grammar", french / "grammar.txt", "--lm", french / "lm.arpa")
    assert call("hiero", "assemble", *parts, "-o", model).returncode == 0
    table = (model / "rules0.hrt").read_bytes()
    done = call("hiero", "rules", model, "--source", "chat", "-o", model / "rules0.hrt")
    assert "would be written over" in usage_error(done)
    assert (model / "rules0.hrt").read_bytes() == table


def test_a_full_device_is_named(decode: list[object]) -> None:
    done = call(*decode, "-o", "/dev/full", stdin=LINES)
    assert one_error_line(done) == "hiero: /dev/full: No space left on device\n"


def test_two_outputs_of_one_name_are_refused(decode: list[object], tmp_path: Path) -> None:
    (tmp_path / "text").write_text(LINES)
    outputs = ("-o", tmp_path / "out", "--derivations", tmp_path / "out")
    done = call(*decode, "--input", tmp_path / "text", *outputs)
    assert "two outputs of one name" in usage_error(done)
    assert not (tmp_path / "out").exists()


def test_translations_appear_whole(decode: list[object], tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.write_text("old\n")
    command = [str(BIN / str(decode[0])), *map(str, decode[1:]), "--output", str(output)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(LINES.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not any(path.stat().st_size for path in tmp_path.glob(".out.hiero-*")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        assert output.read_text() == "old\n"
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert process.returncode == 130 and output.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert call(*decode, "--output", output, stdin=LINES).returncode == 0
    assert output.read_text().count("\n") == 2


def test_bad_lines_do_not_keep_the_others_back(decode: list[object], tmp_path: Path) -> None:
    done = call(*decode, "--output", tmp_path / "out", stdin=b"le chat noir\n\xff\nil ne marche pas\n")
    assert done.returncode == 1 and b"input:2: invalid UTF-8" in done.stderr
    assert (tmp_path / "out").read_text().count("\n") == 3


def test_standard_streams_by_name(decode: list[object], french: Path, tmp_path: Path) -> None:
    plain = call(*decode, stdin=LINES).stdout
    assert plain.count(b"\n") == 2
    assert program(*decode, "--input", "-", "--output", "-", stdin=LINES).stdout == plain
    assert program(*decode, "--output", "/dev/stdout", stdin=LINES).stdout == plain
    table = tmp_path / "t.hrt"
    text = (french / "grammar.txt").read_bytes()
    assert program("hiero", "pack", "-", "-o", table, "--quiet", stdin=text).returncode == 0
    unpacked = program("hiero", "unpack", table, "-o", "-")
    assert unpacked.returncode == 0 and unpacked.stdout == call("hiero", "unpack", table).stdout
    done = program("hiero", "eval", "--references", french / "weights.txt", "--hypothesis", "-", "--quiet",
                   stdin=(french / "weights.txt").read_bytes())  # fmt: skip
    assert done.stdout == b"100.0000\n"


def test_every_command_of_text_takes_an_output(decode: list[object], french: Path, tmp_path: Path) -> None:
    forests, table = tmp_path / "f.forests", tmp_path / "t.hrt"
    assert call(*decode, "--forests", forests, stdin=LINES).returncode == 0
    assert call("hiero", "pack", french / "grammar.txt", "-o", table).returncode == 0
    (tmp_path / "text").write_text(LINES)
    text = tmp_path / "text"
    for number, command in enumerate(
        (
            ("forest", "stats", forests),
            ("forest", "kbest", forests, "-k", "2"),
            ("forest", "oracle", forests, "--references", text),
            ("forest", "show", forests, "--sentence", "0"),
            ("rules", table, "--source", "chat"),
            ("rules", table, "--prefix", "le"),
            ("unpack", table),
            ("info", table),
            ("eval", "--references", text, "--hypothesis", text),
            ("tokenize", "fr:moses"),
            ("detokenize", "fr:moses"),
        )
    ):
        plain = call("hiero", *command, stdin=LINES)
        assert plain.returncode == 0 and plain.stdout, command
        for ending, opened in (("", open), (".gz", gzip.open), (".xz", lzma.open)):
            output = tmp_path / f"out{number}{ending}"
            written = call("hiero", *command, "-o", output, stdin=LINES)
            assert (written.returncode, written.stdout) == (0, b""), command
            with opened(output, "rb") as file:
                assert file.read() == plain.stdout, command
    for read in ("--references", "--hypothesis"):
        files = {"--references": french / "weights.txt", "--hypothesis": french / "weights.txt", read: text}
        named = [word for pair in files.items() for word in pair]
        done = call("hiero", "eval", *named, "-o", text)
        assert "would be written over" in usage_error(done)
    assert text.read_text() == LINES


def test_streams_where_there_can_be_none(decode: list[object], tmp_path: Path) -> None:
    done = call(*decode, "--forests", "-", stdin=LINES)
    assert "--forests cannot be standard output" in usage_error(done)
    done = call("hiero", "train", "--source", "-", "--target", "-", "-o", tmp_path / "m")
    assert "standard input can be read once" in usage_error(done)


def test_compressed_files_and_sets_by_their_names(decode: list[object], tmp_path: Path) -> None:
    plain = call(*decode, stdin=LINES).stdout
    (tmp_path / "in.gz").write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "in.xz").write_bytes(lzma.compress(LINES.encode()))
    for name in ("in.gz", "in.xz"):
        assert call(*decode, "--input", tmp_path / name).stdout == plain
        assert call(*decode, stdin=(tmp_path / name).read_bytes()).stdout == plain
    for name, read in (("out.gz", gzip.decompress), ("out.xz", lzma.decompress)):
        assert call(*decode, "--output", tmp_path / name, stdin=LINES).returncode == 0
        assert read((tmp_path / name).read_bytes()) == plain
    segments = "".join(f'<seg id="{n}">{line}</seg>' for n, line in enumerate(LINES.splitlines()))
    srcset = f'<srcset setid="s" srclang="fr"><doc docid="d">{segments}</doc></srcset>'
    for name, content in (("s.xml", srcset.encode()), ("s.sgm.gz", gzip.compress(srcset.encode()))):
        (tmp_path / name).write_bytes(content)
        done = call(*decode, "--input", tmp_path / name, "--target-language", "en")
        assert done.stdout.count(b"<seg") == 2 and b"tstset" in done.stdout


def test_a_damaged_compressed_input_names_the_line(decode: list[object], tmp_path: Path) -> None:
    content = gzip.compress(os.urandom(100_000).hex().encode() + b"\n" + LINES.encode())
    (tmp_path / "in.gz").write_bytes(content[: len(content) // 2])
    done = call(*decode, "--input", tmp_path / "in.gz", "--output", tmp_path / "out")
    assert one_error_line(done, 1).startswith(f"hiero: {tmp_path / 'in.gz'}:1: damaged or truncated")
    assert not (tmp_path / "out").exists()


def test_a_byte_order_mark_is_no_part_of_a_word(decode: list[object], french: Path, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    assert call(*decode, stdin=mark + LINES.encode()).stdout == call(*decode, stdin=LINES).stdout
    for name in ("grammar.txt", "weights.txt"):
        (tmp_path / name).write_bytes(mark + (french / name).read_bytes())
    marked = [
        tmp_path / part.name if part in (french / "grammar.txt", french / "weights.txt") else part
        for part in map(lambda part: part if isinstance(part, Path) else str(part), decode)
    ]
    assert call(*marked, stdin=LINES).stdout == call(*decode, stdin=LINES).stdout
    (tmp_path / "text").write_bytes(mark + b"the cat\n" * 20)
    (tmp_path / "plain").write_bytes(b"the cat\n" * 20)
    arpas = []
    for name in ("text", "plain"):
        assert call("hiero", "lm", tmp_path / name, "-o", tmp_path / f"{name}.arpa").returncode == 0
        arpas.append((tmp_path / f"{name}.arpa").read_bytes())
    assert arpas[0] == arpas[1]
    tokenised = call("hiero", "tokenize", "en:moses", stdin=mark + b"the cat\n")
    assert tokenised.stdout == b"the cat\n"
