"""Tests of training by shards: files are the same, byte for byte, as those of one process, and shards that do
not belong together are found out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.train import (
    ExtractSettings,
    ScoreSettings,
    extract_rules,
    extract_shard,
    merge_extracted,
    merge_scored,
    score_rules,
    score_shard,
)
from support.brute_force_extraction import Pair
from support.extraction import random_pair, write_bitext

Bitext = tuple[Path, Path, Path]


def random_pairs(count: int, seed: int = 1) -> list[Pair]:
    rng = random.Random(seed)
    return [random_pair(rng, 9, "abcdefghijklmnop") for _ in range(count)]


@pytest.fixture
def bitext(tmp_path: Path) -> Bitext:
    return write_bitext(tmp_path, random_pairs(2000))  # 20 parts of source sides


def shards_of(bitext: Bitext, count: int, **options: object) -> list[Path]:
    """Writes shards with the settings of tests, and returns their files in another order."""
    files = [bitext[0].with_name(f"shard.{number}") for number in range(count)]
    options = {"settings": ExtractSettings(max_phrase=5), **options}
    for number, file in enumerate(files):
        extract_shard(*bitext, file, (number, count), **options)
    return files[1:] + files[:1]


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("memory", [1 << 12, 1 << 30])
def test_counts_are_those_of_one_process(count: int, memory: int, bitext: Bitext, tmp_path: Path) -> None:
    settings = ExtractSettings(max_phrase=5)
    whole = extract_rules(*bitext, tmp_path / "counts", settings=settings)
    shards = shards_of(bitext, count, memory=memory, threads=2)
    merged = merge_extracted(shards, tmp_path / "merged", memory=memory, threads=3)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "counts").read_bytes()
    for name in ("pairs", "phrases", "occurrences", "rules", "rules_seen", "monotone", "reordered"):
        assert getattr(merged, name) == getattr(whole, name)


def test_statistics_of_shards_add_up(bitext: Bitext, tmp_path: Path) -> None:
    whole = extract_rules(*bitext, tmp_path / "counts", settings=ExtractSettings(max_phrase=5))
    steps: list[tuple[int, int]] = []
    parts = [
        extract_shard(
            *bitext,
            tmp_path / "shard",
            (number, 3),
            settings=ExtractSettings(max_phrase=5),
            progress=lambda pairs, occurrences: steps.append((pairs, occurrences)),
        )
        for number in range(3)
    ]
    assert sum(part.pairs for part in parts) == whole.pairs
    assert all(part.pairs > 0 for part in parts)
    assert sum(part.occurrences for part in parts) == whole.occurrences
    assert steps[-1] == (parts[-1].pairs, parts[-1].occurrences)


@pytest.mark.parametrize("count", [1, 2, 7, 400])
@pytest.mark.parametrize("options", [{}, {"significance": 2.0}, {"ttable_limit": 2, "owner": "me"}])
def test_tables_are_those_of_one_process(
    count: int, options: dict[str, object], bitext: Bitext, tmp_path: Path
) -> None:
    extract_rules(*bitext, tmp_path / "counts", settings=ExtractSettings(max_phrase=5))
    settings, sides = ScoreSettings(**options), bitext[:2]
    whole = score_rules(tmp_path / "counts", tmp_path / "rules.hrt", settings=settings, bitext=sides)
    shards = [tmp_path / f"scored.{number}" for number in range(count)]
    steps: list[tuple[int, int]] = []
    for number, file in enumerate(shards):
        score_shard(
            tmp_path / "counts",
            file,
            (number, count),
            settings=settings,
            bitext=sides,
            threads=2,
            progress=lambda done, total: steps.append((done, total)),
        )
    merged = merge_scored(shards[::-1], tmp_path / "merged.hrt")
    assert (tmp_path / "merged.hrt").read_bytes() == (tmp_path / "rules.hrt").read_bytes()
    assert (merged.read, merged.kept) == (whole.read, whole.kept)
    assert whole.kept < whole.read or not options
    assert {total for _, total in steps} == {whole.read}


def merge_fails(merge: Callable[[Sequence[Path]], object], files: Sequence[Path], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        merge(files)


def test_shards_that_do_not_belong_together(bitext: Bitext, tmp_path: Path) -> None:
    def merge(files: Sequence[Path]) -> object:
        return merge_extracted(files, tmp_path / "merged")

    files = shards_of(bitext, 3)
    merge_fails(merge, [], "no shards to merge")
    merge_fails(merge, files[:2], "shard.1: shard 1 of 3 is missing")
    merge_fails(merge, [*files, files[0]], "shard.1: the same shard as .*shard.1")
    others = {
        "other settings": {"settings": ExtractSettings(max_phrase=4)},
        "another number": {"shard": (0, 4)},
    }
    for name, change in others.items():
        other = tmp_path / name
        options = {"settings": ExtractSettings(max_phrase=5), "shard": (0, 3), **change}
        extract_shard(*bitext, other, **options)
        merge_fails(merge, [*files[:2], other], f"{name}: a shard of other input")
    for side in range(3):  # one word is another one, or a pair has other links
        changed = list(bitext)
        changed[side] = tmp_path / "changed"
        first, rest = bitext[side].read_bytes().split(b"\n", 1)
        other_links = b"" if first else b"0-0"
        changed[side].write_bytes((other_links if side == 2 else b"i" + first[1:]) + b"\n" + rest)
        extract_shard(*changed, tmp_path / "other", (0, 3), settings=ExtractSettings(max_phrase=5))
        merge_fails(merge, [*files[:2], tmp_path / "other"], "other: a shard of other input")
    merge_fails(merge, [bitext[0]], "f: not a file of a shard of rule occurrences")
    assert not (tmp_path / "merged").exists()


def test_scored_shards_that_do_not_belong_together(bitext: Bitext, tmp_path: Path) -> None:
    def shard(name: str, numbers: tuple[int, int], counts: str = "counts", **options: object) -> Path:
        score_shard(tmp_path / counts, tmp_path / name, numbers, settings=ScoreSettings(**options))
        return tmp_path / name

    def merge(files: Sequence[Path]) -> object:
        return merge_scored(files, tmp_path / "merged.hrt")

    extract_rules(*bitext, tmp_path / "counts", settings=ExtractSettings(max_phrase=5))
    extract_rules(*bitext, tmp_path / "others", settings=ExtractSettings(max_phrase=4))
    first, second = shard("a", (0, 2)), shard("b", (1, 2))
    merge_fails(merge, [first], "a: shard 2 of 2 is missing")
    merge_fails(merge, [first, shard("c", (1, 2), "others")], "c: a shard of other input")
    merge_fails(merge, [first, shard("d", (1, 2), owner="me")], "d: a shard of other input")
    merge_fails(merge, [first, shard("e", (1, 3))], "e: a shard of other input")
    merge_fails(merge, [first, first, second], "a: the same shard as .*a")
    none = [shard(f"none {k}", (k, 2), min_count=1000) for k in range(2)]
    merge_fails(merge, none, "merged.hrt: the table would have no rules")
    assert not (tmp_path / "merged.hrt").exists()


@pytest.mark.parametrize("kind", ["extracted", "scored"])
def test_damaged_shards_are_found_out(kind: str, tmp_path: Path) -> None:
    bitext = write_bitext(tmp_path, random_pairs(6))
    rng = random.Random(3)
    (file,) = shards_of(bitext, 1)
    if kind == "scored":
        merge_extracted([file], tmp_path / "counts")
        score_shard(tmp_path / "counts", file, (0, 1))

    def merge() -> None:
        if kind == "scored":
            merge_scored([file], tmp_path / "merged")
        else:
            merge_extracted([file], tmp_path / "merged")

    merge()
    (tmp_path / "merged").unlink()
    good = file.read_bytes()
    for position in range(0, len(good), 11):
        bad = bytearray(good)
        bad[position] ^= 1 << rng.randrange(8)
        file.write_bytes(bytes(bad))
        with pytest.raises(FormatError, match=r"shard\.0: "):
            merge()
    for size in (0, 5, 60, len(good) - 1):
        file.write_bytes(good[:size])
        with pytest.raises(FormatError, match=r"shard\.0: "):
            merge()
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize("numbers", [(1, 1), (3, 2), (0, 0)])
def test_shards_that_there_are_not(numbers: tuple[int, int], bitext: Bitext, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a shard has a number below that of all shards"):
        extract_shard(*bitext, tmp_path / "shard", numbers)
    extract_rules(*bitext, tmp_path / "counts")
    with pytest.raises(ValueError, match="a shard has a number below that of all shards"):
        score_shard(tmp_path / "counts", tmp_path / "shard", numbers)
    assert not (tmp_path / "shard").exists()
