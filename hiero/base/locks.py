"""Locks that are waited for until a deadline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hiero._core import Deadline

LOOK_EVERY = 0.05  # seconds between two looks at a deadline


@contextmanager
def held(lock: threading.Lock, deadline: Deadline | None, late: Exception) -> Iterator[None]:
    """Holds a lock. Raises ``late`` if the deadline passes before it is free; without one, waits for ever."""
    while not lock.acquire(timeout=-1 if deadline is None else LOOK_EVERY):
        if deadline is not None and deadline.passed:
            raise late
    try:
        yield
    finally:
        lock.release()
