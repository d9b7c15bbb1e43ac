"""Sizes of memory as users write them, such as 64M and 4G, and times as they read them."""

from __future__ import annotations

import re

import typer

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def memory_text(size: int) -> str:
    """Writes a size in bytes in its greatest whole unit, as ``parse_memory`` reads it."""
    unit = next(unit for unit in reversed(_UNITS) if size % _UNITS[unit] == 0)
    return f"{size // _UNITS[unit]}{unit}"


def parse_memory(text: str) -> int:
    """Returns the bytes of a size such as 64M or 4G. Raises BadParameter."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    size = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 0 < size < 1 << 63:
        raise typer.BadParameter(f"{text!r}: expected a size such as 64M or 4G")
    return size


def duration(seconds: float) -> str:
    """Writes a time in words that suit its length, such as 0.4 s, 12 s, 3 min or 2 h 05 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
