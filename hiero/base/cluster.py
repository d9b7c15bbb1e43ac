"""Work on a cluster of machines by ray, which schedules, transports and repeats what was lost.

Every node has this package installed, and sees files under the same paths: a model travels as the paths and
fingerprints of its files, which the processes of a node map and so share.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from hiero.base.parallel import Job, MakePart, Parts, Raised, in_blocks, working_on
from hiero.base.transport import Transport

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")

# Blocks of items for each place that are read ahead.
_AHEAD = 3


class Cluster:
    """A running cluster of ray. Decoding and tuning in a ``with`` block are done on it, by all threads of the
    program. The connection ends with the block:

    >>> with hiero.Cluster("auto"):  # doctest: +SKIP
    ...     translations = decoder.translate_batch(lines)
    """

    def __init__(self, address: str = "auto") -> None:
        """Connects to a cluster at an address such as ``auto``, for one that this machine is a node of, or
        ``10.0.0.1:6379``. Raises Error if ray is not installed, there is no cluster, or a node has another
        version of this package or of Python."""
        self._transport = Transport(address)
        self._open = ExitStack()

    def __enter__(self) -> Cluster:
        self._open.enter_context(working_on(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._transport.close()

    @property
    def places(self) -> int:
        """The number of processors of all nodes."""
        return self._transport.places()

    @property
    def machines(self) -> int:
        """The number of machines, each as large as the smallest one."""
        return self._transport.machines()

    @property
    def sent(self) -> int:
        """The bytes of work and items that were sent so far. Work that several nodes fetch counts once."""
        return self._transport.sent

    @property
    def received(self) -> int:
        """The bytes of results so far."""
        return self._transport.received

    def job(self, work: Callable[[T], R]) -> Job[T, R]:
        """Sends work to the cluster. Work, items and results must be plain data that can be pickled. Asked
        for items, it raises what the work raises; Error for work that was lost several times."""
        return _Job(self._transport, work, _AHEAD * self.places)

    def wide(self, work: Callable[[T, int], R], items: Iterable[T]) -> Iterator[R]:
        """Does work on all processors of the smallest machine. Work, items and results are as for ``job``."""
        width = self._transport.width()
        return _Job(self._transport, _Wide(work, width), _AHEAD * self.machines, width).map(items, 1)

    def parts(self, make: MakePart[T, S], items: Sequence[T], block: int) -> Parts:
        """Makes a part for each place, of whole blocks of items."""
        blocks = -(-len(items) // block)
        count = max(1, min(self.places, blocks))
        bounds = [min(len(items), blocks * k // count * block) for k in range(count + 1)]
        parts = [(make, begin, items[begin:end]) for begin, end in pairwise(bounds)]
        return _RayParts(self._transport, parts)


@dataclass(frozen=True)
class _Wide(Generic[T, R]):
    """Work with a number of threads."""

    work: Callable[[T, int], R]
    threads: int

    def __call__(self, item: T) -> R:
        return self.work(item, self.threads)


class _Job(Generic[T, R]):
    """Work that was sent to the cluster once, for many blocks of items, of which so many are read ahead. A
    block takes so many processors of a machine."""

    def __init__(self, transport: Transport, work: Callable[[T], R], ahead: int, width: int = 1) -> None:
        self._transport = transport
        self._width = width
        self._work = transport.put(work)
        self._ahead = ahead

    def __call__(self, item: T) -> R:
        (result,) = self._results(self._start([item]))
        return result

    def map(self, items: Iterable[T], together: int) -> Iterator[R]:
        blocks = in_blocks(items, together)
        pending: deque[Any] = deque()
        error: Exception | None = None  # of reading items, which is raised after all results
        try:
            while True:
                try:
                    while len(pending) < self._ahead and (block := next(blocks, None)) is not None:
                        pending.append(self._start(block))
                except Exception as raised:
                    error = raised
                if not pending:
                    break
                yield from self._results(pending.popleft())
            if error is not None:
                raise error
        finally:
            for reference in pending:
                self._transport.cancel(reference)

    def _start(self, block: list[T]) -> Any:
        return self._transport.start(self._work, block, self._width)

    def _results(self, reference: Any) -> Iterator[R]:
        """Yields results, and raises what work has raised in its turn."""
        for result in self._transport.unpacked(reference):
            if isinstance(result, Raised):
                raise result.error
            yield result


class _RayParts:
    """Parts in processes of nodes, which end when nothing refers to this any more."""

    def __init__(self, transport: Transport, parts: Sequence[object]) -> None:
        self._transport = transport
        self._contents = [transport.put(part) for part in parts]
        self._actors = [transport.start_part(content) for content in self._contents]

    def call(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        packed = self._transport.packed((function, arguments))
        asked = [actor.call.remote(packed) for actor in self._actors]
        results = [self._transport.unpacked(reference) for reference in asked]
        for result in results:
            if isinstance(result, Raised):
                raise result.error
        return results
