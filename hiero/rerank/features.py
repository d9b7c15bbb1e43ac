"""The features of a second stage: the first one's score, and how often a translation has each of some
n-grams (Li and Eisner 2009, section 7.3). They add up over the edges of a forest that is annotated for their
order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hiero._core import FeatureNames, Forest

Ngram = tuple[str, ...]
Array = npt.NDArray[np.float64]

# The feature that is a score has a name that no n-gram has: words are not empty.
SCORE = " score"


def frequent_ngrams(texts: Iterable[Sequence[str]], order: int, least: int) -> list[Ngram]:
    """Those of up to ``order`` words that occur so often in texts, sorted.

    >>> frequent_ngrams([["a", "b", "a"], ["a", "b"]], 2, 2)
    [('a',), ('a', 'b'), ('b',)]
    """
    counts: Counter[Ngram] = Counter()
    for words in texts:
        for n in range(1, order + 1):
            counts.update(zip(*(words[i:] for i in range(n)), strict=False))
    return sorted(ngram for ngram, count in counts.items() if count >= least)


class NgramFeatures:
    """Features by their ids: 0 is the score, the n-grams come after it."""

    def __init__(self, ngrams: Sequence[Ngram]) -> None:
        """Raises FormatError where an n-gram is there twice, ValueError for one without words."""
        self.ngrams = tuple(ngrams)
        if not all(self.ngrams):
            raise ValueError("n-grams: one has no words")
        self.order = max(map(len, self.ngrams), default=1)
        self.names = FeatureNames([SCORE, *map(" ".join, self.ngrams)])
        self._ids = {ngram: 1 + i for i, ngram in enumerate(self.ngrams)}

    def __len__(self) -> int:
        return 1 + len(self.ngrams)

    def rows(self, forest: Forest, scores: Array) -> scipy.sparse.csr_array:
        """float64 (edges, features) of a forest with these edge scores. Raises ValueError for one that is not
        annotated for as many words, and for another number of scores."""
        if len(scores) != forest.edge_count:
            raise ValueError(f"scores: expected {forest.edge_count}, got {len(scores)}")
        if forest.ngram_order < self.order:
            raise ValueError(f"the forest is annotated with n = {forest.ngram_order}, not {self.order}")
        ngrams, counts = forest.ngrams()
        ids = np.array([self._ids.get(ngram, 0) for ngram in ngrams], dtype=np.int32)[counts.indices]
        known = ids > 0
        # Of each edge, the score and then its n-grams.
        before = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
        offsets = before + np.arange(len(before))
        found = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
        is_ngram = np.ones(offsets[-1], dtype=bool)
        is_ngram[offsets[:-1]] = False
        for array, own, score in zip(found, (ids, counts.data), (0, scores), strict=True):
            array[is_ngram] = own[known]
            array[~is_ngram] = score
        rows = scipy.sparse.csr_array((found[1], found[0], offsets), shape=(len(scores), len(self)))
        rows.sort_indices()
        return rows

    def on(self, forest: Forest, scores: Array) -> Forest:
        """The forest with these features in place of its own."""
        return forest.with_features(self.rows(forest, scores), self.names)
