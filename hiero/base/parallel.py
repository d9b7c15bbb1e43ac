"""Work on several threads, with results in the order of the input."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# The number of items per thread that are read ahead.
_AHEAD = 4


def processors() -> int:
    """Returns how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on this system
        return os.cpu_count() or 1


@dataclass(frozen=True)
class _End:
    """The end of the results. ``error`` is the exception that reading the items raised, if any."""

    error: BaseException | None


class _Feeder(Generic[T, R]):
    """A thread that reads items and submits them to the pool, at most ``places`` items ahead.

    A result can be taken before the next item arrives.
    """

    def __init__(
        self, work: Callable[[T], R], items: Iterable[T], pool: ThreadPoolExecutor, places: int
    ) -> None:
        self._futures: queue.SimpleQueue[Future[R] | _End] = queue.SimpleQueue()
        self._places = threading.Semaphore(places)
        self._stopped = threading.Event()
        threading.Thread(target=self._feed, args=(work, items, pool), daemon=True).start()

    def _feed(self, work: Callable[[T], R], items: Iterable[T], pool: ThreadPoolExecutor) -> None:
        error: BaseException | None = None
        try:
            for item in items:
                self._places.acquire()
                if self._stopped.is_set():
                    return
                self._futures.put(pool.submit(work, item))
        except BaseException as raised:
            error = raised
        self._futures.put(_End(error))

    def take(self) -> Future[R] | _End:
        future = self._futures.get()
        self._places.release()
        return future

    def stop(self) -> None:
        self._stopped.set()
        self._places.release()
        while not self._futures.empty():
            future = self._futures.get()
            if isinstance(future, Future):
                future.cancel()


def ordered_map(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Yields ``work(item)`` for every item, computed on several threads, in the order of the items.

    Only a few items per thread are in memory at once. Raises ValueError if ``threads`` is less than 1.
    Exceptions of ``work`` and of reading the items are raised when their turn comes.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    pool = ThreadPoolExecutor(threads)
    feeder = _Feeder(work, items, pool, _AHEAD * threads)
    # After an interrupt, work that other threads have begun is not waited for.
    wait = True
    try:
        while not isinstance(future := feeder.take(), _End):
            yield future.result()
        if future.error is not None:
            raise future.error
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        feeder.stop()
        pool.shutdown(wait=wait, cancel_futures=not wait)
