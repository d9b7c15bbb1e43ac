"""The score that tuning maximises: a metric, or a mix of metrics, such that more is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Array, Metric
from hiero.evaluate.tokens import Hypotheses


def maximised_score(metric: Metric, statistics: npt.ArrayLike) -> Array:
    """Returns the metric of sums of statistics, (..., width) to (...), such that more is better: 100 - TER
    for TER."""
    return _rising(metric, metric.score(statistics))


def _rising(metric: Metric, scores: Array) -> Array:
    return 100 - scores if metric.lower_is_better else scores


def maximised_name(metric: Metric) -> str:
    """Names the ``maximised_score`` of a metric."""
    return f"100 - {metric.name}" if metric.lower_is_better else metric.name


class Mix(Metric):
    """A weighted sum of metrics, each as a score of which more is better.

    >>> from hiero.evaluate import Bleu, Ter
    >>> references = [["a b c d e"]]
    >>> mix = Mix([(0.5, Bleu(references)), (0.5, Ter(references))])
    >>> float(mix.score(mix.statistics(["a b c d e"]).sum(axis=0)))
    100.0
    """

    name = "mix"

    def __init__(self, parts: Sequence[tuple[float, Metric]]) -> None:
        """``parts`` are weights and metrics. Raises ValueError for no parts, and for metrics of different
        sets, or of different tokenisers or case."""
        metrics = [metric for _, metric in parts]
        if not metrics or len({metric.segments for metric in metrics}) > 1:
            raise ValueError("a mix is of one metric or more, of one set")
        if len({metric.text for metric in metrics}) > 1:
            texts = ", ".join(f"{metric.name} {metric.text.signature}" for metric in metrics)
            raise ValueError(f"a mix is of metrics with one tokeniser and case, not of {texts}")
        self.parts = list(parts)
        self._widths = [metric.width for metric in metrics]
        self.text = metrics[0].text
        self.segments = metrics[0].segments
        self.most_references = max(metric.most_references for metric in metrics)
        self.checksum = "+".join(metric.checksum for metric in metrics)

    def statistics(self, lines: Sequence[str]) -> Array:
        return np.hstack([metric.statistics(lines) for _, metric in self.parts])

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return np.hstack([metric.token_statistics(segments, hypotheses) for _, metric in self.parts])

    def score(self, statistics: npt.ArrayLike) -> Array:
        return self._sum(statistics, [metric.score for _, metric in self.parts])

    def segment_scores(self, statistics: npt.ArrayLike) -> Array:
        return self._sum(statistics, [metric.segment_scores for _, metric in self.parts])

    def _sum(self, statistics: npt.ArrayLike, scorers: Sequence[Callable[[Array], Array]]) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        total = np.zeros(values.shape[:-1])
        begin = 0
        for (weight, metric), width, scores in zip(self.parts, self._widths, scorers, strict=True):
            total += weight * _rising(metric, scores(values[..., begin : begin + width]))
            begin += width
        return total

    @property
    def signature(self) -> str:
        return "+".join(f"{float(weight)!r}*{metric.signature}" for weight, metric in self.parts)

    @property
    def segment_signature(self) -> str:
        return "+".join(filter(None, (metric.segment_signature for _, metric in self.parts)))
