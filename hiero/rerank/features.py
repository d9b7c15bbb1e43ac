"""The features of a second stage: the first stage's score, and the counts of some n-grams in a translation
(Li and Eisner 2009, section 7.3). They add up over the edges of a forest that is annotated with n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero._core import FeatureNames, Forest

Ngram = tuple[str, ...]
Array = npt.NDArray[np.float64]

# The name of the first stage's score. No n-gram has this name, as it would contain an empty word.
SCORE = " score"


def frequent_ngrams(texts: Iterable[Sequence[str]], order: int, least: int) -> list[Ngram]:
    """Returns the n-grams of up to ``order`` words that occur ``least`` times or more in texts, sorted.

    >>> frequent_ngrams([["a", "b", "a"], ["a", "b"]], 2, 2)
    [('a',), ('a', 'b'), ('b',)]
    """
    counts: Counter[Ngram] = Counter()
    for words in texts:
        for n in range(1, order + 1):
            counts.update(zip(*(words[i:] for i in range(n)), strict=False))
    return sorted(ngram for ngram, count in counts.items() if count >= least)


class NgramFeatures:
    """The features of a second stage by their ids: 0 is the score, then come the n-grams."""

    def __init__(self, ngrams: Sequence[Ngram]) -> None:
        """Raises FormatError for an n-gram that is there twice, ValueError for one without words."""
        self.ngrams = tuple(ngrams)
        if not all(self.ngrams):
            raise ValueError("n-grams: one has no words")
        self.order = max(map(len, self.ngrams), default=1)
        self.names = FeatureNames([SCORE, *map(" ".join, self.ngrams)])
        self._ids = {ngram: 1 + i for i, ngram in enumerate(self.ngrams)}

    def __reduce__(self) -> tuple[Any, ...]:
        return NgramFeatures, (self.ngrams,)

    def __len__(self) -> int:
        return 1 + len(self.ngrams)

    def rows(self, forest: Forest, scores: Array) -> scipy.sparse.csr_array:
        """Computes the features of each edge of a forest with these edge scores, float64 (edges, features).
        Raises ValueError for a forest that is annotated with shorter n-grams, and for another number of
        scores."""
        if len(scores) != forest.edge_count:
            raise ValueError(f"scores: expected {forest.edge_count}, got {len(scores)}")
        if forest.ngram_order < self.order:
            raise ValueError(f"the forest is annotated with n = {forest.ngram_order}, not {self.order}")
        ngrams, counts = forest.ngrams()
        ids = np.array([self._ids.get(ngram, 0) for ngram in ngrams], dtype=np.int32)[counts.indices]
        is_feature = ids > 0
        # The row of an edge has the score, then its n-grams.
        before = np.concatenate([[0], np.cumsum(is_feature)])[counts.indptr]
        offsets = before + np.arange(len(before))
        is_ngram = np.ones(offsets[-1], dtype=bool)
        is_ngram[offsets[:-1]] = False
        indices, data = np.zeros(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
        indices[is_ngram], data[is_ngram] = ids[is_feature], counts.data[is_feature]
        data[~is_ngram] = scores
        rows = scipy.sparse.csr_array((data, indices, offsets), shape=(len(scores), len(self)))
        rows.sort_indices()
        return rows

    def on(self, forest: Forest, scores: Array) -> Forest:
        """Returns the forest with these features in place of its present ones."""
        return forest.with_features(self.rows(forest, scores), self.names)
