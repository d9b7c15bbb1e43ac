"""Speech: translating a recogniser's lattices, its best paths, and the paths nearest to what was said.

    python benchmarks/lattices.py ../shared/data SCRATCH

Trains a Spanish-English model on telephone calls, tunes it three times by MERT on the tuning set, each time
with the input that is translated then, and translates the test set. Prints BLEU with four references,
lowercased, the difference to the recogniser's best path with p values, and time and memory of lattices by
size; memory is that of all lattices up to this size. For longer ones, lattices follow one another in one.
SCRATCH keeps what is made, and the benchmark goes on where it was interrupted.
"""

from __future__ import annotations

import gzip
import itertools
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import argument_parser, disturbance_check, machine, run

import hiero

# Files of the test set by the name of the input.
INPUTS = {"best": "es", "lattices": "plf", "nearest": "oracle.es"}
# The largest numbers of arcs of the rows of times, and those of longer lattices that are made of these.
SIZES = (10, 20, 40, 80, 160, 1000)
CHAINED = (1000, 3000, 10_000, 30_000, 100_000)
ITERATIONS = 12


def source(data: Path, scratch: Path, part: str, name: str) -> Path:
    """Returns the source file of a set in one kind of input."""
    plain = data / f"{part}.{INPUTS[name]}"
    if name != "lattices":
        return plain
    unpacked = scratch / f"{part}.plf"
    if not unpacked.exists():
        unpacked.write_bytes(gzip.decompress((data / f"{part}.plf.gz").read_bytes()))
    return unpacked


def translate(data: Path, scratch: Path, name: str) -> Path:
    """Tunes and translates the test set from one kind of input, and returns the translations."""
    tuned, output = scratch / f"tuned-{name}", scratch / f"test.{name}.en"
    if output.exists():
        return output
    references = [data / f"dev.en.{k}" for k in range(4)]
    sets = ["--source", source(data, scratch, "dev", name), "--references", *references]
    options = [
        "--method",
        "mert",
        "--iterations",
        ITERATIONS,
        "--span-limit",
        10,
        "--threads",
        2,
        "-o",
        tuned,
    ]
    run("hiero", "tune", scratch / "model", *sets, *options, "-o", tuned)
    text = ["--source", source(data, scratch, "test", name), "--weights", tuned, "--threads", 2, "--quiet"]
    run("hiero-decode", scratch / "model", *text, "--output", output)
    return output


class Memory:
    """Watches the memory of this process that is no file's, in MB; ``most`` is the most so far."""

    def __init__(self) -> None:
        self.most = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    @staticmethod
    def now() -> float:
        found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
        return 0.0 if found is None else int(found[1]) / 1e3

    def _watch(self) -> None:
        while True:
            self.most = max(self.most, self.now())
            time.sleep(0.002)


def chains(lattices: Sequence[hiero.Lattice]) -> Iterator[hiero.Lattice]:
    """Yields lattices of more arcs, each of many of these one after the other."""
    for size in CHAINED:
        arcs: list[hiero.Arc] = []
        last = 0
        for lattice in itertools.cycle(lattices):
            if len(arcs) + len(lattice.arcs) > size:
                break
            arcs += [replace(arc, begin=arc.begin + last, end=arc.end + last) for arc in lattice.arcs]
            last = max(arc.end for arc in arcs)
        yield hiero.Lattice(arcs, raw=True)


def measure(data: Path, scratch: Path) -> None:
    """Prints CPU time and memory of lattices by their number of arcs."""
    decoder = hiero.Decoder(hiero.Model.load(scratch / "model"))
    weights = hiero.read_weights(scratch / "tuned-lattices" / "weights.txt")
    lines = source(data, scratch, "test", "lattices").read_text("utf-8").splitlines()
    lattices = [hiero.Lattice.from_plf(line, raw=True) for line in lines if line.strip() not in ("", "()")]
    by_size = sorted(lattices, key=lambda lattice: len(lattice.arcs))
    memory, before = Memory(), Memory.now()
    groups = [
        (f"{low + 1}-{high} arcs", [one for one in by_size if low < len(one.arcs) <= high])
        for low, high in itertools.pairwise((0, *SIZES))
    ]
    groups += [(f"{len(one.arcs)} arcs, chained", [one]) for one in chains(lattices)]
    for name, group in groups:
        times = []
        for lattice in group:
            start = time.process_time()
            try:
                decoder.translate(hiero.Sentence(lattice=lattice), weights=weights)
            except hiero.Error as error:
                print(f"{name}: {error}", flush=True)
                continue
            times.append(1e3 * (time.process_time() - start))
        if times:
            spent = f"{np.mean(times):.1f} ms each, {max(times):.0f} at most"
            print(f"{name}: {len(times)} lattices, {spent}, {memory.most - before:.0f} MB", flush=True)


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data", "scratch").parse_args()
    data, scratch = arguments.data / "es-en", arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    with disturbance_check():
        if not (scratch / "model").exists():
            sides = ["--source", data / "train.es", "--target", data / "train.en"]
            run("hiero", "train", *sides, "--output", scratch / "model", "--threads", 2)
        outputs = [translate(data, scratch, name) for name in INPUTS]
        references = [data / f"test.en.{k}" for k in range(4)]
        systems = ["--hypothesis", outputs[0], "--compare", outputs[1], "--compare", outputs[2]]
        options = ["--tokenize", "13a", "--lowercase"]
        print(run("hiero", "eval", "--references", *references, *systems, *options))
        measure(data, scratch)


if __name__ == "__main__":
    main()
