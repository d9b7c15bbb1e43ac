"""Commands on a cluster of two nodes on this machine: the same files as on threads, also after kills.

    python benchmarks/cluster.py ../shared/data/ja-en ja MODEL OUTPUT
    python benchmarks/cluster.py ../shared/data/ja-en ja MODEL OUTPUT --work train risk

Starts two nodes of ray with one processor each. Each command runs on two threads and then on the nodes. In
further runs a node is killed when a share of that time has passed, and the command itself, which is then
started again. Prints the times, and whether all files are the same. At last 100 sentences are decoded to
forests by one thread, and by the nodes: times, and the bytes that travel. Needs the packages for tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import argument_parser, disturbance_check, machine, whole_forest

import hiero
from hiero.tune import ModelDecoder

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from support.nodes import Nodes

WORK = ["decode", "mert", "hypergraph-mert", "mira", "risk", "train"]
# When something is killed, in shares of the time of a run on the cluster.
MOMENTS = [0.3, 0.7]
# Files with the time that something took.
TIMES = {"times.json", "iterations.tsv", "iterations.png", "log.jsonl"}


@dataclass(frozen=True)
class Runs:
    """Runs of commands on a data set, whose output is in a folder that is removed each time."""

    data: Path
    language: str
    model: Path
    folder: Path
    sentences: int

    def words(self, work: str) -> list[str]:
        """Returns the words of a command."""
        output, dev, train = self.output, self.folder / "dev", self.data / "train"
        if work == "train":
            sides = [f"--source={train}.{self.language}", f"--target={train}.en"]
            return ["train", *sides, f"--output={output / 'model'}", "--max-phrase=10"]
        source = [str(self.model), f"--source={dev}.{self.language}"]
        if work == "decode":
            lists = ["--nbest=10", "--output-format=nbest"]
            return [
                "decode",
                *source,
                *lists,
                f"--forests={output / 'forests'}",
                f"--output={output / 'out'}",
            ]
        method = [f"--method={work}", "--iterations=3"]
        return ["tune", *source, f"--references={dev}.en", *method, f"--output={output}"]

    @property
    def output(self) -> Path:
        return self.folder / "output"

    def prepare(self) -> None:
        """Writes the first sentences of a set."""
        for side in (self.language, "en"):
            with (self.data / f"dev.{side}").open("rb") as file:
                (self.folder / f"dev.{side}").write_bytes(b"".join(file.readlines()[: self.sentences]))

    def start(self, work: str, where: Sequence[str]) -> subprocess.Popen[bytes]:
        if work in ("decode", "train"):
            self.output.mkdir(exist_ok=True)
        command = [sys.executable, "-P", "-m", "hiero", *self.words(work), *where, "--quiet"]
        paths = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)

    def files(self) -> dict[str, bytes]:
        """Returns and removes the output, but for times and hidden files of commands that were killed."""
        found = {
            str(path.relative_to(self.output)): path.read_bytes()
            for path in sorted(self.output.rglob("*"))
            if path.is_file() and path.name not in TIMES and not path.name.startswith(".")
        }
        shutil.rmtree(self.output)
        return found


def ended(process: subprocess.Popen[bytes]) -> None:
    if process.wait() != 0:
        raise SystemExit(f"the command failed: {process.args}")


def kill_at_moments(runs: Runs, work: str, nodes: Nodes, seconds: float) -> Iterable[tuple[str, float]]:
    """Yields what was killed, and how long the run took, while its output is there."""
    where = ["--cluster", nodes.address]
    for moment in MOMENTS:
        begin, process = time.monotonic(), runs.start(work, where)
        time.sleep(moment * seconds)
        nodes.kill()
        ended(process)
        yield f"a node killed after {moment:.0%}", time.monotonic() - begin
        nodes.add()
        begin, process = time.monotonic(), runs.start(work, where)
        time.sleep(moment * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        ended(runs.start(work, where))
        yield f"the command killed after {moment:.0%} and started again", time.monotonic() - begin


def compare(runs: Runs, work: str, nodes: Nodes) -> bool:
    """Runs a command in all ways, and returns whether all files are the same."""
    is_same = True

    def tell(how: str, seconds: float, expected: Mapping[str, bytes] | None) -> dict[str, bytes]:
        nonlocal is_same
        found = runs.files()
        verdict = "" if expected is None else ", the same" if found == expected else ", OTHER FILES"
        is_same &= expected is None or found == expected
        print(f"{work:16} {how:46} {seconds:6.1f} s, {len(found)} files{verdict}", flush=True)
        return found

    begin = time.monotonic()
    ended(runs.start(work, ["--threads", "2"]))
    expected = tell("two threads", time.monotonic() - begin, None)
    begin = time.monotonic()
    ended(runs.start(work, ["--cluster", nodes.address]))
    seconds = time.monotonic() - begin
    tell("two nodes", seconds, expected)
    for how, taken in kill_at_moments(runs, work, nodes, seconds):
        tell(how, taken, expected)
    return is_same


def measure_forests(runs: Runs, nodes: Nodes) -> None:
    """Prints the times of decoding sentences to forests, and how much travels."""
    sources = (runs.folder / f"dev.{runs.language}").read_text(encoding="utf-8").splitlines()
    model = hiero.Model.load(runs.model)

    weights = np.array([model.weights.get(name, 0.0) for name in model.feature_names])

    def seconds() -> float:
        decoder = ModelDecoder(hiero.Decoder(model), sources)
        begin = time.monotonic()
        if any(forest is None for forest in decoder.forests(weights, whole_forest)):
            raise SystemExit("a forest is missing")
        return time.monotonic() - begin

    print(f"{len(sources)} forests: one thread {seconds():.1f} s")
    with hiero.Cluster(nodes.address) as cluster:
        for how in ("models being loaded", "again"):
            sent, received = cluster.sent, cluster.received
            taken = seconds()
            megabytes = (cluster.sent - sent) / 1e6, (cluster.received - received) / 1e6
            print(f"  two nodes, {how}: {taken:.1f} s, {megabytes[0]:.2f} MB there, {megabytes[1]:.2f} back")


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data")
    parser.add_argument("language", help="suffix of the source files of the data")
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--work", nargs="*", choices=WORK, default=WORK)
    parser.add_argument("--sentences", type=int, default=100)
    arguments = parser.parse_args()
    print(machine())
    folder = arguments.output.resolve()
    folder.mkdir(parents=True)
    data, model = arguments.data.resolve(), arguments.model.resolve()
    runs = Runs(data, arguments.language, model, folder, arguments.sentences)
    runs.prepare()
    os.chdir(folder)  # processes of nodes import from the folder that a program runs in
    nodes = Nodes(folder)
    try:
        with disturbance_check():
            same = [compare(runs, work, nodes) for work in arguments.work]
            measure_forests(runs, nodes)
    finally:
        nodes.stop()
    if not all(same):
        raise SystemExit("not all files are the same")


if __name__ == "__main__":
    main()
