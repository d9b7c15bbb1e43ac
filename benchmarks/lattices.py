"""Speech: translating a recogniser's lattices, its best paths, and the paths nearest to what was said.

    python benchmarks/lattices.py ../shared/data SCRATCH

Trains a Spanish-English model on telephone calls, tunes it three times by MERT on the tuning set, each time
with the input that is translated then, and translates the test set. Prints BLEU with four references,
lowercased, the difference to the recogniser's best path with p values, and the time of lattices by size.
SCRATCH keeps what is made, and the benchmark goes on where it was interrupted.
"""

from __future__ import annotations

import gzip
import subprocess
import time
from pathlib import Path

import numpy as np
from machine import argument_parser, command, disturbance_check, machine

import hiero

# Files of the test set by the name of the input.
INPUTS = {"best": "es", "lattices": "plf", "nearest": "oracle.es"}
# The largest numbers of arcs of the rows of times.
SIZES = (10, 20, 40, 80, 160, 1000)
ITERATIONS = 12


def run(*words: object) -> str:
    """Runs a command, and returns what it prints."""
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


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
    done = subprocess.run(
        list(map(str, command("hiero", "tune", scratch / "model", *sets, *options))), capture_output=True
    )
    if done.returncode > 1 or not (tuned / "weights.txt").exists():
        raise RuntimeError(done.stderr.decode())
    text = ["--source", source(data, scratch, "test", name), "--weights", tuned, "--threads", 2, "--quiet"]
    subprocess.run(
        list(map(str, command("hiero-decode", scratch / "model", *text, "--output", output))), check=False
    )
    return output


def measure(data: Path, scratch: Path) -> None:
    """Prints the CPU time of lattices by their number of arcs."""
    model = hiero.Model.load(scratch / "model", weights=scratch / "tuned-lattices" / "weights.txt")
    decoder = hiero.Decoder(model)
    rows: list[tuple[int, float]] = []
    for line in source(data, scratch, "test", "lattices").read_text("utf-8").splitlines():
        if line.strip() in ("", "()"):
            continue
        lattice = hiero.Lattice.from_plf(line, raw=True)
        start = time.process_time()
        decoder.translate(hiero.Sentence(lattice=lattice))
        rows.append((len(lattice.arcs), time.process_time() - start))
    for low, high in zip((0, *SIZES), SIZES, strict=False):
        times = [1e3 * seconds for arcs, seconds in rows if low < arcs <= high]
        if times:
            mean, most = np.mean(times), max(times)
            print(f"{low + 1}-{high} arcs: {len(times)} lattices, {mean:.1f} ms each, {most:.0f} at most")


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data", "scratch").parse_args()
    data, scratch = arguments.data / "es-en", arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    with disturbance_check():
        if not (scratch / "model").exists():
            sides = ["--source", data / "train.es", "--target", data / "train.en"]
            run(*command("hiero", "train", *sides, "--output", scratch / "model", "--threads", 2))
        outputs = [translate(data, scratch, name) for name in INPUTS]
        references = [data / f"test.en.{k}" for k in range(4)]
        systems = ["--hypothesis", outputs[0], "--compare", outputs[1], "--compare", outputs[2]]
        options = ["--tokenize", "13a", "--lowercase"]
        print(run(*command("hiero", "eval", "--references", *references, *systems, *options)))
        measure(data, scratch)


if __name__ == "__main__":
    main()
