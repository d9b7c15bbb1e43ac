"""Tests of `hiero adapt`: a document line by line, interrupted and taken up again."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import hiero
from hiero.adapt import Session
from hiero.adapt.session import context_path, read_corrections
from hiero.text import TextProcessing, TextSide
from support.commands import BIN, call
from support.files import write

Document = list[tuple[str, str]]


@pytest.fixture
def files(tmp_path: Path, document: Document) -> tuple[Path, Path]:
    """The document as files, with a blank line on either side."""
    pairs = [*document[:4], ("", "nothing"), (document[4][0], ""), *document[5:]]
    return write(tmp_path / "f", [f for f, _ in pairs]), write(tmp_path / "e", [e for _, e in pairs])


def adapt(model: Path, *options: object, context: str = "anna") -> list[str]:
    done = call("hiero", "adapt", model, "--context", context, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


def lines_of(files: tuple[Path, Path]) -> list[object]:
    return ["--source", files[0], "--references", files[1]]


def test_a_document_is_learned(model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    found = adapt(model, *lines_of(files), "-c", 0.01)
    session = Session(hiero.Model.load(model), hiero.adapt.AdaptSettings(c=0.01))
    sides = [path.read_text().splitlines() for path in files]
    expected = []
    for source, target in zip(*sides, strict=True):
        if source and target:
            expected.append(session.correct(source, target).translation)
        else:
            expected.append(session.translate(source).text if source else "")
    assert found == expected
    with Session.open(model, "anna") as again:
        assert again.weights == session.weights and again.rule_count == session.rule_count > 0
    adapt(model, *lines_of(files), "-o", tmp_path / "out")
    with Session.open(model, "anna") as again:
        expected[5] = again.translate(sides[0][5]).text  # without a reference: by all that is learned now
    assert (tmp_path / "out").read_text().splitlines() == expected
    assert len(read_corrections(model, "anna")) == len(session.corrections)  # none was learned twice


def test_a_second_document(model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = (
        tuple(write(tmp_path / f"{path.name}{k}", path.read_text().splitlines()[part]) for path in files)
        for k, part in enumerate((slice(0, 4), slice(2, None)))
    )
    adapt(model, *lines_of(first))
    translations = adapt(model, *lines_of(second))
    corrections = read_corrections(model, "anna")
    sources = files[0].read_text().splitlines()
    # The last lines of the first document begin the second one: they are as good as learned.
    assert [one.source for one in corrections] == sources[:4] + sources[6:]
    assert translations[:2] == [one.translation for one in corrections[2:4]]


def test_lines_that_have_no_tokens(model: Path, tmp_path: Path) -> None:
    text = TextProcessing(TextSide("moses", "und"), TextSide("moses", "en"))
    dataclasses.replace(hiero.Model.load(model), text=text).save(model)
    lines = ["小狗", "\u200b", "", "狗"], ["a puppy", "a", "b", "\u200b"]
    files = write(tmp_path / "f", lines[0]), write(tmp_path / "e", lines[1])
    translations = adapt(model, *lines_of(files))
    assert [bool(line) for line in translations] == [True, False, False, True]
    assert [one.source for one in read_corrections(model, "anna")] == ["小狗"]


def test_tokens_and_settings(model: Path, files: tuple[Path, Path]) -> None:
    adapt(model, *lines_of(files), "--tokens", "--no-rules", "-k", 3, "--mu", 0.25)
    with Session.open(model, "anna") as session:
        settings = session.settings
        assert (settings.rules, settings.weights, settings.k, settings.mu) == (False, True, 3, 0.25)
        assert session.corrections[0].source == files[0].read_text().splitlines()[0].split()
    adapt(model, "--rules", "--no-weights")
    with Session.open(model, "anna") as session:
        assert (session.settings.rules, session.settings.weights, session.settings.k) == (True, False, 3)
        assert session.rule_count > 0


def test_undone_and_exported(model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    adapt(model, *lines_of(files))
    done = call("hiero", "adapt", model, "--context", "anna", "--undo", 2)
    assert done.returncode == 0 and done.stderr.startswith(b"hiero: context anna: 10 corrections, ")
    adapt(model, "--export", tmp_path / "x", tmp_path / "y")
    corrections = read_corrections(model, "anna")
    assert [one.id for one in corrections] == [1, *range(3, 12)]
    assert (tmp_path / "x").read_text().splitlines() == [one.source for one in corrections]
    assert (tmp_path / "y").read_text().splitlines() == [one.target for one in corrections]
    assert call("hiero", "adapt", model, "--context", "anna", "--quiet").stderr == b""


def test_wrong_use(model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    short = write(tmp_path / "short", ["a"])
    for options, code, message in (
        (["--source", files[0]], 2, "--source and --references come together"),
        (["--source", files[0], "--references", short], 1, "have different numbers of lines"),
        (["--undo", 5], 1, "no correction 5"),
        (["--context", "a/b"], 1, "expected up to 64 letters"),
        (["-c", -1], 2, "c"),
    ):
        done = call("hiero", "adapt", model, "--context", "anna", *options)
        assert done.returncode == code and message in done.stderr.decode()
    assert call("hiero", "adapt", tmp_path, "--context", "anna").returncode == 1


@pytest.mark.slow
def test_killed_at_random_nothing_is_lost(model: Path, document: Document, tmp_path: Path) -> None:
    sides = zip(*document, strict=True)
    files = [write(tmp_path / name, 3 * list(side)) for name, side in zip("fe", sides, strict=True)]
    words = ["--source", files[0], "--references", files[1]]
    expected = adapt(model, *words, context="whole")
    command = [BIN / "hiero", "adapt", model, "--context", "killed", *words]
    rng = random.Random(1)
    began = time.monotonic()
    subprocess.run([*command[:4], "timing", *words], check=True, capture_output=True)
    whole = time.monotonic() - began
    seen: list[str] = []
    kills = 0
    while kills < 12:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.3, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        out = process.communicate()[0].decode()
        kills += process.returncode == -signal.SIGKILL
        # What was printed was on the disk before.
        printed = out.splitlines() if out.endswith("\n") else out.splitlines()[:-1]
        seen = max(seen, printed, key=len)
        assert printed == expected[: len(printed)]
        if context_path(model, "killed").exists():
            kept = [one.translation for one in read_corrections(model, "killed")]
            assert kept[: len(seen)] == seen and len(kept) >= len(seen)
        if process.returncode == 0:
            os.unlink(context_path(model, "killed"))
            seen = []
    assert adapt(model, *words, context="killed") == expected
    with Session.open(model, "killed") as session, Session.open(model, "whole") as other:
        assert session.weights == other.weights and session.rule_count == other.rule_count
