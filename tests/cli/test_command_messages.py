"""Messages of commands where nothing is found, nobody reads, nothing fits, or something is misspelt."""

from __future__ import annotations

import errno
import importlib.util
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.base.text import one_line
from support.commands import BIN, call, one_error_line, program, usage_error, usage_error_after_output
from support.paths import FRENCH


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    french = FRENCH
    folder = tmp_path_factory.mktemp("messages") / "m"
    parts = [french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt"
    hiero.Model.assemble(*parts).save(folder)
    return folder


def test_a_rule_that_there_is_not(model: Path) -> None:
    for options in (("--source", "zut"), ("--prefix", "zut"), ("--target", "zut", "--prefix", "le")):
        done = call("hiero", "rules", model, *options)
        assert one_error_line(done) == f"hiero: {model}: no such rule\n" and done.stdout == b""
    found = call("hiero", "rules", model, "--source", "chat")
    assert (found.returncode, found.stderr) == (0, b"") and found.stdout.startswith(b"[X] ||| chat ||| ")


@pytest.mark.parametrize("command", [["unpack", "rules0.hrt"], ["info", "."], ["--help"], ["--version"]])
def test_output_that_nobody_reads(model: Path, command: list[str]) -> None:
    """A command dies of SIGPIPE, which shells report as 141, and prints nothing."""
    for _ in range(2):
        pipe = subprocess.PIPE
        with subprocess.Popen([BIN / "hiero", *command], cwd=model, stdout=pipe, stderr=pipe) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == -signal.SIGPIPE


def test_output_that_is_full(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    for command in (
        f"unpack {model}/rules0.hrt",
        f"info {model}",
        f"decode {model} --quiet",
        f"check {model}",
    ):
        line = f"echo le chat | {BIN}/hiero {command} > /dev/full"
        done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60)
        assert one_error_line(done) == "hiero: standard output: No space left on device\n"


def test_exceptions_in_one_line() -> None:
    assert one_line(OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"
    assert one_line(OSError(errno.ENOENT, "Not there", "a.txt")) == "a.txt: Not there"
    assert one_line(OSError("as it\nis")) == "as it is"
    assert one_line(ValueError()) == "ValueError" and one_line(ValueError("a\n  b")) == "a b"


def test_help_and_version() -> None:
    for command in ("tune", "forest show", "forest", "decode"):
        assert call("hiero", "help", *command.split()).stdout == call("hiero", *command.split(), "-h").stdout
    assert call("hiero", "help").stdout == call("hiero", "--help").stdout != b""
    assert "no command 'tun': is it tune, run?" in usage_error(call("hiero", "help", "tun"))
    expected = f"hiero {hiero.__version__}\n".encode()
    for version in (("hiero", "-V"), ("hiero", "--version"), ("hiero-decode", "-V")):
        assert call(*version).stdout == expected


def test_an_option_in_place_of_a_value(french: Path, tmp_path: Path) -> None:
    sides = ("--source", french / "input.fr", "--target", french / "english.txt")
    said = usage_error(call("hiero", "corpus", *sides, "-o", tmp_path / "a", "--lowercase"))
    assert "-o: expected SOURCE TARGET, and found the option --lowercase in its place" in said
    said = usage_error(call("hiero", "corpus", "-o", tmp_path / "a", "--max-ratio=3", *sides))
    assert "found the option --max-ratio in its place" in said
    said = usage_error(call("hiero", "corpus", "--source", "--target", "b", "-o", "a", "b"))
    assert "--source: expected FILE, and found the option --target in its place" in said
    assert not list(tmp_path.iterdir())
    # What only looks like one is a value, as is all behind an equals sign.
    done = call("hiero", "corpus", *sides, "--tokenize=en:none", "-x", "-o", tmp_path / "a", tmp_path / "b")
    assert b"-x" in done.stderr and b"in its place" not in done.stderr


def test_settings_that_a_method_does_not_have(model: Path) -> None:
    common = ("tune", model, "--source", "a", "--references", "b", "-o", "c")
    for options, said in (
        (
            ("--method", "mira", "--search-aware", "guided"),
            "mira takes no --search-aware, which is an option of mert, pro",
        ),
        (("--method", "simplex", "-k", "5"), "simplex takes no -k, which is an option of mert, pro"),
    ):
        assert said in usage_error(call("hiero", *common, *options))


def test_a_picture_without_matplotlib(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def find_spec(name: str, *more: Any) -> Any:
        return None if name == "matplotlib" else found(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    for command in (("analyse", model, "--source", "a"), ("forest", "oracle", "a")):
        said = usage_error(call("hiero", *command, "--references", "b", "--plot", "c.png"))
        assert "--plot needs the package matplotlib: pip install matplotlib" in said


def test_a_model_and_its_text_are_named_in_one_way(model: Path, french: Path) -> None:
    """The model is an argument and the source is --source, as for other commands; older names still work."""
    text = french / "input.fr"
    plain = call("hiero-decode", model, "--source", text)
    assert plain.returncode == 0 and plain.stdout.count(b"\n") == text.read_text().count("\n")
    for arguments in (
        ("--model", model, "--input", text),
        ("-i", text, model),
        ("--set-weight", "LM0=0.5", "--input", text, "--", model),
    ):
        for command in (("hiero-decode",), ("hiero", "decode")):
            done = call(*command, *arguments)
            assert (done.returncode, done.stdout) == (0, plain.stdout), arguments
    said = usage_error(call("hiero-decode", "--model", model, text))
    expected = f"two models, {text} and --model {model}: give text by --source"
    assert expected.replace(" ", "") in said.replace(" ", "")
    said = usage_error(call("hiero-decode", "--references", "a", model))
    assert "give either MODEL, or --grammar and --lm" in said and "it is one of them" in said


def test_weights_of_a_file_are_merged(model: Path, french: Path, tmp_path: Path) -> None:
    """Weights of a file are merged over the model's, as those of --set-weight are."""
    (tmp_path / "some.txt").write_text("LM0 0.25\n")
    (tmp_path / "all.txt").write_text((model / "weights.txt").read_text().replace("LM0 0.5", "LM0 0.25"))
    assert "LM0 0.25" in (tmp_path / "all.txt").read_text()
    lists = [
        call(
            "hiero-decode", model, *options, "--nbest", 2, "--output-format", "nbest", stdin="le livre\n"
        ).stdout
        for options in (
            ("--weights", tmp_path / "some.txt"),
            ("--weights", tmp_path / "all.txt"),
            ("--set-weight", "LM0=0.25"),
            (),
        )
    ]
    assert lists[0] == lists[1] == lists[2] != lists[3]
    sets = ("--source", french / "input.fr", "--references", french / "input.fr", "--tokens", "-k", 3)
    done = call("hiero", "analyse", model, *sets, "--weights", tmp_path / "some.txt", tmp_path / "all.txt")
    rows = [line.split()[1:] for line in done.stdout.decode().splitlines()[1:]]
    assert len(rows) == 2 and rows[0] == rows[1], done


def test_one_base_for_numbers_of_sentences(model: Path, french: Path, tmp_path: Path) -> None:
    """The first sentence is 0 in lists, rules, forests, charts and scores; lines of files are from 1."""
    lines = [line for line in (french / "input.fr").read_text().splitlines() if line.strip()][:3]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in lines))
    english = hiero.Decoder(hiero.Model.load(model)).translate_batch(lines)
    (tmp_path / "english").write_text("".join(f"{result.text}\n" for result in english))
    made = tmp_path / "f.forests"
    options = ("--nbest", 1, "--output-format", "nbest", "--forests", made)
    done = call("hiero-decode", model, "--source", tmp_path / "source", *options)
    assert [line.split(" ||| ")[0] for line in done.stdout.decode().splitlines()] == ["0", "1", "2"]
    shown = call("hiero", "forest", "show", made, "--sentence", 2).stdout.decode()
    page = tmp_path / "chart.html"
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "english", "--tokens", "-k", 2)
    analysed = call("hiero", "analyse", model, *sets, "--page", page, "--sentence", 2)
    assert analysed.returncode == 0, analysed
    for word in lines[2].split():
        assert word in shown and word in page.read_text()
    assert "Sentence 2" in page.read_text()
    assert call("hiero", "analyse", model, *sets, "--page", page).returncode == 0
    assert "Sentence 0" in page.read_text() and lines[0].split()[0] in page.read_text()
    assert "--sentence 3: there are 3, from 0" in usage_error_after_output(
        call("hiero", "analyse", model, *sets, "--page", page, "--sentence", 3)
    )
    by = ("--hypothesis", tmp_path / "english", "--by", "segment", "--quiet")
    scores = call("hiero", "eval", "--references", tmp_path / "english", *by).stdout.decode().splitlines()
    assert [line.split("\t")[1] for line in scores[1:]] == ["segment 0", "segment 1", "segment 2"]
    (tmp_path / "holes").write_text("a\n\nb\n")
    done = call("hiero", "eval", "--references", tmp_path / "holes", *by)
    assert one_error_line(done) == f"hiero: {tmp_path / 'holes'}:2: all references are empty\n"
    done = call("hiero", "forest", "show", made, "--sentence", 3)
    assert one_error_line(done) == f"hiero: {made}: no sentence 3, there are 3, from 0\n"


def test_help_says_from_where_sentences_are_numbered() -> None:
    for command, option in (
        ("decode", "--rules"),
        ("decode", "--output-format"),
        ("forest show", "--sentence"),
        ("forest oracle", "--sentence"),
        ("analyse", "--sentence"),
        ("eval", "--by"),
    ):
        text = call("hiero", *command.split(), "-h").stdout.decode()
        _, _, behind = text.partition(f"  {option} ")
        assert "from 0" in " ".join(behind.split("\n  -")[0].split()), command


def test_a_sentence_of_a_set_by_its_place() -> None:
    from hiero.cli.io.failures import sentence_place

    assert sentence_place(Path("a.txt"), 16) == "a.txt:17"
    assert sentence_place(Path("a.xml"), 16) == "a.xml: segment 16, from 0"


def test_version_by_a_program() -> None:
    done = program("hiero", "-V")
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"hiero ")
