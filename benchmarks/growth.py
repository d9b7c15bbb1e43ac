"""Growth of the time, memory and disk of training with the number of sentence pairs.

    python benchmarks/growth.py ../shared/data OUTPUT --pairs 30000 100000 300000 --threads 1 2

Makes bitexts of these sizes, trains on each with each number of threads, and prints for every step the
seconds by the clock and of processors, and the peak memory, and for the whole the size of the folder of
training. A step whose processor time grows faster than n log n is marked. Tables of one size must be the same
for any number of threads. Started again, it goes on where it was interrupted.

A bitext begins with the pairs of ja-en, de-en, ur-en and es-en in turn. Once these are used up, pairs are
made of the first half of both sides of one pair and the second half of another one of the same corpus, at
random. Such pairs have no new words, and many new neighbours of words: vocabularies stop growing at 114,000
pairs, while rules grow as with new text.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from machine import argument_parser, command, disturbance_check, machine

from hiero.base.files import sha256, write_atomically
from hiero.base.lines import read_lines

CORPORA = {"ja-en": "ja", "de-en": "de", "ur-en": "ur", "es-en": "es"}
Pair = tuple[list[str], list[str]]


def own_pairs(data: Path) -> dict[str, list[Pair]]:
    """Reads the pairs of each corpus that have words on both sides."""
    corpora = {}
    for name, source in CORPORA.items():
        sides = (read_lines(data / name / f"train.{end}") for end in (source, "en"))
        pairs = [(s.split(), t.split()) for s, t in zip(*sides, strict=True)]
        corpora[name] = [pair for pair in pairs if all(pair)]
    return corpora


def pairs_of(corpora: dict[str, list[Pair]]) -> Iterator[Pair]:
    """Yields the pairs of all corpora in turn, and then halves of two pairs joined, without end."""
    longest = max(map(len, corpora.values()))
    for k in range(longest):
        yield from (pairs[k] for pairs in corpora.values() if k < len(pairs))
    rng = random.Random(1)
    names = list(corpora)
    weights = [len(corpora[name]) for name in names]
    while True:
        (name,) = rng.choices(names, weights)
        first, second = rng.choice(corpora[name]), rng.choice(corpora[name])
        source, target = (
            [*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]]
            for one, other in zip(first, second, strict=True)
        )
        yield source, target


def make(data: Path, folder: Path, count: int) -> None:
    """Writes a bitext of a number of pairs to a folder, unless it is there."""
    if (folder / "train.t").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    pairs = pairs_of(own_pairs(data))
    lines = [tuple(map(" ".join, next(pairs))) for _ in range(count)]
    for name, side in (("train.s", 0), ("train.t", 1)):
        write_atomically(folder / name, "".join(f"{pair[side]}\n" for pair in lines))


def train(folder: Path, threads: int, memory: str) -> Path:
    """Trains with a number of threads, and returns the folder of training."""
    model = folder / f"threads-{threads}"
    words = ["--source", folder / "train.s", "--target", folder / "train.t", "-o", model, "--quiet"]
    words += ["--max-phrase", 10, "--threads", threads, "--memory", memory]
    subprocess.run(command("hiero", "train", *words), check=True)
    return model.with_name(f"{model.name}.train")


class Taken(NamedTuple):
    """Time and memory of a step."""

    seconds: float
    processor: float
    megabytes: float


def steps_of(work: Path) -> dict[str, Taken]:
    """Returns what the steps of a training took."""
    records = map(json.loads, (work / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return {
        one["step"]: Taken(one["seconds"], one["processor_seconds"], one["peak_megabytes"]) for one in records
    }


def growth(now: Taken, before: Taken, count: int, fewer: int) -> str:
    """Returns by how much the processor time of a step has grown, if it is long enough to tell."""
    if before.processor < 1:
        return ""
    limit = count * math.log(count) / (fewer * math.log(fewer))
    times = now.processor / before.processor
    return f"  {times:5.2f} times" + (" FASTER THAN N LOG N" if times > limit else "")


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data", "output")
    parser.add_argument("--pairs", nargs="+", type=int, default=[30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--memory", default="2G")
    arguments = parser.parse_args()
    print(machine())
    before: dict[int, tuple[int, dict[str, Taken]]] = {}
    for count in arguments.pairs:
        folder = arguments.output / str(count)
        make(arguments.data, folder, count)
        size = sum((folder / name).stat().st_size for name in ("train.s", "train.t"))
        tables = set()
        for threads in arguments.threads:
            with disturbance_check():
                work = train(folder, threads, arguments.memory)
            tables.add(sha256(work / "rules.hrt"))
            disk = sum(path.stat().st_size for path in work.iterdir())
            print(f"{count:,} pairs, {size / 1e6:.0f} MB, {threads} threads: {disk / 1e6:,.0f} MB of disk")
            steps = steps_of(work)
            for name, taken in steps.items():
                more = ""
                if threads in before and name in before[threads][1]:
                    fewer, old = before[threads]
                    more = growth(taken, old[name], count, fewer)
                print(
                    f"  {name:10} {taken.seconds:8.1f} s, {taken.processor:8.1f} s of processors,"
                    f" {taken.megabytes:6,.0f} MB{more}",
                    flush=True,
                )
            before[threads] = count, steps
        if len(tables) > 1:
            raise SystemExit("the table depends on the number of threads")


if __name__ == "__main__":
    main()
