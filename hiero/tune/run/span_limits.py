"""Chooses the decoder's span limit on a tuning set.

Longer rules can move words further, and take more time. How much they are worth depends on the languages and
on the rules; only translating tells. So the set is decoded with each limit before weights are tuned, and a
longer limit is taken if it is better by more than chance.
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

# A longer limit is taken if it is better in all but this share of resampled sets.
_CHANCE = 0.05


@dataclass(frozen=True)
class TriedLimit:
    """A span limit, the metric of the set in the sense that more is better, and what decoding a sentence
    costs on average: hypotheses that the search generated, and seconds."""

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
    ``decoder_with(limit)`` for each of the rising ``limits``, and chooses one of them.

    A limit takes the place of a lesser one if the metric is higher, and is so in 95 % of resampled sets
    (``paired_bootstrap``). If all limits give the same translations, as of short sentences, the set does not
    tell, and the limit stays ``own``. ``progress`` is called as the work goes on. Raises ValueError for no
    limits, and what decoding raises.
    """
    if not limits:
        raise ValueError("no span limits to choose among")
    tried: list[TriedLimit] = []
    results: list[Runs] = []
    chosen = 0
    for place, limit in enumerate(limits):
        decoder, begin = decoder_with(limit), time.monotonic()
        shown = ProgressDecoder(decoder, f"span limit {limit}: sentences", metric.segments, progress)
        rows = best_statistics(metric, shown.kbest(weights, 1))
        seconds = (time.monotonic() - begin) / metric.segments
        score = float(maximised_score(metric, rows.sum(axis=0)))
        tried.append(TriedLimit(limit, score, decoder.generated / metric.segments, seconds))
        results.append(Runs.of(metric, rows[None]))
        is_better = score > tried[chosen].score
        if is_better and paired_bootstrap(metric, results[chosen], results[place]) < _CHANCE:
            chosen = place
    first = results[0].statistics
    is_same = all((each.statistics == first).all() for each in results)
    return SpanLimitChoice(tried, own if is_same else tried[chosen].span_limit)
