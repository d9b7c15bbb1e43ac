"""Peak resident memory of this process and of those it starts, in MB (10**6 bytes)."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 0.1  # between two looks at the processes
_PROC = Path("/proc")


def peak_megabytes() -> float:
    """The peak of this process, since it began or ``peak_memory`` was entered."""
    # getrusage would count what the parent held when it started this process.
    peak = _size("self", "VmHWM")
    if peak is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


class PeakMemory:
    """``megabytes`` is the peak, once the block has ended."""

    megabytes = 0.0


@contextlib.contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measures the peak within a block. This process's own is exact on Linux, elsewhere that since it began;
    the sum with its children's is sampled, on Linux only."""
    peak = PeakMemory()
    ended = threading.Event()
    with contextlib.suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5")  # the kernel's record of the peak starts anew

    def watch() -> None:
        while not ended.wait(_SECONDS):
            children = [_size(child, "VmRSS") for child in _children()]
            if children:
                total = sum(size or 0.0 for size in [_size("self", "VmRSS"), *children])
                peak.megabytes = max(peak.megabytes, total)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
        peak.megabytes = max(peak.megabytes, peak_megabytes())


def _size(process: str, name: str) -> float | None:
    """A size from the status of a process, if the system tells it and the process lives."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", (_PROC / process / "status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * 1024 / 1e6 if match else None


def _children() -> list[str]:
    mine = str(os.getpid())
    found = []
    with contextlib.suppress(OSError):
        for process in os.listdir(_PROC):
            if process.isdecimal():
                with contextlib.suppress(OSError):  # it has ended meanwhile
                    status = (_PROC / process / "stat").read_text()
                    # "pid (name) state parent ...", where the name may hold anything
                    if status.rpartition(")")[2].split()[1] == mine:
                        found.append(process)
    return found
