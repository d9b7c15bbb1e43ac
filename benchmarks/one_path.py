"""Lattices of one path: the same bytes as text, and the instructions of both.

    python benchmarks/one_path.py ../shared/data SCRATCH

Translates the test sets of the prepared systems as text and as lattices, each with one path. Prints whether
translations and 10-best lists are the same bytes, and the instructions of 40 sentences (`valgrind
--tool=callgrind`), beyond those of loading and of two other sentences. A machine's load does not matter.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from machine import argument_parser, machine, run
from prepared import PREPARED, System

# Translates some sentences, as text or as lattices.
PROGRAM = """
import sys
import hiero
model, text, number, kind = sys.argv[1:]
decoder = hiero.Decoder(hiero.Model.load(model), span_limit=15)
for line in open(text, encoding="utf-8").read().split("\\n")[: int(number)]:
    words = line.split()
    arcs = [hiero.Arc(word, place, place + 1) for place, word in enumerate(words)]
    one = {"tokens": words} if kind == "text" else {"lattice": hiero.Lattice(arcs)}
    decoder.translate(hiero.Sentence(**one))
"""


def instructions(model: Path, text: Path, number: int, kind: str) -> int:
    """Returns how many instructions it takes to load the model and to translate some sentences."""
    program = [sys.executable, "-c", PROGRAM, model, text, number, kind]
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *program]
    done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None
    return int(found[1])


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data", "scratch").parse_args()
    scratch = arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    for corpus in PREPARED:
        system = System(arguments.data, corpus, scratch)
        model = scratch / f"{corpus}.model"
        if not model.exists():
            system.model().save(model)
        lattices = scratch / f"{corpus}.plf"
        run("hiero", "lattice", "--source", system.source_file, "--output", lattices)
        for format_ in ("text", "nbest"):
            size = ["--nbest", 10] if format_ == "nbest" else []
            same = [
                run(
                    *("hiero-decode", model, "--source", source, "--span-limit", 15),
                    *("--output-format", format_, *size),
                )
                for source in (system.source_file, lattices)
            ]
            print(f"{corpus}, {format_}: {len(same[0])} characters, same: {same[0] == same[1]}", flush=True)
        counts = {}
        for kind in ("text", "lattices"):
            few, more = (instructions(model, system.source_file, number, kind) for number in (2, 42))
            counts[kind] = more - few
            print(
                f"{corpus}, {kind}: {counts[kind] / 1e6:.1f} million instructions, 40 sentences", flush=True
            )
        print(f"{corpus}: lattices take {counts['lattices'] / counts['text'] - 1:+.2%}", flush=True)


if __name__ == "__main__":
    main()
