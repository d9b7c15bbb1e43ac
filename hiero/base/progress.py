"""The type of functions that report the progress of long work."""

from __future__ import annotations

from collections.abc import Callable

# Arguments: the work ("align: iterations"), the number of units done, and their total, or None if unknown.
Report = Callable[[str, int, int | None], object]
