"""Chooses the decoder's span limit on a tuning set.

Longer rules can move words further, and take more time. How much they are worth depends on the languages and
on the rules; only translating tells. So the set is decoded with each limit before weights are tuned. A small
set cannot tell small differences, but training has seen how far words move in the whole bitext: the model's
own limit stays unless another is better by more than chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hiero.base.progress import Report
from hiero.decode.settings import SPAN_LIMITS
from hiero.evaluate.metric import Metric
from hiero.evaluate.significance import Runs, paired_bootstrap
from hiero.tune.run.iterations import best_statistics
from hiero.tune.run.objective import maximised_score
from hiero.tune.run.progress import ProgressDecoder
from hiero.tune.run.protocol import Array, TuningDecoder

# Another limit is taken if it is better in all but this share of resampled sets.
_CHANCE = 0.05


@dataclass(frozen=True)
class TriedLimit:
    """A span limit, the metric of the set in the sense that more is better, and what decoding a sentence
    costs on average: hypotheses that the search generated, and seconds of processor time."""

    span_limit: int
    score: float
    generated: float
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class SpanLimitChoice:
    """The limits that were tried, from the least, and the one that is chosen."""

    tried: Sequence[TriedLimit]
    span_limit: int


def choose_span_limit(
    decoder_with: Callable[[int], TuningDecoder],
    metric: Metric,
    weights: Array,
    own: int,
    limits: Sequence[int] = SPAN_LIMITS,
    progress: Report | None = None,
) -> SpanLimitChoice:
    """Decodes the set of ``metric`` with ``weights``, float64 (features), by a new decoder
    ``decoder_with(limit)`` for each of ``limits`` and the model's ``own``, and chooses one of them.

    A limit takes the place of ``own``, or of a lesser one that has, if the metric is higher, and is so in
    95 % of resampled sets (``paired_bootstrap``). ``progress`` is called as the work goes on. Raises what
    decoding raises.
    """
    tried: list[TriedLimit] = []
    results: dict[int, Runs] = {}
    for limit in sorted({own, *limits}):
        decoder, begin = decoder_with(limit), time.process_time()
        shown = ProgressDecoder(decoder, f"span limit {limit}: sentences", metric.segments, progress)
        rows = best_statistics(metric, shown.kbest(weights, 1))
        seconds = (time.process_time() - begin) / metric.segments
        score = float(maximised_score(metric, rows.sum(axis=0)))
        tried.append(TriedLimit(limit, score, decoder.generated / metric.segments, seconds))
        results[limit] = Runs.of(metric, rows[None])
    chosen = next(each for each in tried if each.span_limit == own)
    for each in tried:
        pair = results[chosen.span_limit], results[each.span_limit]
        if each.score > chosen.score and paired_bootstrap(metric, *pair) < _CHANCE:
            chosen = each
    return SpanLimitChoice(tried, chosen.span_limit)
