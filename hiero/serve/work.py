"""Work of a server on a few threads: bounded in number and in time, and dropped when nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from hiero._core import Deadline

T = TypeVar("T")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds, of the histogram
_NO_TIME = "no processor was free in time: try again in a moment"
_LOOK_EVERY = 0.05  # seconds between two looks whether the client has gone


class BusyError(Exception):
    """Too many requests wait."""


class GoneError(Exception):
    """The client has closed the connection."""


class NotYetError(Exception):
    """No thread was free in time, or a context was not ready."""


class Work:
    """Threads that answer requests, each within ``seconds`` from when it came. ``waiting`` is the most
    requests that wait or run."""

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self.waiting = waiting
        self.seconds = seconds
        self.pending = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="hiero")

    def check(self) -> None:
        """Raises BusyError if no further request may wait."""
        if self.pending >= self.waiting:
            raise BusyError

    async def run(self, request: Request, answer: Callable[[Deadline], T]) -> T:
        """Returns the answer. Raises BusyError, GoneError, NotYetError if no thread was free in time, and
        what ``answer`` raises."""
        self.check()
        deadline = Deadline(self.seconds)

        def work() -> T:
            if deadline.passed:
                raise NotYetError(_NO_TIME)
            return answer(deadline)

        self._count(1)
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._count(-1))  # a thread may go on when nobody waits any more
        answered = asyncio.wrap_future(future)
        answered.add_done_callback(lambda one: one.cancelled() or one.exception())  # nobody may look at it
        while True:
            done, _ = await asyncio.wait({answered}, timeout=_LOOK_EVERY)
            if done:
                return answered.result()
            if deadline.passed and future.cancel():  # unless it runs
                raise NotYetError(_NO_TIME)
            if await request.is_disconnected():
                deadline.expire()
                future.cancel()
                raise GoneError

    def _count(self, change: int) -> None:
        with self._lock:
            self.pending += change

    def close(self) -> None:
        """Waits for what runs, and drops what waits."""
        self._pool.shutdown(cancel_futures=True)


class Metrics:
    """Counts of requests and their times, as text for Prometheus."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._times: Counter[float] = Counter()
        self._seconds = 0.0

    def add(self, path: str, status: int, started: float) -> None:
        """Counts a request that began at this time of ``time.perf_counter``."""
        seconds = time.perf_counter() - started
        self._requests[path, status] += 1
        self._seconds += seconds
        self._times.update(limit for limit in _BUCKETS if seconds <= limit)

    def lines(self, pending: int) -> Iterator[str]:
        """Yields the lines of the text."""
        yield "# HELP hiero_requests_total Requests by path and status."
        yield "# TYPE hiero_requests_total counter"
        for (path, status), count in sorted(self._requests.items()):
            yield f'hiero_requests_total{{path="{path}",status="{status}"}} {count}'
        yield "# HELP hiero_request_seconds Time from request to answer."
        yield "# TYPE hiero_request_seconds histogram"
        total = sum(self._requests.values())
        for limit in _BUCKETS:
            yield f'hiero_request_seconds_bucket{{le="{limit:g}"}} {self._times[limit]}'
        yield f'hiero_request_seconds_bucket{{le="+Inf"}} {total}'
        yield f"hiero_request_seconds_sum {self._seconds:.6f}"
        yield f"hiero_request_seconds_count {total}"
        yield "# HELP hiero_pending_requests Requests that wait or run."
        yield "# TYPE hiero_pending_requests gauge"
        yield f"hiero_pending_requests {pending}"
