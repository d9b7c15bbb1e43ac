"""Choosing a translation of a forest by all of its derivations instead of the best alone.

Minimum Bayes risk takes the derivation whose string has the greatest expected linear BLEU, the others being
the references (Tromble et al. 2008; Kumar et al. 2009). Variational decoding takes the one that is best by
the n-gram models nearest to the distribution over strings, of which a single derivation knows but a little,
as many others may have the same string (Li, Eisner and Khudanpur 2009).

Both see p(d) = exp(gamma score(d)) / Z over the edges of the best derivations, annotated with n-grams.
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

# Edges that an annotated forest may have.
_MOST_EDGES = 1_000_000


class Decision(Settings):
    """How a translation is chosen.

    >>> Decision(decision="mbr", gamma=2.0).order
    4
    """

    model_config = ConfigDict(allow_inf_nan=False)

    decision: Literal["viterbi", "mbr", "variational"] = Field(
        "viterbi",
        description="viterbi takes the best derivation, mbr the least expected loss, variational the best by"
        " n-gram models of all derivations",
    )
    gamma: float = Field(1.0, gt=0, description="times scores in p(d) = exp(gamma score(d)) / Z")
    decision_edges: int = Field(3000, ge=1, description="of the best derivations, which p is over")
    precision: float = Field(0.85, gt=0, le=1, description="of words, in mbr's linear BLEU")
    ratio: float = Field(0.7, gt=0, description="of the precisions of one order and the one before, likewise")
    order: int = Field(ORDER, ge=1, le=10, description="of the largest n-gram model of variational decoding")
    score_share: float = Field(
        0.0, ge=0, lt=1, description="of the score, beside the mean of the n-gram models' logarithms"
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

    def of(self, forest: Forest, scores: npt.ArrayLike | Mapping[str, float]) -> Derivation | None:
        """Returns the best derivation of the string that is chosen from a forest with edge scores, or
        weights, with its score by them; None where there is none. Raises ValueError as
        ``forest.distribution`` does."""
        values = (
            forest.scores(scores) if isinstance(scores, Mapping) else np.asarray(scores, dtype=np.float64)
        )
        if self.decision == "viterbi" or forest.root < 0:
            return forest.viterbi(values)
        mbr = self.decision == "mbr"
        split, origins = best_part(forest, values, self.decision_edges, ORDER if mbr else self.order)
        own = values[origins]
        p = split.distribution(self.gamma * own)
        if mbr:
            by_edge = p.mbr_values(self._loss().theta)
        else:
            orders = range(1, self.order + 1)
            logs = np.mean([p.variational_values(n) for n in orders], axis=0)
            by_edge = (1 - self.score_share) * logs + self.score_share * self.gamma * own
        best = split.viterbi(by_edge)
        assert best is not None
        return best_derivation(forest, best.tokens, values)


def best_derivation(forest: Forest, tokens: Sequence[str], scores: npt.NDArray[np.float64]) -> Derivation:
    """Returns the best derivation of a forest that yields ``tokens``, by the scores of its edges. Raises
    ValueError where none does."""
    same = forest.constrain([tokens])
    best = same.viterbi(scores[same.edge_origins])
    if best is None:
        raise ValueError("no derivation of the forest yields these tokens")
    return forest.derivation(same.edge_origins[best.edges].tolist(), scores)


def best_part(
    forest: Forest, scores: npt.NDArray[np.float64], edges: int, order: int, most: int = _MOST_EDGES
) -> tuple[Forest, npt.NDArray[np.int32]]:
    """The part of a forest with its best edges, so many or as many as can be annotated with n-grams in
    ``most`` edges, annotated, and which edges of the whole its edges are. Raises ForestError where the best
    derivations alone, if there are many as good, are too many."""
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
