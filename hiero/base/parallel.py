"""Work on several threads whose results come in order."""

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

# Items that are read ahead of the results, by thread.
_AHEAD = 4


def processors() -> int:
    """How many of them this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


@dataclass(frozen=True)
class _End:
    """No more results; `error` is what reading the items raised."""

    error: BaseException | None


class _Feeder(Generic[T, R]):
    """A thread that hands items over as they come, as many ahead as there are places, so that a result is out
    before the next item is in."""

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
    """``work`` of every item, on so many threads; results in the order of the items, of which a few per
    thread are in memory at once.

    Raises ValueError for less than one thread, and, in their turn, what work and reading the items raise.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    pool = ThreadPoolExecutor(threads)
    feeder = _Feeder(work, items, pool, _AHEAD * threads)
    # Whoever wants to stop need not wait for what other threads have begun.
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
