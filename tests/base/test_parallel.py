"""Tests of the ordered parallel map. How far it reads ahead is tested with decoders."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from hiero.base.parallel import ordered_map


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads: int) -> None:
    def work(number: int) -> int:
        time.sleep(0.002 * (number % 3 == 0))
        return number * number

    assert list(ordered_map(work, range(50), threads)) == [n * n for n in range(50)]
    assert list(ordered_map(work, [], threads)) == []


def test_work_is_done_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=20)
    assert list(ordered_map(lambda _: together.wait() >= 0, range(3), 3)) == [True] * 3


def test_a_result_is_out_before_the_next_item_is_in() -> None:
    asked = threading.Semaphore(0)

    def items() -> Iterator[int]:
        yield 1
        assert asked.acquire(timeout=20)
        yield 2

    results = ordered_map(str, items(), 1)
    assert next(results) == "1"
    asked.release()
    assert list(results) == ["2"]


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_come_in_their_turn(threads: int) -> None:
    results = ordered_map(lambda n: 6 // n, [1, 2, 0, 3], threads)
    assert [next(results), next(results)] == [6, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)

    def broken() -> Iterator[int]:
        yield from (1, 2)
        raise OSError("no more")

    results = ordered_map(str, broken(), threads)
    assert [next(results), next(results)] == ["1", "2"]
    with pytest.raises(OSError, match="no more"):
        next(results)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        next(ordered_map(str, [1], 0))


def test_who_has_enough_waits_for_no_endless_stream() -> None:
    before = threading.active_count()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    results = ordered_map(str, endless(), 2)
    assert next(results) == "1"
    results.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
