"""Peak memory of a piece of work, with that of the processes it starts; on Linux only."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 0.1  # between two looks at the processes
_PROC = Path("/proc")


class PeakMemory:
    """``megabytes`` (10**6 bytes) is the peak, once the block has ended; None: not known."""

    megabytes: float | None = None

    def _see(self, kilobytes: int | None) -> None:
        if kilobytes is not None:
            self.megabytes = max(self.megabytes or 0.0, kilobytes * 1024 / 1e6)


@contextlib.contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measures resident memory. This process's own peak is exact, the sum with its children's is sampled."""
    peak = PeakMemory()
    ended = threading.Event()
    with contextlib.suppress(OSError):
        Path(_PROC / "self" / "clear_refs").write_text("5")  # the kernel's record of the peak starts anew

    def watch() -> None:
        while not ended.wait(_SECONDS):
            children = [_field(child, "VmRSS") for child in _children()]
            if children:
                peak._see(sum(size or 0 for size in [_field("self", "VmRSS"), *children]))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
        peak._see(_field("self", "VmHWM"))


def _field(process: str, name: str) -> int | None:
    """A size in kB from the status of a process, if it lives."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", (_PROC / process / "status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) if match else None


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
