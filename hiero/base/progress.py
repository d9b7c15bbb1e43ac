"""How those who wait are told how far long work has come."""

from __future__ import annotations

from collections.abc import Callable

# Called with what is done ("align: iterations"), how many are done and, where known, how many there are.
Report = Callable[[str, int, int | None], object]
