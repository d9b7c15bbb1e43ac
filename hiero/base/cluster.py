"""Work on a cluster of machines by ray, which schedules, transports and repeats what was lost.

Every node has this package installed, and sees files under the same paths: a model travels as the paths and
fingerprints of its files, which the processes of a node map and so share.
"""

from __future__ import annotations

import pickle
import platform
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from hiero import _core
from hiero.base.parallel import MakePart, Parts
from hiero.base.text import one_line

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")

# Blocks of items for each place that are read ahead.
_AHEAD = 3
# How often work is done again when its process or its node has died, before that is an error.
_RETRIES = 8
# Pieces of work that a process keeps unpacked. A piece may hold a model.
_KEPT = 4


class Cluster:
    """A running cluster of ray.

    ``sent`` and ``received`` are the bytes of work, items and results so far.
    """

    def __init__(self, address: str = "auto") -> None:
        """Connects to a cluster at an address such as ``auto``, for one that this machine is a node of, or
        ``10.0.0.1:6379``. Raises Error if ray is not installed, there is no cluster, or a node has another
        version of this package or of Python."""
        try:
            import ray
        except ImportError:
            message = "a cluster needs ray: pip install 'hiero-mt[cluster]'"
            raise _core.Error(message) from None
        self._ray: Any = ray
        self.sent = self.received = 0
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _core.Error(f"no cluster at {address}: {one_line(error)}") from None
        self._check_nodes()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    @property
    def places(self) -> int:
        """The number of processors of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, work: Callable[[T], R], items: Iterable[T], together: int) -> Iterator[R]:
        """Yields ``work(item)`` for every item, in order."""
        job = _Job(self, work)
        pending: deque[Any] = deque()
        blocks = _blocks(items, together)
        try:
            ended = False
            while pending or not ended:
                while not ended and len(pending) < _AHEAD * self.places:
                    block = next(blocks, None)
                    if block is None:
                        ended = True
                    else:
                        pending.append(block if isinstance(block, _Raised) else job.start(block))
                if pending:
                    first = pending.popleft()
                    results = [first] if isinstance(first, _Raised) else job.results(first)
                    for result in results:
                        if isinstance(result, _Raised):
                            raise result.error
                        yield result
        finally:
            for reference in pending:
                if not isinstance(reference, _Raised):
                    with suppress(Exception):
                        self._ray.cancel(reference)

    def job(self, work: Callable[[T], R]) -> Callable[[T], R]:
        """Sends work to the cluster, and returns a function that does it there."""
        job = _Job(self, work)

        def call(item: T) -> R:
            (result,) = job.results(job.start([item]))
            if isinstance(result, _Raised):
                raise result.error
            return result

        return call

    def parts(self, make: MakePart[T, S], items: Sequence[T], block: int) -> Parts:
        """Makes a part for each place, of whole blocks of items."""
        blocks = -(-len(items) // block)
        count = max(1, min(self.places, blocks))
        bounds = [min(len(items), blocks * k // count * block) for k in range(count + 1)]
        made = [self._start_part(make, begin, items[begin:end]) for begin, end in pairwise(bounds)]
        return _RayParts(self, made)

    def _start_part(self, make: MakePart[T, S], first: int, items: Sequence[T]) -> tuple[Any, Any]:
        # The reference is kept as long as the part: if its node dies, the part is made again from what it
        # refers to.
        content = self.put(self.packed((make, first, items)))
        options = {"num_cpus": 0, "max_restarts": _RETRIES, "max_task_retries": _RETRIES}
        part = self._ray.remote(scheduling_strategy="SPREAD", **options)(_Part)
        return part.remote([content]), content

    def packed(self, content: object) -> bytes:
        """Pickles what is sent, and counts it."""
        data = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
        self.sent += len(data)
        return data

    def unpacked(self, reference: Any) -> Any:
        """Waits for what is received, and counts it. Raises Error if it was lost too often."""
        try:
            data = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            raise _core.Error(f"lost {_RETRIES + 1} times on the cluster: {_cause(error)}") from None
        self.received += len(data)
        return pickle.loads(data)

    def start(self, function: Callable[..., bytes], *arguments: object) -> Any:
        """Starts a function at any place, and returns the reference to its result."""
        options = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        return self._ray.remote(**options)(function).remote(*arguments)

    def put(self, content: bytes) -> Any:
        """Returns the reference to bytes that travel to every node once."""
        return self._ray.put(content)

    def _check_nodes(self) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        mine = _versions()
        for node in self._ray.nodes():
            if not node["Alive"]:
                continue
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"node {node['NodeManagerAddress']}"
            try:
                task = self._ray.remote(num_cpus=0, scheduling_strategy=there)(_versions)
                its = self._ray.get(task.remote())
            except self._ray.exceptions.RayError as error:
                raise _core.Error(f"{name} has no hiero that works: {_cause(error)}") from None
            if its != mine:
                raise _core.Error(f"{name} has {its}, this machine {mine}")


def _cause(error: BaseException) -> str:
    """Returns the last line of an exception of ray's, which may hold those of several processes."""
    return str(error).strip().splitlines()[-1]


