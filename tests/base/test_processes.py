"""Work on several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import hiero
from hiero.base.processes import _FEW, process_map
from support.jobs import Square, exit_at, raise_elsewhere


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order(processes: int, tmp_path: Path) -> None:
    assert list(process_map(Square(tmp_path), range(40), processes)) == [n * n for n in range(40)]
    used = {path.name.split("-")[1] for path in tmp_path.iterdir()}
    assert len(used) == (1 if processes == 1 else 3) and str(os.getpid()) in used
    assert list(process_map(Square(tmp_path), [], processes)) == []


def test_few_items_need_no_process(tmp_path: Path) -> None:
    assert list(process_map(Square(tmp_path), range(_FEW), 5)) == [n * n for n in range(_FEW)]
    assert {path.name.split("-")[1] for path in tmp_path.iterdir()} == {str(os.getpid())}


@pytest.mark.parametrize("wrong", [2, 9])
def test_errors_come_in_their_turn(wrong: int, tmp_path: Path) -> None:
    results = process_map(Square(tmp_path, wrong), range(20), 2)
    assert [next(results) for _ in range(wrong)] == [n * n for n in range(wrong)]
    with pytest.raises(FileNotFoundError, match="no such number"):
        next(results)

    def broken() -> Iterator[int]:
        yield from range(wrong)
        raise OSError("no more")

    results = process_map(Square(tmp_path), broken(), 2)
    assert [next(results) for _ in range(wrong)] == [n * n for n in range(wrong)]
    with pytest.raises(OSError, match="no more"):
        next(results)


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(hiero.Error, match="a process has died, with exit code 3"):
        list(process_map(partial(exit_at, 8, os.getpid()), range(20), 2))


def test_an_exception_that_cannot_be_sent_is_told() -> None:
    with pytest.raises(hiero.Error, match=f"OwnError: number {_FEW}"):
        list(process_map(partial(raise_elsewhere, os.getpid()), range(20), 2))


def test_processes_end_with_the_map(tmp_path: Path) -> None:
    results = process_map(Square(tmp_path), range(1000), 2)
    for _ in range(20):
        next(results)
    results.close()  # type: ignore[attr-defined]
    used = {path.name.split("-")[1] for path in tmp_path.iterdir()} - {str(os.getpid())}
    assert used
    for process in used:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)
