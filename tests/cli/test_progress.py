"""Progress on a terminal: a line of stderr that is no part of what is printed."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from hiero.cli.base.progress import one_unit
from support.commands import BIN
from support.tune_command import arguments


def on_terminal(command: list[object], stdout: Path | None) -> str:
    """Runs a command on a terminal and gives what that gets, of both streams or of stderr alone."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with contextlib.ExitStack() as stack:
        output = slave if stdout is None else stack.enter_context(stdout.open("wb"))
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=slave,
            env=environment,
        )
        stack.enter_context(process)
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(master)
        assert process.wait(60) == 0, shown
    return shown.decode()


@pytest.mark.parametrize("same", [False, True])
def test_tuning_shows_what_it_does(tuning_set: Path, tmp_path: Path, same: bool) -> None:
    command = [BIN / "hiero", *arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 3)]
    shown = on_terminal(command, None if same else tmp_path / "stdout")
    assert "iteration 0: sentences" in shown and "iteration 1: choosing weights" in shown
    assert re.search(r"\d/\d+ .*left", shown)
    lines = shown if same else (tmp_path / "stdout").read_text()
    assert re.findall(r"(?:^|\x1b\[2K)(iteration \d): \d+\.\d+", lines, re.MULTILINE) == [
        f"iteration {number}" for number in range(3)
    ]
    if not same:
        assert "\x1b" not in lines and "BLEU" not in shown
        assert shown.rpartition("\x1b[2K")[2].strip("\r\n") == ""  # it is gone in the end


def test_quiet_shows_nothing(tuning_set: Path, tmp_path: Path) -> None:
    command = [BIN / "hiero", *arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 2), "--quiet"]
    assert on_terminal(command, tmp_path / "stdout") == ""


def test_translations_on_the_same_terminal_stand_alone(tuning_set: Path, tmp_path: Path) -> None:
    command = [BIN / "hiero-decode", "--model", tuning_set / "model", "--input", tuning_set / "source"]
    shown = on_terminal(command, None)
    lines = (tuning_set / "source").read_text().splitlines()
    assert "\x1b" not in shown and shown.count("\n") == 2 + len(
        lines
    )  # and notes on weights and unknown words
    progress = on_terminal([*command, "-o", tmp_path / "out"], None)
    assert "translate: sentences" in progress


def test_totals_are_found_out_only_if_they_are_shown() -> None:
    asked: list[int] = []

    def total() -> int:
        asked.append(1)
        return 7

    assert one_unit(None, "x", total) is None and not asked
    reported: list[object] = []
    count = one_unit(lambda *what: reported.append(what), "x", total)
    assert count is not None
    count(3)
    assert (reported, asked) == ([("x", 3, 7)], [1])
