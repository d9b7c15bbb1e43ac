"""Work on several threads or on a cluster, with results in the order of the input.

``ordered_map`` is for work that shares the memory of this process. ``spread_map``, ``SpreadJob``,
``spread_parts`` and, for work that has threads of its own, ``spread_wide`` are for work that may leave it:
within ``working_on`` a cluster they do it there, and otherwise on threads. Callers cannot tell the
difference, but for what they pass: work, items and results must be plain data that can be pickled, such as a
frozen dataclass with ``__call__``.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from hiero import _core
from hiero.base.text import one_line

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)

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


def in_blocks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields items in lists of so many; the last may have fewer, and so has the one before an exception that
    reading the items raises."""
    block: list[T] = []
    try:
        for item in items:
            block.append(item)
            if len(block) == size:
                yield block
                block = []
    except Exception:
        if block:
            yield block
        raise
    if block:
        yield block


class Parts(Protocol):
    """A sequence of items in several parts, one after the other, each with a state that stays where it was
    made. If a place is lost, the state is made again at another one: calls must not change it."""

    def call(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """Returns ``function(state, *arguments)`` of each part, in order."""


# Makes the state of a part: of the number of its first item, its items, and threads to use.
MakePart = Callable[[int, Sequence[T], int], S]


class Job(Protocol[In, Out]):
    """Work that was sent to where it is done. Several threads may ask for items at once."""

    def __call__(self, item: In) -> Out:
        """Returns the result of an item."""

    def map(self, items: Iterable[In], together: int) -> Iterator[Out]:
        """Yields the results of items, in order, of which so many go to a place together."""


class Engine(Protocol):
    """Places in other processes where work is done. Lost work is done again at another place."""

    @property
    def places(self) -> int:
        """The number of pieces of work that are done at the same time."""

    @property
    def machines(self) -> int:
        """The number of pieces of work of several threads that are done at the same time."""

    def job(self, work: Callable[[T], R]) -> Job[T, R]:
        """Sends work, which is then done for items."""

    def wide(self, work: Callable[[T, int], R], items: Iterable[T]) -> Iterator[R]:
        """Does as ``spread_wide`` does."""

    def parts(self, make: MakePart[T, S], items: Sequence[T], block: int) -> Parts:
        """Does as ``spread_parts`` does."""


_engine: Engine | None = None


@contextmanager
def working_on(engine: Engine | None) -> Iterator[None]:
    """Has work of all threads that may leave the process done by an engine, or by none, until the block
    ends."""
    global _engine
    before, _engine = _engine, engine
    try:
        yield
    finally:
        _engine = before


def places(threads: int) -> int:
    """Returns how many pieces of work are done at the same time: on so many threads, or on a cluster."""
    return threads if _engine is None else _engine.places


def is_spread() -> bool:
    """Tells whether work that may leave this process does."""
    return _engine is not None


def spread_map(work: Callable[[T], R], items: Iterable[T], threads: int, together: int = 1) -> Iterator[R]:
    """Yields ``work(item)`` for every item, in order, as ``ordered_map`` does. On a cluster, so many items go
    to a place together: for short work, several."""
    return SpreadJob(work).map(items, threads, together)


def machines() -> int:
    """Returns how many pieces of work of several threads are done at the same time."""
    return 1 if _engine is None else _engine.machines


def spread_wide(work: Callable[[T, int], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Yields ``work(item, threads)`` for every item, in order, one item after the other. On a cluster several
    machines work on items, each with the number of threads that it has."""
    if _engine is None:
        return (work(item, threads) for item in items)
    return _engine.wide(work, items)


class SpreadJob(Generic[T, R]):
    """Work that is done again and again, on single items, which several threads may ask for at once, or on
    many. On a cluster the work is sent once, before its first item."""

    def __init__(self, work: Callable[[T], R]) -> None:
        self._work = work
        self._sending = threading.Lock()
        self._sent: tuple[Engine, Job[T, R]] | None = None

    def __call__(self, item: T) -> R:
        """Returns the result of an item."""
        return self._work(item) if _engine is None else self._job(_engine)(item)

    def map(self, items: Iterable[T], threads: int, together: int = 1) -> Iterator[R]:
        """Yields the results of items as ``spread_map`` does."""
        if _engine is None:
            return ordered_map(self._work, items, threads)
        return self._job(_engine).map(items, together)

    def _job(self, engine: Engine) -> Job[T, R]:
        with self._sending:
            if self._sent is None or self._sent[0] is not engine:
                self._sent = engine, engine.job(self._work)
            return self._sent[1]


def spread_parts(make: MakePart[T, S], items: Sequence[T], block: int, threads: int) -> Parts:
    """Divides items into parts of whole blocks, and makes the state of each where it stays. Without a cluster
    there is one part."""
    return _Whole(make(0, items, threads)) if _engine is None else _engine.parts(make, items, block)


@dataclass(frozen=True)
class _Whole(Generic[S]):
    """All items as one part, in this process."""

    state: S

    def call(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        return [function(self.state, *arguments)]


@dataclass(frozen=True)
class Raised:
    """The exception that work in another process, or reading its items, has raised."""

    error: BaseException


def portable(error: Exception) -> Raised:
    """Returns an exception that can be sent: itself, or an Error with its message."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return Raised(error)
    except Exception:
        pass
    return Raised(_core.Error(f"{type(error).__name__}: {one_line(error)}"))
