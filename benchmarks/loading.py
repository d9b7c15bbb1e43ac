"""Time that a model with a large rule table takes to load, and to translate a first sentence.

    python benchmarks/loading.py ../shared/data [--gigabytes 1]

Makes the table of the German-English system's rules, repeated with another last source word each time, and a
model directory of it with the system's language model. Prints the sizes of its files and, in a process of its
own, seconds of loading and of a first sentence: from the disk, as far as the system lets its cache go, and
from its cache.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from machine import argument_parser, disturbance_check, machine, run_python

import hiero
from hiero.base.lines import open_source
from hiero.base.tables import pack

CHILD = """
import sys, time
from hiero.base.memory import peak_megabytes
import hiero
start = time.perf_counter(); model = hiero.Model.load(sys.argv[2]); loaded = time.perf_counter() - start
decoder = hiero.Decoder(model, span_limit=15)
start = time.perf_counter(); text = decoder.translate(sys.argv[3]).text; first = time.perf_counter() - start
print(f"{sys.argv[1]}: loading {loaded:.3f} s, first sentence {first:.3f} s, peak {peak_megabytes():.0f} MB")
"""


def repeated(grammar: Path, size: float, output: Path) -> None:
    """Writes a grammar whose packed table has about ``size`` bytes."""
    with open_source(grammar) as file:
        rules = [line.split(b" ||| ", 2) for line in file]
    with output.open("wb") as out:
        for number in range(round(size / len(rules) / 58)):  # bytes of a packed rule
            last = b" z%d" % number
            out.writelines(b" ||| ".join((lhs, source + last, rest)) for lhs, source, rest in rules)


def forget(directory: Path) -> None:
    """Asks the system to drop these files from its cache."""
    for path in directory.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def main() -> None:
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    arguments = parser.parse_args()
    system = arguments.data / "de-en" / "system"
    sentence = (arguments.data / "de-en" / "test2016.de").read_text().splitlines()[0]
    print(machine())
    with disturbance_check(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repeated(system / "grammar.gz", arguments.gigabytes * 1e9, folder / "rules")
        pack(folder / "rules", folder / "rules.hrt")
        (folder / "rules").unlink()
        model = hiero.Model.assemble([folder / "rules.hrt"], [system / "lm.arpa.gz"], system / "weights.txt")
        rules = model.tables[0].rule_count
        model.save(folder / "model")
        del model
        files = sorted((folder / "model").iterdir())
        sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:,.0f} MB" for path in files)
        print(f"{rules:,} rules: {sizes}")
        forget(folder / "model")
        run_python(CHILD, "from the disk", folder / "model", sentence)
        run_python(CHILD, "from the cache", folder / "model", sentence)


if __name__ == "__main__":
    main()
