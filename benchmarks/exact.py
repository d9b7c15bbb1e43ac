"""Share of sentences whose translations exact search proves optimal, by length.

    python benchmarks/exact.py ../shared/data [--models FOLDER]

Translates the first 100 sentences of the test sets of the two prepared systems, and of the model `ur-en`
that `hiero train` made in FOLDER, at the default pop limit, alone and with several limits of exact search.
Prints for each span of lengths the share of sentences that are proved optimal without and with exact
search, the share for which it finds a better derivation, the median and the 90th percentile of the gap, and
CPU time and hypotheses of a sentence. Loading is not counted.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import argument_parser, disturbance_check, machine
from prepared import PREPARED, System

import hiero

LIMITS = (100_000, 1_000_000, 10_000_000)
SENTENCES = 100
# The largest length of each row.
LENGTHS = (6, 9, 12, 15, 18, 100)


class Outcome(NamedTuple):
    """Results of one sentence without and with exact search."""

    length: int
    by_default: bool
    is_optimal: bool
    is_better: bool
    gap: float
    milliseconds: float
    hypotheses: int


def translate(decoder: hiero.Decoder, tokens: list[str]) -> tuple[hiero.Translation, float]:
    """Translates a sentence; returns the CPU time in milliseconds too."""
    start = time.process_time()
    result = decoder.translate(tokens)
    return result, (time.process_time() - start) * 1e3


def table(outcomes: list[Outcome]) -> None:
    """Prints a row for each span of lengths, and one for all."""
    rows = [(f"{low + 1}-{high}", low, high) for low, high in zip((0, *LENGTHS), LENGTHS, strict=False)]
    print("length  sentences  by default  proved  better  gap: median     90%        ms   hypotheses")
    for name, low, high in [*rows, ("all", 0, math.inf)]:
        row = [outcome for outcome in outcomes if low < outcome.length <= high]
        if not row:
            continue
        means = np.mean([outcome[1:4] + outcome[5:] for outcome in row], axis=0)
        median, ninth = np.quantile([outcome.gap for outcome in row], [0.5, 0.9])
        print(
            f"{name:>6}{len(row):11}{means[0]:12.1%}{means[1]:8.1%}{means[2]:8.1%}"
            f"{median:13.2f}{ninth:8.2f}{means[3]:10.0f}{means[4]:13.0f}",
            flush=True,
        )


def measure(data: Path, corpus: str, trained: Path | None) -> None:
    """Translates a test set with each limit, by the prepared system or a trained model."""
    with tempfile.TemporaryDirectory() as scratch:
        system = System(data, corpus, Path(scratch), trained)
        model = system.model()
    sentences = [line.split() for line in system.source[:SENTENCES]]
    usual = hiero.Decoder(model, span_limit=15)
    firsts = [usual.translate(tokens) for tokens in sentences]
    for limit in LIMITS:
        exact = hiero.Decoder(model, span_limit=15, exact=limit)
        outcomes = []
        for tokens, first in zip(sentences, firsts, strict=True):
            result, milliseconds = translate(exact, tokens)
            is_better = result.score > first.score + 1e-4
            proved = (first.optimal, result.optimal, is_better, result.gap)
            outcomes.append(Outcome(len(tokens), *proved, milliseconds, result.stats.hypotheses))
        print(f"\n== {corpus}, at most {limit} hypotheses")
        table(outcomes)


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--models", type=Path, help="folder of trained models")
    arguments = parser.parse_args()
    print(machine())
    with disturbance_check():
        for corpus in PREPARED:
            measure(arguments.data, corpus, None)
        if arguments.models is not None:
            measure(arguments.data, "ur-en", arguments.models / "ur-en")


if __name__ == "__main__":
    main()
