"""What every benchmark says of where it ran."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import hiero


def machine() -> str:
    """Processor, cores, system and version in one line."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].split(":", 1)[1].strip() if names else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.platform()}, hiero {hiero.__version__}"
