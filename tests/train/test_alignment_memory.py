"""Word alignment of more pairs than memory has room for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hiero.train import TrainInputs, TrainSettings, align, alignment, pipeline, train
from support.paths import FRENCH


def test_aligning_within_memory(demo: Path, tmp_path: Path) -> None:
    # Half of the memory that all pairs might take: some are not learned from, and all have links.
    words = max(len((demo / f"train.{side}").read_text().split()) for side in ("zh", "en"))
    bitext = demo / "train.zh", demo / "train.en"
    said: list[str] = []
    for name, memory in (("all", words * 24), ("half", words * 12)):
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
    monkeypatch.setattr(alignment, "BYTES_PER_WORD", 1 << 20)
    again, learned, _ = lines_with(128)
    assert again == "align: stale, other settings (memory)"
    assert re.fullmatch(r"align: learned from \d+ of [\d,]+ pairs, for which there is memory", learned)
    assert memories == [64 << 20, 128 << 20]
