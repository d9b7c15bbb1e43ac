"""Tests of steps that are done once: the record of a step, and what makes it stale."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hiero.train import steps
from hiero.train.steps import Journal, Step, open_journal


class Work:
    """A working directory with one step, which copies its input."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.input = folder / "input"
        self.input.write_text("aaaa")
        self.said: list[str] = []
        self.times = 0

    def step(self, run: Callable[[], object] | None = None, **settings: object) -> Step:
        return Step("copy", {"text": self.input}, settings, ["copy"], run or self.copy)

    def copy(self) -> None:
        self.times += 1
        (self.folder / "copy").write_bytes(self.input.read_bytes())

    def run(self, step: Step) -> str:
        """Runs a step in another process and returns its output."""
        self.said.clear()
        with open_journal(self.folder, self.said.append) as journal:
            journal.run(step)
        return self.said[0]


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_a_step_is_done_once(work: Work) -> None:
    assert work.run(work.step(k=1)) == "copy: to be made"
    assert work.run(work.step(k=1)) == "copy: done before" and work.times == 1
    log = [json.loads(line) for line in (work.folder / "log.jsonl").read_text().splitlines()]
    assert [set(line) for line in log] == [{"step", "seconds", "processor_seconds", "peak_megabytes"}]


def test_what_makes_it_stale(work: Work, tmp_path: Path) -> None:
    work.run(work.step(k=1, j=2))
    assert work.run(work.step(k=2, j=2)) == "copy: stale, other settings (k)"
    assert work.run(work.step(k=2)) == "copy: stale, other settings (fewer)"
    work.input.write_text("bbbb")
    assert work.run(work.step(k=2)) == "copy: stale, text has changed"
    (work.folder / "copy").write_text("cccc")
    assert work.run(work.step(k=2)) == "copy: stale, copy has changed"
    (work.folder / "copy").unlink()
    assert work.run(work.step(k=2)) == "copy: stale, copy is missing"
    more = Step("copy", {"text": work.input, "other": work.input}, {"k": 2}, ["copy"], work.copy)
    assert work.run(more) == "copy: stale, there are other inputs"
    assert work.times == 7
    assert (work.folder / "copy").read_text() == "bbbb"
    assert work.run(more) == "copy: done before"
    (work.folder / "steps.json").write_text("{")
    assert work.run(more) == "copy: to be made"


def test_a_step_that_fails_is_not_done(work: Work) -> None:
    """The same holds if the step was done before, and if it changed files that no record lists before it
    failed."""
    work.run(work.step())
    beside = work.folder / "beside"
    beside.write_text("of the first time")

    def fails() -> None:
        beside.write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        work.run(work.step(fails, k=2))
    assert json.loads((work.folder / "steps.json").read_text()) == {}
    # The output that the record lists is unchanged.
    assert work.run(work.step()) == "copy: to be made"
    # The same within this process.
    journal = Journal(work.folder, work.said.append)
    with pytest.raises(RuntimeError):
        journal.run(work.step(fails, k=2))
    work.said.clear()
    journal.run(work.step())
    assert work.said[0] == "copy: to be made"


def test_checksums_are_of_what_is_there(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read again if and only if it changes, even if its size or its time stays the same."""
    work.run(work.step())
    read: list[Path] = []
    monkeypatch.setattr(steps, "sha256", lambda path: read.append(path) or path.read_text())
    journal = Journal(work.folder, work.said.append)
    status = work.input.stat()
    for later, text in ((0, "aaaa"), (1, "bbbb"), (1, "bbbbb")):
        work.input.write_text(text)
        os.utime(work.input, ns=(status.st_atime_ns, status.st_mtime_ns + later))
        assert journal.checksum(work.input) == journal.checksum(work.input) == text
    assert len(read) == 3


def test_inputs_that_are_recorded(work: Work) -> None:
    work.run(work.step())
    journal = Journal(work.folder, work.said.append)
    assert journal.inputs_of("copy") == {"text": journal.checksum(work.input)}
