"""The cost of n-best lists and forests beside decoding, with one and two threads.

    python benchmarks/nbest.py ../shared/data

Translates 1,000 German-English sentences with `hiero-decode --threads 1` and `--threads 2` in turn:
translations alone, with 100-best lists, and with these and an archive of all forests. Prints the time of
decoding and writing, without loading, the best of three.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.base.tables import pack
from hiero.train import estimate_lm

SENTENCES = 1000
REPETITIONS = 3


def main() -> None:
    arguments = argument_parser(__doc__, "data").parse_args()
    folder = arguments.data / "de-en"
    print(machine())
    with disturbance_check(), tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        pack(folder / "system" / "grammar.gz", scratch / "rules.hrt")
        estimate_lm([folder / "train.en"], scratch / "lm")
        model = hiero.Model.assemble(
            [scratch / "rules.hrt"], [scratch / "lm"], folder / "system" / "weights.txt"
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
            output = ["--output", scratch / "output", "--quiet", "--stats"]
            seconds: dict[str, list[float]] = {"1": [], "2": []}
            for _ in range(REPETITIONS):
                for threads, found in seconds.items():
                    words = [*command, *options, *output, "--threads", threads]
                    done = subprocess.run(words, check=True, capture_output=True, text=True)
                    told = re.search(r"decoding (\S+) s", done.stderr)
                    assert told is not None, done.stderr
                    found.append(float(told[1]))
            one, two = map(min, seconds.values())
            print(f"{way:20} {one:12.2f} s {two:11.2f} s, {one / two:.2f} times as fast", flush=True)


if __name__ == "__main__":
    main()
