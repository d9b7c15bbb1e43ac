"""Plans of trainings: what steps take for samples, and what that says of all pairs."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path

import pytest

from hiero._core import Aligner
from hiero.cli.base.size import duration
from hiero.train import TrainInputs, TrainSettings, plan, train
from hiero.train.plan import StepPlan, _planned, _sample, _work, plan_training
from support.commands import call

GIGABYTE = 1e9


def planned(name: str, few: tuple[float, ...], many: tuple[float, ...], pairs: int = 100_000) -> StepPlan:
    steps = StepPlan(name, *few), StepPlan(name, *many)
    return _planned(*steps, 1000, 4000, pairs, TrainSettings(), 1 << 30)


def test_what_grows_with_the_pairs() -> None:
    # Two seconds for any text, and a second for each thousand pairs.
    step = planned("extract", (3.0, 1e8, 1e6), (6.0, 1.3e8, 2e6))
    assert step.seconds == pytest.approx(102)
    assert step.memory == pytest.approx(1.3e8 + 96 * 1e7)
    # Four times the pairs had twice the files.
    assert step.disk == pytest.approx(2e6 * math.sqrt(25))
    # Memory is bounded, files grow no faster than the pairs, and what fell in the larger sample was chance.
    step = planned("extract", (3.0, 1e8, 1e6), (2.0, 9e8, 9e6), pairs=10_000_000)
    assert (step.seconds, step.memory, step.disk) == (2.0, 9e8 + (1 << 30), pytest.approx(9e6 * 2500))


def test_what_grows_otherwise() -> None:
    assert planned("weights", (3.0, 1e8, 0.0), (3.5, 1e8, 0.0)).seconds == 3.5
    # Sweeps become fewer with the root of the pairs, and so does the growth of time.
    step = planned("align", (1.0, 1e8, 1e6), (2.0, 1e8, 4e6))
    assert step.seconds == pytest.approx(2 * 5, rel=0.1)
    assert step.disk == pytest.approx(25 * 4e6)
    assert planned("align", (1.0, 1e8, 1e6), (2.0, 1e8, 4e6), pairs=3000).seconds == 2.0


def test_sweeps_are_those_of_the_aligner(tmp_path: Path) -> None:
    totals: list[int] = []
    for pairs in (200, 3000):
        core = Aligner(str(tmp_path), 1)
        core.add((io.BytesIO(b"a b\n" * pairs), "s"), (io.BytesIO(b"c\n" * pairs), "t"))
        core.train(1, 1, 1 << 40, lambda done, total: totals.append(total))
        assert _work("align", pairs, TrainSettings()) == pairs * totals[-1] / 2


def test_samples_keep_lines_together(tmp_path: Path) -> None:
    texts = {name: [f"{name}{k}" for k in range(400)] for name in ("s", "t")}
    texts |= {name: [f"{name}{k}" for k in range(200)] for name in ("ds", "dt")}
    texts |= {name: [f"{name}{k}" for k in range(100)] for name in ("ms", "mt")}
    texts["links"] = [f"{k}-{k}" for k in (*range(400), *range(2000, 2100), *range(1000, 1200))]
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    paths = {name: tmp_path / name for name in texts}
    inputs = TrainInputs(paths["s"], paths["t"], (paths["ds"], paths["dt"]), [paths["t"]], paths["links"])
    inputs = replace(inputs, more=[(paths["ms"], paths["mt"])])
    (tmp_path / "sample").mkdir()
    sample = _sample(inputs, tmp_path / "sample", 0.25)
    assert sample.dictionary is not None and sample.alignment is not None
    names = [sample.source, sample.target, *sample.dictionary, sample.alignment, *sample.mono]
    source, target, left, right, links, mono = (Path(name).read_text().split() for name in names)
    assert 60 < len(source) < 140 and 25 < len(left) < 75
    numbers = [line[1:] for line in source]
    assert [line[1:] for line in target] == numbers == [line[1:] for line in mono]
    entries = [line[2:] for line in left]
    assert [line[2:] for line in right] == entries
    ((more_source, more_target),) = sample.more
    more = [line[2:] for line in Path(more_source).read_text().split()]
    assert [line[2:] for line in Path(more_target).read_text().split()] == more and 10 < len(more) < 40
    links_of_more = [f"{2000 + int(k)}-{2000 + int(k)}" for k in more]
    assert links == [f"{k}-{k}" for k in numbers] + links_of_more + [
        f"{1000 + int(k)}-{1000 + int(k)}" for k in entries
    ]


@pytest.mark.slow
def test_plans_of_a_training(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_SAMPLES", (150, 300))
    for side in ("zh", "en"):
        lines = (demo / f"train.{side}").read_text().splitlines()[:600]
        (tmp_path / side).write_text("".join(f"{line}\n" for line in lines))
    inputs, settings = TrainInputs(tmp_path / "zh", tmp_path / "en"), TrainSettings(samplers=1)
    said: list[str] = []
    steps = plan_training(inputs, tmp_path / "model", settings=settings, report=said.append)
    assert said == ["planned by trainings on 150 and 300 of 600 pairs"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["en", "zh"]
    lines = []
    train(inputs, tmp_path / "model", settings=settings, report=lines.append)
    done = [line.partition(": done in")[0] for line in lines if ": done in" in line]
    assert [step.name for step in steps] == done
    table = {step.name: step for step in steps}
    assert table["score"].disk / (tmp_path / "model.train" / "rules.hrt").stat().st_size == pytest.approx(
        1, rel=0.5
    )
    assert table["corpus"].memory < 2e8 and table["align"].seconds > 0

    sides = ["--source", tmp_path / "zh", "--target", tmp_path / "en", "-o", tmp_path / "other"]
    printed = call("hiero", "train", *sides, "--samplers", 1, "--plan", "--quiet").stdout.decode()
    names = [line.split("  ")[0] for line in printed.splitlines()]
    assert names == [*done, "total"] and not (tmp_path / "other").exists()


def test_durations() -> None:
    texts = [duration(seconds) for seconds in (0.04, 9.94, 9.96, 119, 120, 3599, 7500)]
    assert texts == ["0.0 s", "9.9 s", "10 s", "119 s", "2 min", "1 h 00 min", "2 h 05 min"]
