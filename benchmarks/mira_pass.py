"""The cost of a pass of online MIRA.

    python benchmarks/mira_pass.py MODEL SOURCE REFERENCES [--lags 0 1 2 4] [--rounds 3]

Decodes a set of tokenised lines, forests kept, with the model's weights, and goes through it by one pass of
MIRA, 20 workers, from the same weights: on one thread, and on two with each lag; all of it in several rounds.
Prints seconds of the wall clock, the least of the rounds, passes as multiples of decoding, and two threads
against one. Then, for 20 threads, which this machine need not have, the share of their time that they would
wait for each other if sentences took as long as to decode them.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.decode.decoder import Source
from hiero.evaluate import Bleu
from hiero.forest.losses import BleuDocument
from hiero.tune import Array, ModelDecoder
from hiero.tune.methods.mira.averaged_weights import AveragedWeights
from hiero.tune.methods.mira.online import OnlineMiraOptions, Pass, Worker
from hiero.tune.run.limits import Limits


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
    """Goes through the set once, with all features, in a random order."""
    options = OnlineMiraOptions(lag=lag)
    workers = [Worker(AveragedWeights(start.copy()), BleuDocument()) for _ in range(options.workers)]
    order = np.random.default_rng(1).permutation(len(sentences)).astype(np.int32)
    Pass(
        ModelDecoder(decoder, sentences),
        metric,
        workers,
        order,
        limits=Limits.unlimited(len(start)),
        options=options,
    ).run(threads)


def waiting(durations: Sequence[float], lag: int, workers: int = 20) -> float:
    """Returns the share of their time that as many threads as workers would wait.

    A worker has every 20th sentence, and begins one when all others have done theirs but the last ``lag``.
    """
    shares = [durations[worker::workers] for worker in range(workers)]
    done, running, busy, now = [0] * workers, [(0.0, -1)], set(), 0.0
    while running:
        now, worker = heapq.heappop(running)
        if worker >= 0:
            busy.remove(worker)
            done[worker] += 1
        for other, sentences in enumerate(shares):
            step = done[other]
            may_start = all(d >= min(step - lag, len(s)) for d, s in zip(done, shares, strict=True))
            if other not in busy and step < len(sentences) and may_start:
                busy.add(other)
                heapq.heappush(running, (now + sentences[step], other))
    return 1 - sum(durations) / (workers * now)


def main() -> None:
    parser = argument_parser(__doc__, "model", "source", "references")
    parser.add_argument("--lags", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    model = hiero.Model.load(arguments.model)
    sentences = [line.split() for line in arguments.source.read_text().splitlines()]
    metric = Bleu([[line] for line in arguments.references.read_text().splitlines()])
    decoder, start = hiero.Decoder(model), model.weight_vector(model.weights)

    def passed(lag: int, threads: int) -> Callable[[], None]:
        return lambda: mira_pass(decoder, sentences, metric, start, lag, threads)

    work: dict[int | str, Callable[[], object]] = {
        "decoding": lambda: list(ModelDecoder(decoder, sentences).forests(start, lambda _, forest: None)),
        "one thread": passed(2, 1),
        **{lag: passed(lag, 2) for lag in arguments.lags},
    }
    print(machine())
    setup = f"{len(sentences)} sentences, the least of {arguments.rounds} rounds"
    print(f"{arguments.model}, {arguments.source}: {setup}")
    with disturbance_check():
        rounds = [{key: seconds(each) for key, each in work.items()} for _ in range(arguments.rounds)]
    least = {key: min(times[key] for times in rounds) for key in work}
    decoding, one = least["decoding"], least["one thread"]
    print(f"decoding, forests kept, one thread: {decoding:.1f} s")
    print(f"a pass, lag 2, one thread: {one:.1f} s, {one / decoding:.2f} times decoding")
    for lag in arguments.lags:
        two = least[lag]
        print(f"a pass, lag {lag}, two threads: {two:.1f} s, one thread's {one / two:.2f} times as fast")
    order = np.random.default_rng(1).permutation(len(sentences)).tolist()
    durations = [seconds(partial(decoder.translate, sentences[i], keep="forest")) for i in order]
    for lag in arguments.lags:
        print(f"20 threads would wait {waiting(durations, lag):.0%} of their time with lag {lag}")


if __name__ == "__main__":
    main()
