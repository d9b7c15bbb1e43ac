"""Peak resident memory of this process and its child processes, in MB (10**6 bytes)."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 0.1  # between two samples
_PROC = Path("/proc")


def peak_megabytes() -> float:
    """Returns the peak of this process since it began, or since ``peak_memory`` was entered."""
    # getrusage would include the memory of the parent process at the time of the fork.
    peak = _size("self", "VmHWM")
    if peak is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


class PeakMemory:
    """The peak memory of a block in ``megabytes``, set when the block ends."""

    megabytes = 0.0


# The peaks of blocks that have not ended, the outer ones first.
_measured: list[PeakMemory] = []


@contextlib.contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measures the peak memory within a block, which may hold other such blocks.

    On Linux the peak of this process is exact, and the sum with its children is sampled. On other systems
    the result is the peak of this process since it began.
    """
    peak = PeakMemory()
    ended = threading.Event()
    _note_peak(peak_megabytes())  # the kernel's record of the blocks around this one, which ends here
    _measured.append(peak)
    with contextlib.suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5")  # resets the kernel's record of the peak

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
        _note_peak(max(peak.megabytes, peak_megabytes()))
        _measured.remove(peak)


def _note_peak(megabytes: float) -> None:
    for peak in _measured:
        peak.megabytes = max(peak.megabytes, megabytes)


def _size(process: str, name: str) -> float | None:
    """Returns a size from the status of a process, or None if the system or the process does not exist."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", (_PROC / process / "status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * 1024 / 1e6 if match else None


def _children() -> list[str]:
    mine = str(os.getpid())
    children = []
    with contextlib.suppress(OSError):
        for process in os.listdir(_PROC):
            if process.isdecimal():
                with contextlib.suppress(OSError):  # the process has ended
                    status = (_PROC / process / "stat").read_text()
                    # The line is "pid (name) state parent ...", and the name may contain anything.
                    if status.rpartition(")")[2].split()[1] == mine:
                        children.append(process)
    return children
