"""The choice of a translation from a forest by all of its derivations, not by the best alone.

Minimum Bayes risk chooses the derivation whose string has the greatest expected linear BLEU, with the strings
of the others as references (Tromble et al. 2008; Kumar et al. 2009). Variational decoding chooses the string
that is best by n-gram models of the distribution over strings; the score of one derivation says little about
its string, which many derivations may have (Li, Eisner and Khudanpur 2009).

Both use p(d) = exp(gamma score(d)) / Z over the edges of the best derivations, annotated with n-grams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, model_validator

from hiero._core import Derivation, Forest, ForestError
from hiero.base.settings import Settings, refuse_idle
from hiero.forest.losses import ORDER, LinearBleu

# Most edges of an annotated forest.
_MOST_EDGES = 1_000_000


class Decision(Settings):
    """Settings of the choice of a translation from a forest.

    >>> Decision(decision="mbr", gamma=2.0).order
    4
    """

    model_config = ConfigDict(allow_inf_nan=False)

    decision: Literal["viterbi", "mbr", "variational"] = Field(
        "viterbi",
        description="choice of the translation: the best derivation (viterbi), the least expected loss (mbr),"
        " or the best by n-gram models of all derivations (variational)",
    )
    gamma: float = Field(1.0, gt=0, description="factor of scores in p(d) = exp(gamma score(d)) / Z")
    decision_edges: int = Field(
        3000, ge=1, description="edges of the best derivations, whose distribution is p"
    )
    precision: float = Field(0.85, gt=0, le=1, description="precision of words in the linear BLEU of mbr")
    ratio: float = Field(
        0.7, gt=0, description="ratio of the precisions of successive orders in the linear BLEU of mbr"
    )
    order: int = Field(
        ORDER, ge=1, le=10, description="order of the largest n-gram model of variational decoding"
    )
    score_share: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="weight of the score in variational decoding; the n-gram models have the rest",
    )

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if self.decision == "viterbi":
            refuse_idle(self, ("gamma", "decision_edges"), "goes with mbr and variational")
        if self.decision != "mbr":
            refuse_idle(self, ("precision", "ratio"), "goes with mbr")
        if self.decision != "variational":
            refuse_idle(self, ("order", "score_share"), "goes with variational")
        self._loss()
        return self

    def _loss(self) -> LinearBleu:
        return LinearBleu(1.0, self.precision, self.ratio)

    def choose(self, forest: Forest, scores: npt.ArrayLike | Mapping[str, float]) -> Derivation | None:
        """Chooses a string from a forest, and returns its best derivation, with the score. ``scores`` are of
        edges, float64 (edges), or weights of features. Returns None if there is no derivation. Raises
        ValueError as ``forest.distribution`` does."""
        values = (
            forest.scores(scores) if isinstance(scores, Mapping) else np.asarray(scores, dtype=np.float64)
        )
        if self.decision == "viterbi" or forest.root < 0:
            return forest.viterbi(values)
        mbr = self.decision == "mbr"
        split, origins = best_part(forest, values, self.decision_edges, ORDER if mbr else self.order)
        edge_scores = values[origins]
        p = split.distribution(self.gamma * edge_scores)
        if mbr:
            by_edge = p.mbr_values(self._loss().theta)
        else:
            orders = range(1, self.order + 1)
            logs = np.mean([p.variational_values(n) for n in orders], axis=0)
            by_edge = (1 - self.score_share) * logs + self.score_share * self.gamma * edge_scores
        best = split.viterbi(by_edge)
        assert best is not None
        return best_derivation(forest, best.tokens, values)


def best_derivation(forest: Forest, tokens: Sequence[str], scores: npt.NDArray[np.float64]) -> Derivation:
    """Returns the best derivation that yields ``tokens``, by these scores of a forest's edges. Raises
    ValueError if none does."""
    same = forest.constrain([tokens])
    best = same.viterbi(scores[same.edge_origins])
    if best is None:
        raise ValueError("no derivation of the forest yields these tokens")
    return forest.derivation(same.edge_origins[best.edges].tolist(), scores)


def best_part(
    forest: Forest, scores: npt.NDArray[np.float64], edges: int, order: int, most: int = _MOST_EDGES
) -> tuple[Forest, npt.NDArray[np.int32]]:
    """Prunes a forest to its best edges and annotates it with n-grams of an order. Returns the annotated
    forest, and for each of its edges the edge of the whole forest, int32. Fewer edges are kept, half as many
    and half again, as long as the annotated forest would have more than ``most``. Raises ForestError if
    equally good derivations alone make too many."""
    while True:
        small = forest.prune(scores, edges=edges)
        try:
            split = small.annotate_ngrams(order, max_edges=most)
        except ForestError:
            if edges == 0:
                raise
            edges = min(edges, small.edge_count) // 2
            continue
        return split, small.edge_origins[split.edge_origins]
