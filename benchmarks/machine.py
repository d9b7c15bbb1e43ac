"""Parts that benchmarks share: arguments, commands, the machine's description, and its load by others."""

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


def argument_parser(text: str | None, *folders: str) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark with the docstring ``text`` and these arguments, which are paths."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in folders:
        parser.add_argument(folder, type=Path)
    return parser


def command(name: str, *arguments: object) -> list[str]:
    """Returns the words of a command of hiero, installed beside this Python."""
    return [str(Path(sys.executable).parent / name), *map(str, arguments)]


def run(name: str, *arguments: object, text: str | None = None) -> str:
    """Runs a command of hiero with a text for its standard input, and returns what it prints. Raises
    RuntimeError with its messages if it fails; lines that could not be translated do not count as failure."""
    done = subprocess.run(command(name, *arguments), input=text, capture_output=True, encoding="utf-8")
    if done.returncode > (name == "hiero-decode"):
        raise RuntimeError(f"{name}: {done.stderr}")
    return done.stdout


def tokenised_pairs(
    text: Path, references: Sequence[Path], most: int
) -> list[tuple[list[str], list[list[str]]]]:
    """Returns the first ``most`` sentences that have a reference, and their references, in tokens."""
    sides = [path.read_text(encoding="utf-8").splitlines() for path in (text, *references)]
    pairs = (
        (source.split(), [line.split() for line in lines if line.strip()])
        for source, *lines in zip(*sides, strict=True)
    )
    return [(source, references) for source, references in pairs if source and references][:most]


def machine() -> str:
    """Returns processor, cores, system and version of hiero in one line."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].split(":", 1)[1].strip() if names else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.platform()}, hiero {hiero.__version__}"


def whole_forest(sentence: int, forest: hiero.Forest | None) -> hiero.Forest | None:
    """Returns the forest of a sentence. Here nodes of a cluster find it, too."""
    return forest


def run_python(program: str, *arguments: object) -> None:
    """Runs the text of a Python program in another process, which measures its own memory."""
    sys.stdout.flush()
    subprocess.run([sys.executable, "-P", "-c", program, *map(str, arguments)], check=True)


@contextlib.contextmanager
def disturbance_check() -> Iterator[None]:
    """Prints a warning after the block if others used much of the processors meanwhile, whether processes or
    other machines on the same hardware: figures of time are not reliable then."""
    before, ours, start = _busy(), sum(os.times()[:4]), time.monotonic()
    yield
    if before is None or (after := _busy()) is None:
        print("whether other processes disturbed this is not known on this system")
        return
    elapsed = (time.monotonic() - start) * (os.cpu_count() or 1)
    others = (after[0] - before[0]) - (sum(os.times()[:4]) - ours)
    for share, whom in (
        (others / elapsed, "other processes"),
        ((after[1] - before[1]) / elapsed, "other machines"),
    ):
        if share > _DISTURBING:
            print(f"DISTURBED: {whom} took {share:.0%} of the processors meanwhile", flush=True)


def _busy() -> tuple[float, float] | None:
    """Returns seconds since the system's start that processes ran, and that other machines took."""
    try:
        first = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = (
        int(field) / os.sysconf("SC_CLK_TCK") for field in first[1:9]
    )
    return user + nice + system + irq + softirq, steal
