"""Memory as users write it and as the system counts it."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

import typer

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_memory(text: str) -> int:
    """Bytes of `64M`, `4G`, ..."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    if not match or int(match[1]) == 0:
        raise typer.BadParameter(f"{text!r}: expected a size such as 64M or 4G")
    return int(match[1]) * _UNITS[match[2]]


def peak_megabytes() -> float:
    """Peak resident memory of this process in MB (10**6 bytes)."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what the parent held when it started this process.
        match = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if match:
            return int(match[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