def _versions() -> str:
    from hiero import __version__

    return f"hiero {__version__}, Python {platform.python_version()}"


@dataclass(frozen=True)
class _Raised:
    """The exception that a piece of work, or reading its items, has raised."""

    error: BaseException


def _blocks(items: Iterable[T], size: int) -> Iterator[list[T] | _Raised]:
    """Yields items in blocks, and at last the exception that reading them has raised, if any."""
    block: list[T] = []
    try:
        for item in items:
            block.append(item)
            if len(block) == size:
                yield block
                block = []
    except Exception as error:
        if block:
            yield block
        yield _Raised(error)
        return
    if block:
        yield block


class _Job(Generic[T, R]):
    """Work that was sent to the cluster once, for many blocks of items."""

    def __init__(self, cluster: Cluster, work: Callable[[T], R]) -> None:
        self._cluster = cluster
        self._work = cluster.put(cluster.packed(work))

    def start(self, block: list[T]) -> Any:
        # In a list the reference stays one, and the process fetches the work only if it does not have it.
        return self._cluster.start(_do, [self._work], self._cluster.packed(block))

    def results(self, reference: Any) -> list[R | _Raised]:
        results: list[R | _Raised] = self._cluster.unpacked(reference)
        return results


# The pieces of work that this process of a node has unpacked, by their references, the latest last.
_unpacked: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()


def _do(work: Sequence[Any], block: bytes) -> bytes:
    """Does work on a block of items, in a process of a node, up to the first exception."""
    import ray

    results: list[Any] = []
    try:
        key = work[0].hex()
        if key not in _unpacked:
            _unpacked[key] = pickle.loads(ray.get(work[0]))
            while len(_unpacked) > _KEPT:
                _unpacked.popitem(last=False)
        for item in pickle.loads(block):
            results.append(_unpacked[key](item))
    except Exception as error:
        results.append(_raised(error))
    return pickle.dumps(results, pickle.HIGHEST_PROTOCOL)


def _raised(error: Exception) -> _Raised:
    """Returns an exception that can travel: itself, or an Error with its message."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return _Raised(error)
    except Exception:
        pass
    return _Raised(_core.Error(f"{type(error).__name__}: {one_line(error)}"))


class _Part:
    """The state of a part, in a process of a node."""

    def __init__(self, content: Sequence[Any]) -> None:
        import ray

        make, first, items = pickle.loads(ray.get(content[0]))
        self._state = make(first, items, 1)

    def call(self, content: bytes) -> bytes:
        function, arguments = pickle.loads(content)
        try:
            result = function(self._state, *arguments)
        except Exception as error:
            result = _raised(error)
        return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


class _RayParts:
    """Parts in processes of nodes, which end when nothing refers to this any more."""

    def __init__(self, cluster: Cluster, parts: Sequence[tuple[Any, Any]]) -> None:
        """``parts`` are actors of ray, each with a reference to what it is made from."""
        self._cluster = cluster
        self._parts = parts

    def call(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        content = [self._cluster.packed((function, arguments)) for _ in self._parts]
        references = [part.call.remote(data) for (part, _), data in zip(self._parts, content, strict=True)]
        results = [self._cluster.unpacked(reference) for reference in references]
        for result in results:
            if isinstance(result, _Raised):
                raise result.error
        return results
