"""Tests of blocks of arrays on disk: reading returns what was written, or raises FormatError for a damaged
file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiero import FormatError
from hiero.base.arrays import load_arrays, save_arrays
from hiero.evaluate import Bleu
from hiero.tune import TuneOptions, tune
from hiero.tune.methods.mira.online import load_pass
from hiero.tune.pool.blocks import load_block
from support.synthetic_decoder import solvable

SENTENCES, FEATURES, WORKERS = 12, 4, 3


def run(folder: Path, method: str = "mira", **options: Any) -> Any:
    decoder, references = solvable(5, (1.0, -0.5, 2.0, 0.25), sentences=SENTENCES, size=10)
    start = dict.fromkeys(decoder.feature_names, 1.0)
    return tune(decoder, Bleu(references), start, folder, TuneOptions(method, iterations=3, **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def mira(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays") / "run"
    run(folder, workers=WORKERS)
    return folder


def pass_arrays(path: Path) -> list[list[float]]:
    """Reads all arrays of a pass of MIRA."""
    workers, average = load_pass(path, np.ones(FEATURES), WORKERS)
    documents = [[*worker.document.counts, worker.document.source] for worker in workers]
    return [average.tolist(), *(worker.weights.current.tolist() for worker in workers), *documents]


def block_arrays(path: Path) -> list[Any]:
    block = load_block(path, SENTENCES, FEATURES, 10)
    arrays = block.arrays
    features = [part.tolist() for part in (arrays.features.data, arrays.features.indices)]
    return [
        block.instances.tolist(),
        arrays.offsets.tolist(),
        arrays.statistics.tolist(),
        arrays.features.indptr.tolist(),
        *features,
    ]


def count_refused(path: Path, read: Callable[[Path], Any], folder: Path, count: int) -> int:
    """Flips single bits of a file, ``count`` times, and returns how often reading fails. Otherwise the
    contents must be the same."""
    content, expected, rng = path.read_bytes(), read(path), random.Random(count)
    damaged = folder / path.name
    refused = 0
    for _ in range(count):
        damaged_content, bit = bytearray(content), rng.randrange(8 * len(content))
        damaged_content[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(damaged_content)
        try:
            assert read(damaged) == expected
        except FormatError as error:
            assert str(error).startswith(f"{damaged}: damaged"), error
            refused += 1
    return refused


KINDS = {"pass": ("pass-001.npz", pass_arrays), "pool": ("iteration-000/new.npz", block_arrays)}


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_bit_that_flips(mira: Path, tmp_path: Path, kind: str, count: int) -> None:
    name, read = KINDS[kind]
    assert len({str(row) for row in read(mira / name)}) > 2
    # The checksum covers all bytes, so every flip must be noticed.
    assert count_refused(mira / name, read, tmp_path, count) == count


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_short_or_of_another_kind(mira: Path, tmp_path: Path, kind: str) -> None:
    name, read = KINDS[kind]
    content = (mira / name).read_bytes()
    path = tmp_path / "some.npz"
    for damaged_content in (
        b"",
        content[:-1],
        content[: len(content) // 2],
        content[:-32],
        content + b"\0",
        b"PK" * 100,
    ):
        path.write_bytes(damaged_content)
        with pytest.raises(FormatError, match=r"some\.npz: damaged, or of another version: wrong checksum"):
            read(path)


@pytest.mark.parametrize(
    "change",
    [{"weights": np.ones((WORKERS, 1))}, {"documents": np.ones((WORKERS, 10))}, {"ids": [FEATURES]}],
)
def test_a_pass_of_another_run(tmp_path: Path, change: dict[str, Any]) -> None:
    """The checksum matches, but the run cannot continue with these arrays."""
    arrays = {"ids": [0], "weights": np.ones((WORKERS + 1, 1)), "documents": np.ones((WORKERS, 11))}
    path = tmp_path / "some.npz"
    save_arrays(path, **arrays)
    assert len(pass_arrays(path)) == 1 + 2 * WORKERS
    save_arrays(path, **{**arrays, **change})
    for read in (pass_arrays, block_arrays):
        with pytest.raises(FormatError, match=r"some\.npz: damaged, or of another version: (?!wrong ch)"):
            read(path)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with (
        pytest.raises(FormatError, match=r"a\.npz: missing; delete the folder"),
        load_arrays(tmp_path / "a.npz", "delete the folder"),
    ):
        pass


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", objects=np.array([{}, []], dtype=object))
    with (
        pytest.raises(FormatError, match=r"a\.npz: damaged.*allow_pickle"),
        load_arrays(tmp_path / "a.npz", ""),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "before", "deleted"),
    [
        ("iteration-000/new.npz", (), "iteration-000"),
        ("pass-001.npz", ("iteration-002",), "pass-001.npz"),
    ],
)
def test_what_to_do_about_damage_helps(
    mira: Path, tmp_path: Path, name: str, before: tuple[str, ...], deleted: str
) -> None:
    """The run makes the deleted files again and ends with the same result."""
    folder = tmp_path / "run"
    shutil.copytree(mira, folder)
    for directory in before:
        shutil.rmtree(folder / directory)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:100])
    with pytest.raises(FormatError, match=rf"{folder / name}: damaged.*; delete (it|{folder / deleted}),"):
        run(folder, workers=WORKERS)
    if (folder / deleted).is_dir():
        shutil.rmtree(folder / deleted)
    else:
        (folder / deleted).unlink()
    run(folder, workers=WORKERS)
    for file in (name, "weights.txt"):
        assert (folder / file).read_bytes() == (mira / file).read_bytes()
