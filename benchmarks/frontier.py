"""Time of a search for the same model score: this program and an earlier one, or with and without rest costs.

    python benchmarks/frontier.py ../shared/data [--before PYTHON] [--models FOLDER] [--keep forest]

Translates test sets at growing pop limits with two decoders in turn, each in processes of its own that are
pinned to a processor. `--before` names the Python of an environment in which another version of hiero is
installed, which translates with language models without rest costs; without it, this version does so. The
prepared systems of ja-en and de-en are measured, and with `--corpora` models `ur-en` and `es-en` that
`hiero train` made in the folder of `--models`; of each set the first thousand sentences. Prints mean score,
CPU time, hypotheses and LM queries a sentence, the time being the best of three, and what both take at equal
scores, interpolated between pop limits. Loading is not counted.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from machine import argument_parser, disturbance_check, machine
from prepared import PREPARED, TRAINED, System

# Mean model scores at which times are compared.
SCORES = {
    "ja-en": (-6.93, -6.90, -6.864, -6.848),
    "de-en": (-19.487, -19.461, -19.447, -19.439),
    "ur-en": (-51.9, -51.75, -51.65),
    "es-en": (-20.0, -19.8, -19.65),
}
POP_LIMITS = (3, 5, 7, 10, 15, 20, 30, 40, 50, 65, 80, 100, 140, 180, 250, 320, 450)
REPETITIONS = 3
MOST_SENTENCES = 1000

# Earlier versions run this, too.
CHILD = """
import json, os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
import hiero
packed, lm, weights, source, limit, keep = sys.argv[1:]
decoder = hiero.Decoder(hiero.Model.assemble([packed], [lm], weights), pop_limit=int(limit), span_limit=15)
sentences = [line.split() for line in open(source, encoding="utf-8")]
for sentence in sentences[:20]:
    decoder.translate(sentence, keep=keep)
start = time.process_time()
results = [decoder.translate(sentence, keep=keep) for sentence in sentences]
seconds = time.process_time() - start
sums = [0.0, seconds * 1e3, 0, 0]
for result in results:
    sums[0] += result.score
    sums[2] += result.stats.hypotheses
    sums[3] += result.stats.lm_queries
print(json.dumps([value / len(sentences) for value in sums]))
"""


class Point(NamedTuple):
    """Means over the sentences of a set at one pop limit."""

    score: float
    milliseconds: float
    hypotheses: float
    queries: float


def measure(python: str, *arguments: object) -> Point:
    """Translates the set once in a new process."""
    command = [python, "-P", "-c", CHILD, *map(str, arguments)]
    return Point(*json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def at(score: float, points: list[Point], field: str) -> float:
    """Interpolates a field, which grows, between the first two pop limits around a score."""
    for below, above in pairwise(points):
        if below.score <= score <= above.score:
            share = (score - below.score) / (above.score - below.score)
            return math.exp(
                (1 - share) * math.log(getattr(below, field)) + share * math.log(getattr(above, field))
            )
    return math.nan


def compare(system: System, before: str, keep: str, scratch: Path) -> None:
    """Measures both decoders in turn until they reach the last score, and prints what they take."""
    source = scratch / "source"
    source.write_text("\n".join(system.source[:MOST_SENTENCES]) + "\n", encoding="utf-8")
    sides = {"before": (before, system.plain), "after": (sys.executable, system.binary)}
    points: dict[str, list[Point]] = {"before": [], "after": []}
    scores = SCORES[system.corpus]
    for limit in POP_LIMITS:
        todo = [side for side, found in points.items() if not (found and found[-1].score > max(scores))]
        runs: dict[str, list[Point]] = {side: [] for side in todo}
        for _ in range(REPETITIONS):
            for side in todo:
                python, lm = sides[side]
                runs[side].append(measure(python, system.packed, lm, system.weights, source, limit, keep))
        for side in todo:
            points[side].append(min(runs[side], key=lambda run: run.milliseconds))
            print(f"{system.corpus} {side:7}{limit:4}", end="")
            print(
                "  {:9.4f} {:7.2f} ms {:7.0f} hypotheses {:7.0f} queries".format(*points[side][-1]),
                flush=True,
            )
    for score in scores:
        times, hypotheses, queries = (
            [at(score, points[side], field) for side in ("before", "after")]
            for field in ("milliseconds", "hypotheses", "queries")
        )
        print(
            f"{system.corpus} at {score:8.3f}: {times[0]:5.2f} and {times[1]:5.2f} ms"
            f" ({times[0] / times[1]:.2f} times as fast),"
            f" {hypotheses[0]:5.0f} and {hypotheses[1]:5.0f} hypotheses,"
            f" {queries[0]:6.0f} and {queries[1]:6.0f} queries"
        )


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--before", default=sys.executable, help="Python that has an earlier hiero")
    parser.add_argument("--models", type=Path, help="folder of trained models")
    parser.add_argument("--keep", default="none", choices=("none", "forest"))
    parser.add_argument("--corpora", nargs="+", choices=SCORES, default=[*PREPARED])
    arguments = parser.parse_args()
    if arguments.models is None and TRAINED.keys() & set(arguments.corpora):
        parser.error("--corpora ur-en and es-en need --models")
    print(machine())
    with disturbance_check():
        for corpus in arguments.corpora:
            model = arguments.models / corpus if corpus in TRAINED else None
            with tempfile.TemporaryDirectory() as scratch:
                system = System(arguments.data, corpus, Path(scratch), model)
                compare(system, arguments.before, arguments.keep, Path(scratch))


if __name__ == "__main__":
    main()
