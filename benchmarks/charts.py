"""The cost of charts, their content, and the reach of outside strings.

    python benchmarks/charts.py MODEL TEXT REFERENCES... [--pop-limits 30 200] [--sentences 100]

Decodes sentences of a tokenised text and keeps nothing, forests, charts, or charts that have
a derivation of every split point, in turns on one thread, and looks for outside strings of the last. Prints
at each pop limit the processor time of each, of every sentence the least of three; the share of all pairs of
a span and a split point that charts hold without more; and the share of spans that top-down and the guided
backtrace reach. Then, for sentences of 20 words or more, what the guided backtrace takes of the time for
decoding them, and the memory of the longest sentence's chart at the last pop limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from machine import argument_parser, disturbance_check, machine, run_python, tokenised_pairs

import hiero
from hiero import Chart

ROUNDS = 3
KEPT = ("none", "forest", "chart", "splits")
# Ten charts, as what one takes may come out of memory that decoding has left.
_MEMORY = """
import sys, hiero
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
path, pop_limit, *tokens = sys.argv[1:]
decoder = hiero.Decoder(hiero.Model.load(path), pop_limit=int(pop_limit))
decoder.translate(tokens, keep="splits")
before = resident()
charts = [decoder.translate(tokens, keep="splits").chart for _ in range(10)]
forest = charts[0].forest
print(f"a chart of {forest.node_count:,} items and {forest.edge_count:,} edges takes "
      f"{(resident() - before) / len(charts):.0f} MB")
"""


def least(work: Callable[[], object]) -> float:
    """Returns milliseconds of processor time, the least of several rounds."""
    times = []
    for _ in range(ROUNDS):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return 1000 * min(times)


def chart_of(decoder: hiero.Decoder, sentence: Sequence[str], keep: str) -> Chart:
    return decoder.translate(sentence, keep=keep).chart  # type: ignore[arg-type]


def main() -> None:
    parser = argument_parser(__doc__, "model", "text")
    parser.add_argument("references", type=Path, nargs="+")
    parser.add_argument("--pop-limits", type=int, nargs="+", default=[30, 200])
    parser.add_argument("--sentences", type=int, default=100)
    arguments = parser.parse_args()
    pairs = tokenised_pairs(arguments.text, arguments.references, arguments.sentences)
    model = hiero.Model.load(arguments.model)
    print(machine())
    with disturbance_check():
        for pop_limit in arguments.pop_limits:
            print(f"{arguments.model}, {arguments.text}: {len(pairs)} sentences, pop limit {pop_limit}")
            measure(hiero.Decoder(model, pop_limit=pop_limit), pairs)
    longest = max((source for source, _ in pairs), key=len)
    print(f"a sentence of {len(longest)} words, pop limit {arguments.pop_limits[-1]}:")
    run_python(_MEMORY, arguments.model, arguments.pop_limits[-1], *longest)


def measure(decoder: hiero.Decoder, pairs: Sequence[tuple[list[str], list[list[str]]]]) -> None:
    times = np.zeros((len(pairs), len(KEPT) + 1))
    held = all_splits = spans = top_down = guided = 0
    for number, (source, references) in enumerate(pairs):
        for kind, keep in enumerate(KEPT):
            times[number, kind] = least(partial(decoder.translate, source, keep=keep))  # type: ignore[arg-type]
        chart, plain = chart_of(decoder, source, "splits"), chart_of(decoder, source, "chart")
        times[number, -1] = least(partial(chart.outside, "guided", references))
        for span in chart.spans:
            all_splits += len(chart.splits(*span))
            held += len(plain.splits(*span))
        spans += len(chart.spans)
        top_down += len(chart.outside("top-down").reached)
        guided += len(chart.outside("guided", references).reached)
    means = times.mean(axis=0)
    for keep, mean in zip(KEPT, means, strict=False):
        print(f"  keep {keep:6} {mean:6.2f} ms a sentence, {mean / means[0]:.2f} times none")
    print(f"  guided backtrace {means[-1]:.2f} ms a sentence")
    long = np.array([len(source) >= 20 for source, _ in pairs])
    if long.any():
        share = times[long, -1].mean() / times[long, 0].mean()
        print(f"  of 20 words and more, {long.sum()} sentences: {share:.2f} of decoding")
    print(f"  {held / all_splits:.0%} of all splits of spans are in charts without completing them")
    print(f"  of {spans:,} spans {top_down / spans:.0%} are reached by top-down, {guided / spans:.0%} guided")


if __name__ == "__main__":
    main()
