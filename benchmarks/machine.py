"""Parts that all benchmarks share: arguments, the description of the machine, and whether others used it."""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import hiero

# The share of the machine's processors from which on others disturb a benchmark.
_DISTURBING = 0.03


def parser(text: str | None, *folders: str) -> argparse.ArgumentParser:
    """Makes the parser of a benchmark with this docstring, which takes these folders."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in folders:
        made.add_argument(folder, type=Path)
    return made


def tokenised_pairs(
    text: Path, references: Sequence[Path], most: int
) -> list[tuple[list[str], list[list[str]]]]:
    """The first sentences of a text that have a reference or more, as tokens."""
    sides = [path.read_text(encoding="utf-8").splitlines() for path in (text, *references)]
    pairs = (
        (source.split(), [line.split() for line in lines if line.strip()])
        for source, *lines in zip(*sides, strict=True)
    )
    return [(source, known) for source, known in pairs if source and known][:most]


def machine() -> str:
    """Processor, cores, system and version in one line."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].split(":", 1)[1].strip() if names else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.platform()}, hiero {hiero.__version__}"


def child(program: str, *arguments: object) -> None:
    """Runs a program in a process of its own, so that its memory is its own."""
    sys.stdout.flush()
    subprocess.run([sys.executable, "-P", "-c", program, *map(str, arguments)], check=True)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Says after a block if other processes, or other machines on the same processors, took a share of these
    meanwhile: figures of time are worth little then."""
    before, own, start = _busy(), sum(os.times()[:4]), time.monotonic()
    yield
    if before is None or (after := _busy()) is None:
        print("whether other processes disturbed this is not known on this system")
        return
    elapsed = (time.monotonic() - start) * (os.cpu_count() or 1)
    others = (after[0] - before[0]) - (sum(os.times()[:4]) - own)
    for share, whom in (
        (others / elapsed, "other processes"),
        ((after[1] - before[1]) / elapsed, "other machines"),
    ):
        if share > _DISTURBING:
            print(f"DISTURBED: {whom} took {share:.0%} of the processors meanwhile", flush=True)


def _busy() -> tuple[float, float] | None:
    """Seconds that all processes have run since the start, and that others took from this machine."""
    try:
        first = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = (
        int(field) / os.sysconf("SC_CLK_TCK") for field in first[1:9]
    )
    return user + nice + system + irq + softirq, steal
