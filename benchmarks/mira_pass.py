"""What a pass of online MIRA costs.

    python benchmarks/mira_pass.py MODEL SOURCE REFERENCES [--lags 0 1 2 4]

Decodes a set of tokenised lines, forests kept, with the model's weights, and goes through it by one pass of
MIRA, 20 workers, from the same weights: on one thread, then on two with each lag. Prints seconds of the wall
clock, passes as multiples of decoding, and two threads against one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from machine import machine, parser, watched

import hiero
from hiero.decode.decoder import Source
from hiero.evaluate import Bleu
from hiero.forest.losses import BleuDocument
from hiero.tune import Array, ModelDecoder
from hiero.tune.mira import OnlineMiraOptions, Pass, Worker


def seconds(work: Callable[[], object]) -> float:
    before = time.monotonic()
    work()
    return time.monotonic() - before


def mira_pass(
    decoder: hiero.Decoder,
    sentences: Sequence[Source],
    metric: Bleu,
    start: Array,
    lag: int = OnlineMiraOptions().lag,
    threads: int = 1,
) -> None:
    """Of all features, in a random order."""
    options = OnlineMiraOptions(lag=lag)
    workers = [Worker(start.copy(), BleuDocument(), np.zeros_like(start)) for _ in range(options.workers)]
    order = np.random.default_rng(1).permutation(len(sentences)).astype(np.int32)
    bounds = np.tile([-np.inf, np.inf], (len(start), 1))
    Pass(
        ModelDecoder(decoder, sentences),
        metric,
        workers,
        order,
        free=range(len(start)),
        bounds=bounds,
        options=options,
    ).run(threads)


def main() -> None:
    arguments = parser(__doc__, "model", "source", "references")
    arguments.add_argument("--lags", type=int, nargs="+", default=[0, 1, 2, 4])
    given = arguments.parse_args()
    model = hiero.Model.load(given.model)
    sentences = [line.split() for line in given.source.read_text().splitlines()]
    metric = Bleu([[line] for line in given.references.read_text().splitlines()])
    decoder, start = hiero.Decoder(model), model.weight_vector(model.weights)

    def mira(lag: int, threads: int) -> None:
        mira_pass(decoder, sentences, metric, start, lag, threads)

    print(machine())
    print(f"{given.model}, {given.source}: {len(sentences)} sentences")
    with watched():
        decoding = seconds(lambda: list(ModelDecoder(decoder, sentences).forests(start)))
        print(f"decoding, forests kept, one thread: {decoding:.1f} s")
        one = seconds(lambda: mira(2, 1))
        print(f"a pass, lag 2, one thread: {one:.1f} s, {one / decoding:.2f} times decoding")
        for lag in given.lags:
            two = seconds(lambda lag=lag: mira(lag, 2))  # type: ignore[misc]
            print(f"a pass, lag {lag}, two threads: {two:.1f} s, one thread's {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
