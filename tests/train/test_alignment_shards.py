"""Word alignment whose chains are trained in shards: the same bytes as in one process."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero._core import Aligner
from hiero.train import AlignmentModel, align, align_shard
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


def trained_shards(bitexts: Bitexts, folder: Path, count: int, **settings: Any) -> list[Path]:
    folder.mkdir()
    shards = [folder / f"{index}-of-{count}" for index in range(count)]
    for index, shard in enumerate(shards):
        align_shard(bitexts, shard, (index, count), **settings)
    assert sorted(folder.iterdir()) == sorted(shards)
    return shards


@pytest.mark.parametrize(
    ("is_sample", "counts"),
    [
        (False, (3,)),
        (True, (2,)),
        pytest.param(False, (1, 2, 4, 6, 8), marks=pytest.mark.slow),
        pytest.param(True, (3, 8), marks=pytest.mark.slow),
    ],
)
def test_shards_come_to_what_one_process_does(
    bitexts: Bitexts, tmp_path: Path, is_sample: bool, counts: Sequence[int]
) -> None:
    settings: dict[str, Any] = {"seed": 5, "samplers": 2}
    if is_sample:
        settings["memory"] = sample_memory(bitexts)
    said: list[str] = []
    expected = aligned(bitexts, tmp_path / "whole", report=said.append, **settings)
    assert len(said) == is_sample
    assert expected[0].count(b"\n") == 600 and expected[1].count(b"\n") == 400
    assert AlignmentModel(tmp_path / "whole" / "model").samplers == 2
    for count in counts:
        said_of_shards: list[str] = []
        report = said_of_shards.append
        threads = 3 if count == 2 else 1
        folder = tmp_path / f"shards-{count}"
        shards = trained_shards(bitexts, folder, count, threads=threads, report=report, **settings)
        assert said_of_shards == said * count
        out = tmp_path / f"from-{count}"
        rest = {"shards": shards[::-1], "threads": 1 + count % 3, "report": report}
        assert aligned(bitexts, out, **rest, **settings) == expected
        assert said_of_shards == said * (count + 1)


@pytest.mark.slow
def test_settings_are_passed_on(bitexts: Bitexts, tmp_path: Path) -> None:
    """Every setting that a shard depends on changes it, and threads do not."""
    half: list[tuple[int, int]] = []
    align_shard(bitexts, tmp_path / "half", (0, 2), progress=lambda *sweeps: half.append(sweeps))
    assert len(half) > 100

    def shard(name: str, **settings: Any) -> bytes:
        seen: list[tuple[int, int]] = []
        settings = {"shard": (1, 6), "progress": lambda *sweeps: seen.append(sweeps), **settings}
        align_shard(bitexts, tmp_path / name, **settings)
        assert seen == [(k + 1, len(seen)) for k in range(len(seen))]
        if "memory" not in settings:
            assert len(seen) == len(half) / 3
        return (tmp_path / name).read_bytes()

    first = shard("first")
    assert shard("first", seed=1, samplers=3, threads=3) == first
    memory = sample_memory(bitexts)
    others: list[dict[str, Any]] = [
        {"seed": 2},
        {"samplers": 4, "shard": (1, 8)},
        {"memory": memory},
        {"shard": (2, 6)},
    ]
    contents = [shard("other", **settings) for settings in others]
    assert len({first, *contents}) == 5


def test_shards_that_do_not_fit(bitexts: Bitexts, tmp_path: Path) -> None:
    shards = trained_shards(bitexts, tmp_path / "shards", 3, samplers=2)
    empty = tmp_path / "shards" / "empty"
    align_shard(bitexts, empty, (4, 5), samplers=2)
    links = [tmp_path / "links-0", tmp_path / "links-1"]

    def refused(
        message: str, files: Sequence[Path] = shards, texts: Bitexts = bitexts, **settings: Any
    ) -> None:
        with pytest.raises(hiero.FormatError, match=message):
            align(texts, links[: len(texts)], shards=files, **{"samplers": 2, **settings})
        assert not any(path.exists() for path in links)

    refused("0-of-3: shard 2 of 3 is missing", [shards[0], shards[2]])
    refused("shard 1 of 5 is missing", [empty])
    refused("0-of-3: chains that are in .*0-of-3 too", [shards[0], *shards])
    refused("0-of-3: chains of seed 1, expected 2", seed=2)
    refused("0-of-3: chains of 2 samplers, expected 3", samplers=3)
    refused("0-of-3: chains of other memory, for 99. pairs, expected", memory=sample_memory(bitexts))
    refused("0-of-3: chains of another bitext", texts=bitexts[::-1])
    refused("0-of-3: chains of another bitext", texts=bitexts[:1])
    refused("0-of-3: chains of another bitext", texts=[(target, source) for source, target in bitexts])
    refused("0.zh: not a file of chains", [bitexts[0][0]])
    contents = shards[1].read_bytes()
    shards[1].write_bytes(contents[:-1])
    refused("1-of-3: truncated")
    shards[1].write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    refused("1-of-3: damaged")
    shards[1].unlink()
    with pytest.raises(FileNotFoundError):
        align(bitexts, links, samplers=2, shards=shards)
    shards[1].write_bytes(contents)
    align(bitexts, links, samplers=2, shards=[empty, *shards])  # an empty shard does no harm
    assert links[0].exists()


def test_wrong_shards(bitexts: Bitexts, tmp_path: Path) -> None:
    for shard in ((2, 2), (0, 0), (3, 2)):
        with pytest.raises(ValueError, match="a shard has a number below"):
            align_shard(bitexts, tmp_path / "shard", shard)
    with pytest.raises(ValueError, match="samplers: expected 1 or more"):
        align_shard(bitexts, tmp_path / "shard", (0, 1), samplers=0)
    with pytest.raises(ValueError, match="hmm has neither a model to save, nor probabilities, nor shards"):
        align(bitexts, [tmp_path / "0", tmp_path / "1"], aligner="hmm", shards=[tmp_path / "shard"])
    blank = write(tmp_path / "blank", [""])
    with pytest.raises(hiero.FormatError, match="blank: no sentence pairs to align"):
        align_shard([(blank, blank)], tmp_path / "shard", (0, 1))
    assert list(tmp_path.iterdir()) == [blank]


def test_an_aligner_with_a_shard(tmp_path: Path) -> None:
    path = str(tmp_path / "shard")

    def started() -> Aligner:
        aligner = Aligner(str(tmp_path), 1)
        aligner.add((io.BytesIO(b"a b\n" * 100), "f"), (io.BytesIO(b"c d\n" * 100), "e"))
        return aligner

    aligner = started()
    with pytest.raises(ValueError, match="not trained"):
        aligner.save_chains(path)
    aligner.train(1, 1, 1 << 20, None, shard=(1, 2))
    needs_all: list[Callable[[], object]] = [
        lambda: aligner.lines(0, 1, "union"),
        lambda: aligner.save(str(tmp_path / "model")),
    ]
    for call in needs_all:
        with pytest.raises(ValueError, match="only a shard of its chains"):
            call()
    aligner.save_chains(path)
    with pytest.raises(OSError, match="none"):
        aligner.save_chains(str(tmp_path / "none" / "shard"))
    with pytest.raises(hiero.FormatError, match="shard 1 of 2 is missing"):
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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "shard"]
