"""What tuning makes larger: a metric, or a mix of metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metrics import Array, Hypotheses, Metric


def gain(metric: Metric, statistics: npt.ArrayLike) -> Array:
    """The metric of sums of statistics, (..., width) to (...), turned so that more is better: 100 - TER."""
    scores = metric.score(statistics)
    return 100 - scores if metric.lower_is_better else scores


def gain_name(metric: Metric) -> str:
    """What ``gain`` is called."""
    return f"100 - {metric.name}" if metric.lower_is_better else metric.name


class Mix(Metric):
    """A weighted sum of metrics, each turned so that more is better.

    >>> from hiero.evaluate import Bleu, Ter
    >>> references = [["a b c d e"]]
    >>> mix = Mix([(0.5, Bleu(references)), (0.5, Ter(references))])
    >>> float(mix.score(mix.statistics(["a b c d e"]).sum(axis=0)))
    100.0
    """

    name = "mix"

    def __init__(self, parts: Sequence[tuple[float, Metric]]) -> None:
        """Raises ValueError for no parts, or parts of other sets."""
        if not parts or len({metric.segments for _, metric in parts}) > 1:
            raise ValueError("a mix is of one metric or more, of one set")
        self.parts = list(parts)
        self._widths = [metric.width for _, metric in parts]
        self.segments = parts[0][1].segments
        self.checksum = "+".join(metric.checksum for _, metric in parts)

    def statistics(self, lines: Sequence[str]) -> Array:
        return np.hstack([metric.statistics(lines) for _, metric in self.parts])

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return np.hstack([metric.token_statistics(segments, hypotheses) for _, metric in self.parts])

    def score(self, statistics: npt.ArrayLike) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        total = np.zeros(values.shape[:-1])
        begin = 0
        for (weight, metric), width in zip(self.parts, self._widths, strict=True):
            total += weight * gain(metric, values[..., begin : begin + width])
            begin += width
        return total

    @property
    def signature(self) -> str:
        return "+".join(f"{float(weight)!r}*{metric.signature}" for weight, metric in self.parts)
