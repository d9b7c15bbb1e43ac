"""The command line that tunes the French system."""

from __future__ import annotations

from pathlib import Path

from support.tuning import takes_k


def arguments(folder: Path, output: Path, method: str = "mert", *more: object) -> list[str]:
    sets = ("--source", folder / "source", "--references", folder / "references")
    size = ("-k", 20) if takes_k(method) else ()
    if "--span-limit" not in more:  # chosen limits are printed with times, and tested by themselves
        more = ("--span-limit", 10, *more)
    command = ("tune", folder / "model", "--method", method, *sets, "--output", output, *size, *more)
    return [str(part) for part in command]
