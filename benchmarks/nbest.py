"""The cost of n-best lists and forests beside decoding, with one and two threads.

    python benchmarks/nbest.py ../shared/data

Translates 400 German-English sentences with `hiero-decode --threads 1` and `--threads 2`: translations alone,
with 100-best lists, and with these and an archive of all forests. Prints the time from start to end, loading
included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.base.tables import pack

SENTENCES = 400


def main() -> None:
    arguments = argument_parser(__doc__, "data").parse_args()
    folder = arguments.data / "de-en"
    print(machine())
    with disturbance_check(), tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        pack(folder / "system" / "grammar.gz", scratch / "rules.hrt")
        model = hiero.Model.assemble(
            [scratch / "rules.hrt"], [folder / "system" / "lm.arpa.gz"], folder / "system" / "weights.txt"
        )
        model.save(scratch / "model")
        lines = (folder / "test2016.de").read_text(encoding="utf-8").splitlines()[:SENTENCES]
        (scratch / "input").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        program = str(Path(sys.executable).with_name("hiero-decode"))
        command = [program, scratch / "model", "--source", scratch / "input", "--span-limit", "15"]
        lists = ["--nbest", "100", "--output-format", "nbest"]
        ways = {
            "translations": [],
            "100-best lists": lists,
            "and forests": [*lists, "--forests", scratch / "forests"],
        }
        print(f"{SENTENCES} sentences           one thread   two threads")
        for way, options in ways.items():
            seconds = []
            for threads in ("1", "2"):
                started = time.perf_counter()
                output = ["--output", scratch / "output", "--threads", threads, "--quiet"]
                subprocess.run([*command, *options, *output], check=True)
                seconds.append(time.perf_counter() - started)
            one, two = seconds
            print(f"{way:20} {one:12.2f} s {two:11.2f} s, {one / two:.2f} times as fast", flush=True)


if __name__ == "__main__":
    main()
