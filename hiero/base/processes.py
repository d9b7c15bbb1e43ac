"""Work in Python on several processes, as threads share the lock of the interpreter.

Each thread of an ordered map has a process of its own, which gets work and items as plain data by a pipe. The
process imports this package, not the program that calls it, and ends when its pipe does.
"""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, Generic, TypeVar

from hiero import _core
from hiero.base.parallel import Raised, is_spread, ordered_map, portable, spread_map

T = TypeVar("T")
R = TypeVar("R")

# The first items, which are worked on in this process: starting another one takes longer.
_FEW = 4
_SERVE = "from hiero.base.processes import serve; serve()"
_LENGTH = 8  # bytes that say how long a message is


def process_map(work: Callable[[T], R], items: Iterable[T], processes: int) -> Iterator[R]:
    """Yields ``work(item)`` for every item, in order. Work, items and results must be plain data that can be
    pickled. On a cluster it is done there; the first few items, and all with one process, are worked on here.
    Exceptions are raised in their turn; Error if a process has died."""
    if is_spread():
        yield from spread_map(work, items, processes)
        return
    if processes == 1:
        yield from map(work, items)
        return
    rest = iter(items)
    yield from map(work, itertools.islice(rest, _FEW))
    workers = _Processes(work)
    try:
        yield from ordered_map(workers, rest, processes)
    finally:
        workers.stop()


def elsewhere(work: Callable[[T], R], item: T) -> R:
    """Returns ``work(item)``, done in a process of its own, which leaves this one's memory as it is. Work,
    item and result must be plain data. Raises what work raises; Error if the process has died."""
    worker: _Processes[T, R] = _Processes(work)
    try:
        return worker(item)
    finally:
        worker.stop()


class _Processes(Generic[T, R]):
    """Work that each thread has a process of its own for."""

    def __init__(self, work: Callable[[T], R]) -> None:
        self._work = pickle.dumps(work)
        self._own = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    def __call__(self, item: T) -> R:
        if not hasattr(self._own, "process"):
            self._own.process = self._start()
        process = self._own.process
        try:
            _send(process.stdin, pickle.dumps(item))
            answer = _receive(process.stdout)
        except OSError:
            answer = None
        if answer is None:
            raise _core.Error(f"a process has died, with exit code {process.wait()}")
        result = pickle.loads(answer)
        if isinstance(result, Raised):
            raise result.error
        return result  # type: ignore[no-any-return]

    def _start(self) -> subprocess.Popen[bytes]:
        # The process finds this package where this one did, and not in the working directory.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )
        self._started.append(process)
        assert process.stdin is not None
        with suppress(OSError):  # whoever asks it next finds that it has died
            _send(process.stdin, self._work)
        return process

    def stop(self) -> None:
        """Ends all processes."""
        for process in self._started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def serve() -> None:
    """Does the work that standard input brings, until that ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what work prints is no answer
    message = _receive(source)
    work: Callable[[Any], Any] | None = None
    while (item := _receive(source)) is not None:
        try:
            if work is None:
                assert message is not None
                work = pickle.loads(message)
            answer = pickle.dumps(work(pickle.loads(item)))
        except Exception as error:
            answer = pickle.dumps(portable(error))
        try:
            _send(target, answer)
        except BrokenPipeError:  # whoever asked is gone
            os._exit(0)


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH, "little"))
    pipe.write(message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """Returns the next message, or None if the pipe has ended."""
    head = pipe.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    message = pipe.read(size := int.from_bytes(head, "little"))
    return message if len(message) == size else None
