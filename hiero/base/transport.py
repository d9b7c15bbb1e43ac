"""The traffic between this process and a cluster of ray: pickled work, items and results, and the functions
that run in the processes of its nodes."""

from __future__ import annotations

import os
import pickle
import platform
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hiero import _core
from hiero.base.parallel import Raised, portable
from hiero.base.text import one_line

# How often work is done again when its process or its node has died, before that is an error.
_RETRIES = 8
# How long an address may take to answer.
_SECONDS = 10.0
# Pieces of work that a process of a node keeps unpacked. A piece may hold a model.
_KEPT = 4


class Transport:
    """A connection to a cluster, and the bytes that have passed it. Several threads may use it at once."""

    def __init__(self, address: str) -> None:
        """Raises Error as ``Cluster`` does."""
        # ray's core logs failures that it has mended; others are raised.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        try:
            import ray
        except ImportError:
            raise _core.Error("a cluster needs ray: pip install 'hiero-mt[cluster]'") from None
        if ray.is_initialized():
            raise _core.Error("this program is connected to ray already")
        self._ray: Any = ray
        self._counting = threading.Lock()
        self.sent = self.received = 0
        try:
            _check_address(address)
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (OSError, ValueError, RuntimeError) as error:
            raise _core.Error(f"no cluster at {address}: {one_line(error)}") from None
        # Made once: each is sent to the cluster by itself.
        retried = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        kept = {"num_cpus": 0, "max_restarts": _RETRIES, "max_task_retries": _RETRIES}
        self._do = ray.remote(**retried)(_do)
        self._part = ray.remote(scheduling_strategy="SPREAD", **kept)(_Part)
        try:
            self._check_nodes()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection."""
        self._ray.shutdown()

    def places(self) -> int:
        """Returns the number of processors of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def width(self) -> int:
        """Returns the number of processors of the smallest node that has any."""
        return min(self._processors(), default=1)

    def machines(self) -> int:
        """Returns how many times as many processors as the smallest node has there are, counting only those
        that are together in a node."""
        width = self.width()
        return max(1, sum(own // width for own in self._processors()))

    def _nodes(self) -> list[dict[str, Any]]:
        """Returns ray's descriptions of the nodes that are alive."""
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _processors(self) -> list[int]:
        """Returns the number of processors of each node that has any."""
        resources = [node["Resources"] for node in self._nodes()]
        return [int(each["CPU"]) for each in resources if each.get("CPU", 0) >= 1]

    def packed(self, content: object) -> bytes:
        """Pickles what is sent, and counts it. Raises Error for what cannot be pickled."""
        data = _pickled(content)
        with self._counting:
            self.sent += len(data)
        return data

    def put(self, content: object) -> Any:
        """Returns a reference to content that travels to a node when it is asked for there. Paths in it may
        be relative to the working directory, which the process of the node goes to."""
        return self._ray.put(self.packed((os.getcwd(), _pickled(content))))

    def start(self, work: Any, items: object, width: int) -> Any:
        """Starts work, which was put, on items at any place with so many processors. Returns a reference to a
        list of results."""
        # In a list a reference stays one, and the process fetches the work only if it does not have it.
        do = self._do if width == 1 else self._do.options(num_cpus=width)
        return do.remote([work], self.packed(items))

    def start_part(self, content: Any) -> Any:
        """Starts an actor with the state of a part, made from content that was put and must be kept: if its
        node dies, the state is made again."""
        return self._part.remote([content])

    def unpacked(self, reference: Any) -> Any:
        """Waits for what is received, and counts it. Raises Error for work that was lost too often."""
        try:
            data = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            is_own = isinstance(error, self._ray.exceptions.RayTaskError)
            how = "failed" if is_own else "was lost several times"
            raise _core.Error(f"work {how} on the cluster: {_cause(error)}") from None
        with self._counting:
            self.received += len(data)
        return pickle.loads(data)

    def cancel(self, reference: Any) -> None:
        """Gives up what was started."""
        with suppress(Exception):
            self._ray.cancel(reference)

    def _check_nodes(self) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        mine = _versions()
        for node in self._nodes():
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"node {node['NodeManagerAddress']}"
            try:
                task = self._ray.remote(num_cpus=0, scheduling_strategy=there)(_versions)
                its = self._ray.get(task.remote())
            except self._ray.exceptions.RayError as error:
                if node["NodeID"] not in [other["NodeID"] for other in self._nodes()]:
                    continue  # it has died meanwhile
                raise _core.Error(f"{name} has no hiero that works: {_cause(error)}") from None
            if its != mine:
                raise _core.Error(f"{name} has {its}, this machine {mine}")


def _pickled(content: object) -> bytes:
    try:
        return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _core.Error(f"cannot be sent to a cluster: {one_line(error)}") from error


def _cause(error: BaseException) -> str:
    """Returns the last line of an exception of ray's, which may hold those of several processes."""
    return str(error).strip().splitlines()[-1]


def _check_address(address: str) -> None:
    """Raises OSError if nothing listens at an address such as ``10.0.0.1:6379``, where ray would wait for
    minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_SECONDS).close()


def _versions() -> str:
    from hiero import __version__

    return f"hiero {__version__}, Python {platform.python_version()}"


def _fetched(reference: Any) -> Any:
    """Returns what ``Transport.put`` was given, in a process of a node. Raises Error for modules that are not
    there."""
    import ray

    folder, content = pickle.loads(ray.get(reference))
    with suppress(OSError):  # a file that is not there says so by itself
        os.chdir(folder)
    try:
        return pickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise _core.Error(f"a node of the cluster: {one_line(error)}") from None


# The pieces of work that this process of a node has unpacked, by their references, the latest last.
_unpacked: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()


def _do(work: Sequence[Any], block: bytes) -> bytes:
    """Does work on a block of items, in a process of a node, up to the first exception."""
    results: list[Any] = []
    try:
        key = work[0].hex()
        if key not in _unpacked:
            _unpacked[key] = _fetched(work[0])
            while len(_unpacked) > _KEPT:
                _unpacked.popitem(last=False)
        for item in pickle.loads(block):
            results.append(_unpacked[key](item))
    except Exception as error:
        results.append(portable(error))
    try:
        return _pickled(results)
    except _core.Error as error:
        return _pickled([portable(error)])


class _Part:
    """The state of a part, in a process of a node, or what making it has raised."""

    def __init__(self, content: Sequence[Any]) -> None:
        self._state: Any = None
        self._error: Raised | None = None
        try:
            make, first, items = _fetched(content[0])
            self._state = make(first, items, 1)
        except Exception as error:
            self._error = portable(error)

    def call(self, content: bytes) -> bytes:
        """Returns the result of a function of the state, or what it has raised."""
        if self._error is not None:
            return _pickled(self._error)
        try:
            function, arguments = pickle.loads(content)
            return _pickled(function(self._state, *arguments))
        except Exception as error:
            return _pickled(portable(error))
