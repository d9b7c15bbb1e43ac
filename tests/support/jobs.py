"""Jobs that tests send to the nodes of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Square:
    """Squares a number, and leaves a file for each time that it did. Fails for a number."""

    folder: Path
    wrong: int = -1
    seconds: float = 0.0

    def __call__(self, number: int) -> int:
        if number == self.wrong:
            raise FileNotFoundError(2, "no such number", str(number))
        time.sleep(self.seconds)
        (self.folder / f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
        return number * number


@dataclass(frozen=True)
class Tell:
    """Takes a moment, and tells with how many threads and in which process."""

    seconds: float

    def __call__(self, number: int, threads: int) -> tuple[int, int, int]:
        time.sleep(self.seconds)
        return number, threads, os.getpid()


def raise_unpicklable(number: int) -> int:
    """Raises an exception that cannot be sent."""

    class OwnError(Exception):
        pass

    raise OwnError(f"number {number}")


def first_and_items(first: int, items: Sequence[int], threads: int) -> tuple[int, list[int], int]:
    """Makes the state of a part."""
    return first, list(items), os.getpid()


def times(state: tuple[int, list[int], int], factor: int) -> tuple[int, list[int], int]:
    """Returns the first number of a part, and its items times a factor; fails for 0."""
    first, items, process = state
    if factor == 0:
        raise ValueError("times nothing")
    return first, [factor * item for item in items], process


def exit_at(wrong: int, parent: int, number: int) -> int:
    """Ends the process that works on a number, unless it is the test's own."""
    if number == wrong and os.getpid() != parent:
        os._exit(3)
    return number


def raise_elsewhere(parent: int, number: int) -> int:
    """Raises an exception that cannot be sent, in all processes but the test's own."""
    return number if os.getpid() == parent else raise_unpicklable(number)


def make_unpicklable(number: int) -> object:
    """Returns what cannot be sent."""
    return lambda: number


def no_part(first: int, items: Sequence[int], threads: int) -> None:
    """Fails to make the state of a part."""
    raise ValueError("no part can be made")
