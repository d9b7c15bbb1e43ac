"""Logical workers that learn side by side and tell each other what they find.

Who knows what when is fixed by the number of workers and a lag, never by which of them is faster: threads
only carry them. Results are therefore the same on any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


class _Schedule:
    """The order of steps: worker n takes the steps 0 to lengths[n], one after another; see
    ``in_steps``."""

    def __init__(self, lengths: Sequence[int], lag: int | None) -> None:
        self._lengths = lengths
        self._lag = lag
        self._done = [0] * len(lengths)
        self._busy: set[int] = set()
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def take(self) -> tuple[int, int] | None:
        """A step that may be taken, when there is one, the earliest first; None when nothing is left."""
        with self._changed:
            while self._error is None:
                left = [n for n, done in enumerate(self._done) if done <= self._lengths[n]]
                if not left:
                    return None
                ready = [n for n in left if n not in self._busy and self._may(n)]
                if ready:
                    worker = min(ready, key=lambda n: self._done[n])
                    self._busy.add(worker)
                    return worker, self._done[worker]
                self._changed.wait()
            return None

    def _may(self, worker: int) -> bool:
        step = self._done[worker]
        if self._lag is None:
            return True
        if step == self._lengths[worker]:
            return all(done >= length for done, length in zip(self._done, self._lengths, strict=True))
        # Others' steps before that one.
        needed = step - self._lag
        return all(
            done >= min(needed, length) for done, length in zip(self._done, self._lengths, strict=True)
        )

    def finish(self, worker: int) -> int:
        """Says that the worker's step is done, and how many steps all have taken by now."""
        with self._changed:
            self._busy.remove(worker)
            self._done[worker] += 1
            self._changed.notify_all()
            left = [done for n, done in enumerate(self._done) if done <= self._lengths[n]]
            return min(left, default=max(self._done))

    def stop(self, error: BaseException) -> None:
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def check(self) -> None:
        if self._error is not None:
            raise self._error


def in_steps(
    work: Callable[[int, int], object],
    lengths: Sequence[int],
    lag: int | None,
    threads: int,
    passed: Callable[[int], object] = lambda _: None,
) -> None:
    """Calls ``work(n, t)`` for each worker n and t = 0, ..., lengths[n], in order.

    Step t may use what all others did in steps up to t - 1 - lag, the last step, lengths[n], what they did in
    all of theirs but the last; nothing else of theirs is sure to be done. With no lag nobody waits for
    others. ``passed(t)`` is told now and then that all have taken t steps. Raises what work raises.
    """
    schedule = _Schedule(lengths, lag)

    def carry() -> None:
        try:
            while (step := schedule.take()) is not None:
                work(*step)
                passed(schedule.finish(step[0]))
        except BaseException as error:
            schedule.stop(error)

    pool = ThreadPoolExecutor(threads)
    wait = True
    try:
        for future in [pool.submit(carry) for _ in range(threads)]:
            future.result()
        schedule.check()
    except KeyboardInterrupt as interrupt:
        schedule.stop(interrupt)
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait)
