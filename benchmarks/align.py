"""Time, memory and links of the programs that align words, on a bitext in tokens.

    python benchmarks/align.py ../shared/data/ja-en/train.ja ../shared/data/ja-en/train.en

Prints for each aligner, number of samplers and number of threads the seconds of processor time and by the
clock, the peak memory, the number of links, and the share of links (F1) that it has in
common with the first one. Every run is a process of its own. Then the time that a model that was kept takes
for a pair. Links are the same for any number of threads, which is checked.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from machine import argument_parser, disturbance_check, machine, run_python

from hiero.train import AlignmentModel

ALIGNED = """
import os, sys, time
from hiero.base.memory import peak_memory
from hiero.train import align
source, target, output, save, aligner, samplers, threads = sys.argv[1:]
times, started = os.times(), time.monotonic()
options = {"aligner": aligner, "samplers": int(samplers), "threads": int(threads)}
with peak_memory() as peak:
    align([(source, target)], [output], save=save if save != "-" else None, **options)
seconds, used = time.monotonic() - started, os.times()
cpu = sum(used[:4]) - sum(times[:4])
print(f"{aligner:10} {samplers} samplers {threads} threads: {cpu:5.1f} s of processor time, {seconds:5.1f} s,"
      f" {peak.megabytes:4.0f} MB", end="", flush=True)
"""
RUNS = [
    ("hiero", 3, 1),
    ("hiero", 3, 2),
    ("hiero", 3, 8),
    ("hiero", 1, 1),
    ("sil-thot", 3, 1),
    ("sil-thot", 1, 1),
    ("fast-align", 1, 1),
    ("hmm", 1, 1),
]


def f1(some: list[str], others: list[str]) -> float:
    """Returns the share of links that two alignments have in common."""
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(some, others, strict=True)]
    return 2 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "source", "target").parse_args()
    print(machine())
    files = arguments.source, arguments.target
    sides = [path.read_text(encoding="utf-8").splitlines() for path in files]
    size = sum(path.stat().st_size for path in files)
    print(f"{arguments.source}: {len(sides[0]):,} pairs, {size / 1e6:.1f} MB")
    first: dict[tuple[str, int], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, disturbance_check():
        output, model = Path(folder) / "links", Path(folder) / "model"
        for aligner, samplers, threads in RUNS:
            run_python(ALIGNED, *files, output, "-" if first else model, aligner, samplers, threads)
            lines = output.read_text().splitlines()
            if first.setdefault((aligner, samplers), lines) != lines:
                raise SystemExit(f"{aligner} with {threads} threads has other links")
            common = f1(lines, next(iter(first.values())))
            count = sum(len(line.split()) for line in lines)
            print(f", {count:,} links, {common:.3f} in common", flush=True)
        learned, started = AlignmentModel(model), time.monotonic()
        for pair in zip(*(side[:1000] for side in sides), strict=True):
            learned.align(*pair)
        milliseconds = time.monotonic() - started  # of each of 1,000 pairs
        print(
            f"by the model that was kept, {model.stat().st_size / 1e6:.1f} MB: {milliseconds:.2f} ms a pair"
        )


if __name__ == "__main__":
    main()
