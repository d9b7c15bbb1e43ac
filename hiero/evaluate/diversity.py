"""The diversity of n-best lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse


def diversity(hypotheses: Sequence[Sequence[str]], order: int = 4) -> float | None:
    """Computes the mean, over all pairs of hypotheses, of d(y, y') = 1 - 2 D(y, y') / (D(y, y) + D(y', y')),
    where -D counts the pairs of equal n-grams of ``order`` words in both (Zhai et al. 2015, section 4.2).

    The diversity is 0 if all hypotheses have the same n-grams, and 1 if no two have one in common. Two
    hypotheses without n-grams have 0 if they are equal, else 1. Returns None for fewer than two hypotheses.

    >>> diversity([["a", "b", "c"], ["a", "b", "d"]], order=2)
    0.5
    """
    if len(hypotheses) < 2:
        return None
    numbers: dict[tuple[str, ...], int] = {}
    rows, columns = [], []
    for row, tokens in enumerate(hypotheses):
        for begin in range(len(tokens) - order + 1):
            ngram = tuple(tokens[begin : begin + order])
            rows.append(row)
            columns.append(numbers.setdefault(ngram, len(numbers)))
    shape = (len(hypotheses), max(len(numbers), 1))
    counts = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    common = (counts @ counts.T).toarray()
    sizes = np.diag(common)
    first, second = np.triu_indices(len(hypotheses), 1)
    total = sizes[first] + sizes[second]
    # Pairs without any n-gram have a total of 0.
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    same = [list(hypotheses[i]) == list(hypotheses[j]) for i, j in pairs]
    share = np.where(total > 0, 2 * common[first, second] / np.maximum(total, 1), same)
    return float((1 - share).mean())
