"""Scores of parts of a test set: of its sentences by a property such as their length, and of its words by a
property such as their frequency in the training text.

>>> from hiero.evaluate.breakdown import Bins
>>> bins = Bins(0, 1, 10)
>>> bins.names
['0', '1 to 9', '10 or more']
>>> bins.of([0, 9, 12]).tolist()
[0, 1, 2]
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hiero.evaluate.metric import Array, Metric
from hiero.evaluate.tokens import IntArray


class Bins:
    """Ranges of whole numbers, numbered from 0: from each start to before the next one, and all from the last
    start on. Raises ValueError for starts that do not increase."""

    def __init__(self, *starts: int) -> None:
        if not starts or any(a >= b for a, b in itertools.pairwise(starts)):
            raise ValueError(f"bins need starts that increase, not {starts}")
        self.starts = starts

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def names(self) -> list[str]:
        """The ranges in words."""
        names = [
            f"{start:,}" if start + 1 == after else f"{start:,} to {after - 1:,}"
            for start, after in itertools.pairwise(self.starts)
        ]
        return [*names, f"{self.starts[-1]:,} or more"]

    def of(self, values: npt.ArrayLike) -> IntArray:
        """Returns the bin of each value, int32 (n). Raises ValueError for a value below the first start."""
        bins = np.searchsorted(self.starts, np.asarray(values, dtype=np.int64), side="right") - 1
        if (bins < 0).any():
            raise ValueError(f"a value is below {self.starts[0]}")
        return bins.astype(np.int32)


def scores_by_bin(metric: Metric, statistics: Array, bins: npt.ArrayLike, count: int) -> list[float | None]:
    """Computes the metric of the segments in each of ``count`` bins, None for a bin without segments.

    ``statistics`` are those of the segments, (n, width), and ``bins`` has the bin of each, (n).
    """
    numbers = np.asarray(bins)
    parts = [statistics[numbers == number] for number in range(count)]
    return [float(metric.score(part.sum(axis=0))) if len(part) else None for part in parts]


def word_matches(
    references: Sequence[Sequence[Sequence[str]]],
    hypotheses: Sequence[Sequence[str]],
    bin_of: Callable[[str], int],
    count: int,
) -> npt.NDArray[np.int64]:
    """Counts, in each of ``count`` bins, the words that hypotheses and references have in common, the words
    of hypotheses, and the words of references; int64 (count, 3).

    A word is in the bin that ``bin_of`` returns for it. Words of a segment match in any order, each as often
    as it is in both. ``references`` has the words of each reference of each segment; a hypothesis is compared
    with each of its references in turn, and the counts are added up.
    """
    counts = np.zeros((count, 3), dtype=np.int64)
    for segment, words in zip(references, hypotheses, strict=True):
        given = Counter(words)
        for reference in map(Counter, segment):
            for column, part in enumerate((given & reference, given, reference)):
                for word, times in part.items():
                    counts[bin_of(word), column] += times
    return counts


def f1(matches: npt.ArrayLike) -> list[float | None]:
    """Computes the harmonic mean of precision and recall, from 0 to 1, of rows of ``word_matches``; None for
    a row without words."""
    rows = np.asarray(matches).tolist()
    return [2 * both / (given + expected) if given + expected else None for both, given, expected in rows]
