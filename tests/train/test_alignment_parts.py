"""Word alignment whose chains are trained in parts: the same bytes as in one process."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero._core import Aligner
from hiero.train import AlignmentModel, align, align_part
from support.files import head, write

Bitexts = list[tuple[Path, Path]]
RESULTS = ("links-0", "links-1", "likely", "model")


@pytest.fixture(scope="module")
def bitexts(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Bitexts:
    """Two bitexts with empty sides, of several shards of 256 pairs."""
    folder = tmp_path_factory.mktemp("bitexts")
    sides = []
    for side, empty in (("zh", 3), ("en", 7)):
        lines = head(demo / f"train.{side}", 1000)
        lines[empty] = lines[500 + empty] = lines[999] = ""
        sides.append([write(folder / f"0.{side}", lines[:600]), write(folder / f"1.{side}", lines[600:])])
    return list(zip(*sides, strict=True))


def sample_memory(bitexts: Bitexts) -> int:
    """Returns memory for about half of the pairs."""
    core = Aligner(str(bitexts[0][0].parent), 1)
    for bitext in bitexts:
        core.add(*((io.BytesIO(path.read_bytes()), path.name) for path in bitext))
    words = [sum(len(path.read_text().split()) for path in side) for side in zip(*bitexts, strict=True)]
    return core.bytes_needed - 12 * max(words)


def aligned(bitexts: Bitexts, folder: Path, **settings: Any) -> list[bytes]:
    """Returns the contents of all files that aligning writes, and removes them."""
    folder.mkdir()
    links, likely, model = [folder / "links-0", folder / "links-1"], folder / "likely", folder / "model"
    align(bitexts, links, probabilities=likely, save=model, **settings)
    assert sorted(path.name for path in folder.iterdir()) == sorted(RESULTS)
    return [(folder / name).read_bytes() for name in RESULTS]


def trained_parts(bitexts: Bitexts, folder: Path, count: int, **settings: Any) -> list[Path]:
    folder.mkdir()
    parts = [folder / f"{index}-of-{count}" for index in range(count)]
    for index, part in enumerate(parts):
        align_part(bitexts, part, (index, count), **settings)
    assert sorted(folder.iterdir()) == sorted(parts)
    return parts


@pytest.mark.parametrize("is_sample", [False, True])
def test_parts_come_to_what_one_process_does(bitexts: Bitexts, tmp_path: Path, is_sample: bool) -> None:
    settings: dict[str, Any] = {"seed": 5, "samplers": 2}
    if is_sample:
        settings["memory"] = sample_memory(bitexts)
    said: list[str] = []
    expected = aligned(bitexts, tmp_path / "whole", report=said.append, **settings)
    assert len(said) == is_sample
    assert expected[0].count(b"\n") == 600 and expected[1].count(b"\n") == 400
    assert AlignmentModel(tmp_path / "whole" / "model").samplers == 2
    for count in (2, 3, 8) if is_sample else (1, 2, 3, 4, 6, 8):
        said_of_parts: list[str] = []
        report = said_of_parts.append
        threads = 3 if count == 2 else 1
        folder = tmp_path / f"parts-{count}"
        parts = trained_parts(bitexts, folder, count, threads=threads, report=report, **settings)
        assert said_of_parts == said * count
        out = tmp_path / f"from-{count}"
        rest = {"parts": parts[::-1], "threads": 1 + count % 3, "report": report}
        assert aligned(bitexts, out, **rest, **settings) == expected
        assert said_of_parts == said * (count + 1)


def test_settings_are_passed_on(bitexts: Bitexts, tmp_path: Path) -> None:
    """Every setting that a part depends on changes it, and threads do not."""
    half: list[tuple[int, int]] = []
    align_part(bitexts, tmp_path / "half", (0, 2), progress=lambda *sweeps: half.append(sweeps))
    assert len(half) > 100

    def part(name: str, **settings: Any) -> bytes:
        seen: list[tuple[int, int]] = []
        settings = {"part": (1, 6), "progress": lambda *sweeps: seen.append(sweeps), **settings}
        align_part(bitexts, tmp_path / name, **settings)
        assert seen == [(k + 1, len(seen)) for k in range(len(seen))]
        if "memory" not in settings:
            assert len(seen) == len(half) / 3
        return (tmp_path / name).read_bytes()

    first = part("first")
    assert part("first", seed=1, samplers=3, threads=3) == first
    memory = sample_memory(bitexts)
    others: list[dict[str, Any]] = [
        {"seed": 2},
        {"samplers": 4, "part": (1, 8)},
        {"memory": memory},
        {"part": (2, 6)},
    ]
    contents = [part("other", **settings) for settings in others]
    assert len({first, *contents}) == 5


def test_parts_that_do_not_fit(bitexts: Bitexts, tmp_path: Path) -> None:
    parts = trained_parts(bitexts, tmp_path / "parts", 3, samplers=2)
    empty = tmp_path / "parts" / "empty"
    align_part(bitexts, empty, (4, 5), samplers=2)
    links = [tmp_path / "links-0", tmp_path / "links-1"]

    def refused(
        message: str, files: Sequence[Path] = parts, texts: Bitexts = bitexts, **settings: Any
    ) -> None:
        with pytest.raises(hiero.FormatError, match=message):
            align(texts, links[: len(texts)], parts=files, **{"samplers": 2, **settings})
        assert not any(path.exists() for path in links)

    refused("no file has the chains of part 1 of 3, counted from 0", [parts[0], parts[2]])
    refused("no file has the chains of part 0 of 5", [empty])
    refused("0-of-3: chains that are in .*0-of-3 too", [parts[0], *parts])
    refused("0-of-3: chains of seed 1, expected 2", seed=2)
    refused("0-of-3: chains of 2 samplers, expected 3", samplers=3)
    refused("0-of-3: chains of other memory, for 99. pairs, expected", memory=sample_memory(bitexts))
    refused("0-of-3: chains of another bitext", texts=bitexts[::-1])
    refused("0-of-3: chains of another bitext", texts=bitexts[:1])
    refused("0-of-3: chains of another bitext", texts=[(target, source) for source, target in bitexts])
    refused("0.zh: not a file of chains", [bitexts[0][0]])
    contents = parts[1].read_bytes()
    parts[1].write_bytes(contents[:-1])
    refused("1-of-3: truncated")
    parts[1].write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    refused("1-of-3: damaged")
    parts[1].unlink()
    with pytest.raises(FileNotFoundError):
        align(bitexts, links, samplers=2, parts=parts)
    parts[1].write_bytes(contents)
    align(bitexts, links, samplers=2, parts=[empty, *parts])  # an empty part does no harm
    assert links[0].exists()


def test_wrong_parts(bitexts: Bitexts, tmp_path: Path) -> None:
    for part in ((-1, 2), (2, 2), (0, 0), (0, -1), (3, 2)):
        with pytest.raises(ValueError, match=r"part: expected \(i, n\) with 0 <= i < n"):
            align_part(bitexts, tmp_path / "part", part)
    with pytest.raises(ValueError, match="samplers: expected 1 or more"):
        align_part(bitexts, tmp_path / "part", (0, 1), samplers=0)
    with pytest.raises(ValueError, match="hmm has neither a model to save, nor probabilities, nor parts"):
        align(bitexts, [tmp_path / "0", tmp_path / "1"], aligner="hmm", parts=[tmp_path / "part"])
    blank = write(tmp_path / "blank", [""])
    with pytest.raises(hiero.FormatError, match="blank: no sentence pairs to align"):
        align_part([(blank, blank)], tmp_path / "part", (0, 1))
    assert list(tmp_path.iterdir()) == [blank]


def test_an_aligner_with_a_part(tmp_path: Path) -> None:
    path = str(tmp_path / "part")

    def started() -> Aligner:
        aligner = Aligner(str(tmp_path), 1)
        aligner.add((io.BytesIO(b"a b\n" * 100), "f"), (io.BytesIO(b"c d\n" * 100), "e"))
        return aligner

    aligner = started()
    with pytest.raises(ValueError, match="not trained"):
        aligner.save_chains(path)
    aligner.train(1, 1, 1 << 20, None, part=(1, 2))
    needs_all: list[Callable[[], object]] = [
        lambda: aligner.lines(0, 1, "union"),
        lambda: aligner.save(str(tmp_path / "model")),
    ]
    for call in needs_all:
        with pytest.raises(ValueError, match="only a part of its chains"):
            call()
    aligner.save_chains(path)
    with pytest.raises(OSError, match="none"):
        aligner.save_chains(str(tmp_path / "none" / "part"))
    with pytest.raises(hiero.FormatError, match="part 0 of 2"):
        aligner.take_chains([path], 1, 1, 1 << 20)
    # What was refused is not half there.
    with pytest.raises(ValueError, match="not trained"):
        aligner.save_chains(path)
    with pytest.raises(ValueError, match="samplers: expected 1 or more"):
        aligner.take_chains([path], 1, 0, 1 << 20)
    other = started()
    other.train(1, 1, 1 << 20, None, (0, 2))
    other.save_chains(str(tmp_path / "other"))
    assert aligner.take_chains([path, str(tmp_path / "other")], 1, 1, 1 << 20) == 100
    lines = aligner.lines(0, 100, "union")
    other.train(1, 1, 1 << 20, None)
    assert other.lines(0, 100, "union") == lines
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "part"]
