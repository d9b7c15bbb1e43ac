"""Time of a search for the same model score, with and without rest costs in the language model.

    python benchmarks/rest_costs.py ../shared/data

Translates the test sets of the two prepared systems with their language model and with one that `hiero lm`
estimates from the same text, which has the same probabilities and rest costs, at several pop limits. Prints
mean score, CPU time, hypotheses and LM queries a sentence, the time being the best of three, and the times at
equal scores, interpolated between pop limits. Loading is not counted.
"""

from __future__ import annotations

import gzip
import math
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.base.tables import pack
from hiero.train import estimate_lm

CORPORA = {"ja-en": "test.ja", "de-en": "test2016.de"}
SCORES = {"ja-en": (-6.93, -6.90, -6.864, -6.848), "de-en": (-19.487, -19.461, -19.447, -19.439)}
POP_LIMITS = (5, 7, 10, 15, 20, 30, 40, 50, 65, 80, 100, 140, 180, 250, 320, 450)
REPETITIONS = 3


class Point(NamedTuple):
    """Means over the sentences of a set at one pop limit."""

    score: float
    milliseconds: float
    hypotheses: float
    queries: float


def measure(decoder: hiero.Decoder, sentences: list[list[str]]) -> Point:
    """Translates all sentences once."""
    for sentence in sentences[:20]:
        decoder.translate(sentence)
    start = time.process_time()
    results = [decoder.translate(sentence) for sentence in sentences]
    seconds = time.process_time() - start
    count = len(sentences)
    return Point(
        sum(result.score for result in results) / count,
        seconds * 1e3 / count,
        sum(result.stats.hypotheses for result in results) / count,
        sum(result.stats.lm_queries for result in results) / count,
    )


def at(score: float, points: list[Point], field: str) -> float:
    """Interpolates a field, which grows, between the first two pop limits around a score."""
    for below, above in pairwise(points):
        if below.score <= score <= above.score:
            share = (score - below.score) / (above.score - below.score)
            return math.exp(
                (1 - share) * math.log(getattr(below, field)) + share * math.log(getattr(above, field))
            )
    return math.nan


def compare(data: Path, corpus: str, scratch: Path) -> None:
    """Measures both language models in turn, and prints what they take."""
    folder = data / corpus
    with gzip.open(folder / "system" / "lm.arpa.gz") as packed, (scratch / "lm.arpa").open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    hiero.LanguageModel.write_binary(str(scratch / "lm.arpa"), str(scratch / "without"))
    estimate_lm([folder / "train.en"], scratch / "with")
    pack(folder / "system" / "grammar.gz", scratch / "rules.hrt")
    sentences = [line.split() for line in (folder / CORPORA[corpus]).read_text(encoding="utf-8").splitlines()]
    points: dict[str, list[Point]] = {"without": [], "with": []}
    for limit in POP_LIMITS:
        for name, found in points.items():
            if found and found[-1].score > max(SCORES[corpus]):
                continue
            model = hiero.Model.assemble(
                [scratch / "rules.hrt"], [scratch / name], folder / "system" / "weights.txt"
            )
            decoder = hiero.Decoder(model, pop_limit=limit, span_limit=15)
            runs = [measure(decoder, sentences) for _ in range(REPETITIONS)]
            found.append(min(runs, key=lambda run: run.milliseconds))
            print(f"{corpus} {name:8}{limit:4}", end="")
            print("  {:9.4f} {:7.2f} ms {:7.0f} hypotheses {:7.0f} queries".format(*found[-1]), flush=True)
    for score in SCORES[corpus]:
        times = {name: at(score, found, "milliseconds") for name, found in points.items()}
        hypotheses = {name: at(score, found, "hypotheses") for name, found in points.items()}
        queries = {name: at(score, found, "queries") for name, found in points.items()}
        print(
            f"{corpus} at {score:8.3f}: {times['without']:5.2f} and {times['with']:5.2f} ms"
            f" ({times['without'] / times['with']:.2f} times as fast),"
            f" {hypotheses['without']:5.0f} and {hypotheses['with']:5.0f} hypotheses,"
            f" {queries['without']:6.0f} and {queries['with']:6.0f} queries"
        )


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data").parse_args()
    print(machine())
    with disturbance_check():
        for corpus in CORPORA:
            with tempfile.TemporaryDirectory() as scratch:
                compare(arguments.data, corpus, Path(scratch))


if __name__ == "__main__":
    main()
