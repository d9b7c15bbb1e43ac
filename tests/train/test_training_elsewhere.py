"""Steps of training on several machines of a cluster, which here are this process: the same bytes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hiero import Error, FormatError
from hiero.base.parallel import working_on
from hiero.train import ExtractSettings, ScoreSettings, align, extract_rules, extraction, score_rules
from support.extraction import random_pair, write_bitext
from support.places import PickledPlaces

Bitext = tuple[Path, Path, Path]
Step = Callable[[Path], object]


@pytest.fixture
def bitext(tmp_path: Path) -> Bitext:
    rng = random.Random(1)
    return write_bitext(tmp_path, [random_pair(rng, 9, "abcdefghijklmnop") for _ in range(2000)])


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def same_elsewhere(step: Step, folder: Path, machines: int) -> list[int]:
    """Does a step here and on machines, and checks that the files of a folder are the same. Returns the
    numbers of items of each work that was sent."""
    found = []
    places = PickledPlaces(machines)
    for name, engine in (("here", None), ("there", places)):
        (folder / name).mkdir()
        with working_on(engine):
            step(folder / name)
        found.append(content(folder / name))
    assert found[0] == found[1] and found[0]
    return places.wide_items


@pytest.mark.parametrize("machines", [1, 3])
def test_extraction(machines: int, bitext: Bitext, tmp_path: Path) -> None:
    seen: list[list[tuple[int, int]]] = []
    statistics = []

    def step(folder: Path) -> None:
        steps: list[tuple[int, int]] = []
        options = {"settings": ExtractSettings(max_symbols=4), "memory": 1 << 14}
        done = extract_rules(
            *bitext,
            folder / "counts",
            progress=lambda pairs, occurrences: steps.append((pairs, occurrences)),
            **options,
        )
        statistics.append([getattr(done, name) for name in ("pairs", "phrases", "rules", "monotone")])
        seen.append(steps)

    assert same_elsewhere(step, tmp_path, machines) == [2 * machines] * 3
    assert statistics[0] == statistics[1]
    here, there = seen
    assert there[-1] == here[-1] and there == sorted(there)
    # Progress goes on in the steps behind the first one.
    assert len(there) == 3 * 2 * machines


def test_memory_and_threads_are_passed_on(
    bitext: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files do not depend on them, so the calls are looked at."""
    found: list[tuple[str, int, int]] = []
    for name in ("sum_extracted", "code_extracted"):
        original = getattr(extraction._core, name)

        def noted(*arguments: object, name: str = name, original: Callable[..., object] = original) -> object:
            found.append((name, *arguments[-2:]))
            return original(*arguments)

        monkeypatch.setattr(extraction._core, name, noted)
    shard = extraction.extract_shard

    def noted_shard(*arguments: object, **options: object) -> object:
        found.append(("extract_shard", options["memory"], options["threads"]))
        return shard(*arguments, **options)

    monkeypatch.setattr(extraction, "extract_shard", noted_shard)
    with working_on(PickledPlaces(1)):
        extract_rules(*bitext, tmp_path / "counts", memory=1 << 22)
    names = ("extract_shard", "sum_extracted", "code_extracted")
    assert found == [(name, 1 << 22, 3) for name in names for _ in range(2)]


def test_a_length_of_phrases_is_chosen_once(bitext: Bitext, tmp_path: Path) -> None:
    same_elsewhere(lambda folder: extract_rules(*bitext, folder / "counts"), tmp_path, 2)


@pytest.mark.parametrize("machines", [1, 3])
def test_scoring(machines: int, bitext: Bitext, tmp_path: Path) -> None:
    extract_rules(*bitext, tmp_path / "counts")
    settings = ScoreSettings(significance=1.5, min_count=2, owner="me")
    kept, seen = [], []

    def step(folder: Path) -> None:
        steps: list[tuple[int, int]] = []
        done = score_rules(
            tmp_path / "counts",
            folder / "rules.hrt",
            settings=settings,
            bitext=bitext[:2],
            progress=lambda rules, total: steps.append((rules, total)),
        )
        kept.append((done.read, done.kept))
        seen.append(steps[-1])

    assert same_elsewhere(step, tmp_path, machines) == [2 * machines]
    assert kept[0] == kept[1] and kept[0][1] < kept[0][0]
    assert seen[1] == (kept[0][0], kept[0][0])


def test_alignment(bitext: Bitext, tmp_path: Path) -> None:
    seen: list[list[tuple[int, int]]] = []

    def step(folder: Path) -> None:
        steps: list[tuple[int, int]] = []
        align(
            [bitext[:2]],
            [folder / "links"],
            seed=3,
            samplers=2,
            memory=50_000,
            save=folder / "model",
            probabilities=folder / "likely",
            report=lambda line: (folder / "said").write_text(line),
            progress=lambda done, total: steps.append((done, total)),
        )
        seen.append(steps)

    assert same_elsewhere(step, tmp_path, 3) == [4]
    assert seen[1] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert b"learned from " in content(tmp_path / "there")["said"]


def test_other_aligners_stay_here(bitext: Bitext, tmp_path: Path) -> None:
    pytest.importorskip("thot")
    step: Step = lambda folder: align([bitext[:2]], [folder / "links"], aligner="ibm1")  # noqa: E731
    assert same_elsewhere(step, tmp_path, 3) == []


def test_errors_leave_nothing_behind(bitext: Bitext, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    broken = list(bitext)
    broken[2] = tmp_path / "broken"
    broken[2].write_text("0-9\n" + bitext[2].read_text().split("\n", 1)[1])
    extract_rules(*bitext, tmp_path / "counts")
    with working_on(PickledPlaces(2)):
        with pytest.raises(FormatError, match="broken:1: "):
            extract_rules(*broken, output / "counts", settings=ExtractSettings(max_phrase=5))
        with pytest.raises(FormatError, match="the table would have no rules"):
            score_rules(tmp_path / "counts", output / "table", settings=ScoreSettings(min_count=10**6))
        with pytest.raises(ValueError, match="needs the bitext"):
            score_rules(tmp_path / "counts", output / "table", settings=ScoreSettings(significance="a+e"))
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(OSError, match="to be read twice"):
            extract_rules(pipe, *bitext[1:], output / "counts", settings=ExtractSettings(max_phrase=5))
        with pytest.raises(OSError, match="to be read twice"):
            align([(bitext[0], pipe)], [output / "links"])
        with pytest.raises((OSError, Error)):
            score_rules(tmp_path / "none", output / "table")
    assert list(output.iterdir()) == []
