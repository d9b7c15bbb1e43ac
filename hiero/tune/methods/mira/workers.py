"""Logical workers that run side by side and use each other's results.

Which results a worker may use in a step follows from the number of workers and a lag, never from which worker
is faster. Threads only execute the steps, so that results are the same on any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


class _Schedule:
    """The order of steps: worker n takes the steps 0 to lengths[n], one after another; see
    ``run_workers``."""

    def __init__(self, lengths: Sequence[int], lag: int | None) -> None:
        self._lengths = lengths
        self._lag = lag
        self._done = [0] * len(lengths)
        self._busy: set[int] = set()
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def take(self) -> tuple[int, int] | None:
        """Waits for a step that may be taken, and returns its worker and number, the earliest step first;
        None if no step is left or a worker has failed."""
        with self._changed:
            while self._error is None:
                unfinished = [n for n, done in enumerate(self._done) if done <= self._lengths[n]]
                if not unfinished:
                    return None
                ready = [n for n in unfinished if n not in self._busy and self._may_step(n)]
                if ready:
                    worker = min(ready, key=lambda n: self._done[n])
                    self._busy.add(worker)
                    return worker, self._done[worker]
                self._changed.wait()
            return None

    def _may_step(self, worker: int) -> bool:
        """Tells whether the results that the worker's next step uses are there."""
        step = self._done[worker]
        if self._lag is None:
            return True
        if step == self._lengths[worker]:
            return all(done >= length for done, length in zip(self._done, self._lengths, strict=True))
        # The number of steps that the others must have taken.
        needed = step - self._lag
        return all(
            done >= min(needed, length) for done, length in zip(self._done, self._lengths, strict=True)
        )

    def finish(self, worker: int) -> int:
        """Records that the worker's step is done, and returns the number of steps that all have taken."""
        with self._changed:
            self._busy.remove(worker)
            self._done[worker] += 1
            self._changed.notify_all()
            unfinished = [done for n, done in enumerate(self._done) if done <= self._lengths[n]]
            return min(unfinished, default=max(self._done))

    def stop(self, error: BaseException) -> None:
        """Lets no worker take a further step."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def check(self) -> None:
        """Raises the first exception of a worker."""
        if self._error is not None:
            raise self._error


def run_workers(
    work: Callable[[int, int], object],
    lengths: Sequence[int],
    lag: int | None,
    threads: int,
    all_passed: Callable[[int], object] = lambda _: None,
) -> None:
    """Calls ``work(n, t)`` for each worker n and each step t = 0, ..., lengths[n], in order.

    Step t may use results of all other workers' steps up to t - 1 - lag, and the last step, lengths[n], those
    of all their steps but the last; no other results are sure to be there. Without a lag no worker waits.
    ``all_passed(t)`` is called from time to time, when all workers have taken t steps. Raises what ``work``
    raises.
    """
    schedule = _Schedule(lengths, lag)

    def execute() -> None:
        try:
            while (step := schedule.take()) is not None:
                work(*step)
                all_passed(schedule.finish(step[0]))
        except BaseException as error:
            schedule.stop(error)

    pool = ThreadPoolExecutor(threads)
    wait = True
    try:
        for future in [pool.submit(execute) for _ in range(threads)]:
            future.result()
        schedule.check()
    except KeyboardInterrupt as interrupt:
        schedule.stop(interrupt)
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait)
