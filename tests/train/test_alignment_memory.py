"""Word alignment of more pairs than memory has room for."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hiero._core import Aligner
from hiero.train import TrainInputs, TrainSettings, align, alignment, pipeline, train
from support.paths import FRENCH

# Prints the memory that aligning takes besides files, and what is said of it.
MEASURE = """
import re
from hiero._core import Aligner
def held():
    status = open("/proc/self/status").read()
    return 1024 * int(re.search(r"RssAnon:\\s+(\\d+)", status)[1])
before = held()
aligner = Aligner("{folder}", 1)
with open("{folder}/s", "rb") as s, open("{folder}/t", "rb") as t:
    aligner.add((s, "s"), (t, "t"))
most = 0
def progress(done, total):
    global most
    most = max(most, held())
aligner.train(1, 1, 1 << 40, progress)
print(most - before, aligner.bytes_needed)
"""


class Hungry(Aligner):
    """An aligner that says that it needs more memory than there is."""

    @property
    def bytes_needed(self) -> int:
        return 1 << 40


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_counts_keep_within_what_they_are_said_to_take(tmp_path: Path) -> None:
    """Text in which every word is new takes most for its words, and text of few words most for its length."""
    rng = random.Random(1)
    for types in (30, 100_000_000):
        for side in ("s", "t"):
            lines = (" ".join(f"{side}{rng.randrange(types)}" for _ in range(10)) for _ in range(30_000))
            (tmp_path / side).write_text("".join(f"{line}\n" for line in lines))
        code = MEASURE.format(folder=tmp_path)
        done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
        taken, said = map(int, done.stdout.split())
        assert taken < said + (16 << 20)  # buffers of files and of Python


@pytest.mark.slow
def test_aligning_within_memory(demo: Path, tmp_path: Path) -> None:
    # Half of the memory that all pairs might take: some are not learned from, and all have links.
    words = max(len((demo / f"train.{side}").read_text().split()) for side in ("zh", "en"))
    core = Aligner(str(tmp_path), 1)
    core.add(*((io.BytesIO((demo / f"train.{side}").read_bytes()), side) for side in ("zh", "en")))
    needed = core.bytes_needed
    bitext = demo / "train.zh", demo / "train.en"
    said: list[str] = []
    for name, memory in (("all", needed), ("half", needed - words * 12)):
        align([bitext], [tmp_path / name], samplers=1, memory=memory, report=said.append)
    (line,) = said
    learned, pairs = (int(number.replace(",", "")) for number in re.findall(r"[\d,]+\d", line))
    assert pairs / 5 < learned < pairs * 4 / 5
    links = [(tmp_path / name).read_text().splitlines() for name in ("all", "half")]
    assert [len(lines) for lines in links] == [pairs, pairs]
    assert all(map(bool, links[1])) and links[0] != links[1]


def test_training_aligns_again_with_other_memory_only_where_it_matters(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("zh", "en"):
        lines = (demo / f"train.{side}").read_text().splitlines()[:1000]
        (tmp_path / side).write_text("".join(f"{line}\n" for line in lines))
    inputs = TrainInputs(tmp_path / "zh", tmp_path / "en", lms=[FRENCH / "lm.arpa"])
    memories: list[int] = []

    def align_and_note(*args: Any, memory: int, **settings: Any) -> None:
        memories.append(memory)
        align(*args, memory=memory // 2000, **settings)

    def lines_with(megabytes: int) -> list[str]:
        lines: list[str] = []
        settings = TrainSettings(samplers=1, lms="given")
        train(inputs, tmp_path / "model", settings=settings, memory=megabytes << 20, report=lines.append)
        return [line for line in lines if line.startswith("align")]

    monkeypatch.setattr(pipeline, "align", align_and_note)
    assert lines_with(64)[0] == "align: to be made"
    assert lines_with(128) == ["align: done before"]
    # The bound on what words may take is not enough to align again: what they do take is counted.
    monkeypatch.setattr(alignment, "ALIGN_BYTES_PER_WORD", 1 << 30)
    assert lines_with(64) == ["align: done before"]
    monkeypatch.setattr(alignment, "Aligner", Hungry)
    again, learned, _ = lines_with(128)
    assert again == "align: stale, other settings (memory)"
    assert re.fullmatch(r"align: learned from \d+ of [\d,]+ pairs, for which there is memory", learned)
    assert memories == [64 << 20, 128 << 20]
