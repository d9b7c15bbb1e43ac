"""Margin constraints of online MIRA: hypotheses from a sentence's forest, with features and losses (Chiang et
al. 2008, sections 2.2 and 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hiero._core import RESCORE_BEAM, Derivation, Forest, SmoSolution, bleu_counts, smo
from hiero.evaluate.bleu import EffectiveLength
from hiero.forest.losses import BleuDocument
from hiero.tune.run.protocol import Array

IntArray = npt.NDArray[np.int32]
Oracle = Literal["forest", "local"]


@dataclass(frozen=True)
class MarginConstraints:
    """The constraints of one sentence: the oracle is to score higher than each hypothesis by its loss.

    ``oracle`` is the index of the oracle among the n hypotheses, ``losses``, float64 (n), the difference of B
    between the oracle and each, and ``offsets``, ``ids`` and ``values`` their features as rows of a CSR
    matrix.
    """

    oracle: int
    losses: Array
    offsets: IntArray
    ids: IntArray
    values: Array


@dataclass(frozen=True)
class HopeFearSelection:
    """The selection of hypotheses for constraints, three lists of ``k``: the best by the model's score; the
    hope list, best by (1 - mu) B + mu score, of which the first is the oracle; and, if ``augmented``, the
    fear list, best by score - B. With a local oracle there is no hope list, and the oracle is the hypothesis
    of the first list with the highest B."""

    k: int
    mu: float
    oracle: Oracle
    augmented: bool
    effective_length: EffectiveLength

    def select(
        self, forest: Forest, weights: Array, references: Sequence[Sequence[str]], document: BleuDocument
    ) -> tuple[MarginConstraints, BleuDocument]:
        """Returns the constraints from a forest with a derivation, and the document after its best one."""
        scores = forest.scores(weights)

        def rescored(mu: float) -> list[Derivation]:
            hypotheses = forest.rescore(
                scores,
                mu,
                references,
                document=document.counts,
                document_source=document.source,
                k=self.k,
                beam=max(RESCORE_BEAM, self.k),
                effective_length=self.effective_length,
            )
            return [hypothesis.derivation for hypothesis in hypotheses]

        model = forest.kbest(self.k, scores, unique=True)
        hope = rescored(self.mu) if self.oracle == "forest" else []
        fear = rescored(math.inf) if self.augmented else []
        distinct: dict[bytes, Derivation] = {}
        for derivation in model + hope + fear:
            distinct.setdefault(derivation.edges.tobytes(), derivation)
        source = forest.source_length
        counts = [
            bleu_counts(derivation.tokens, references, effective_length=self.effective_length)
            for derivation in distinct.values()
        ]
        b = np.array([document.b(row, source) for row in counts])
        oracle = list(distinct).index(hope[0].edges.tobytes()) if hope else int(b[: len(model)].argmax())
        rows = _features(forest, [derivation.edges for derivation in distinct.values()])
        return MarginConstraints(oracle, b[oracle] - b, *rows), document.after_sentence(counts[0], source)


def _features(forest: Forest, derivations: Sequence[IntArray]) -> tuple[IntArray, IntArray, Array]:
    """Sums the features of each derivation's edges, as offsets, ids and values of CSR rows. Takes time by the
    features that occur, not by the number of all features."""
    matrix = forest.features
    edges = np.concatenate(derivations)
    rows = np.repeat(np.arange(len(derivations)), [len(path) for path in derivations])
    begins = matrix.indptr[edges]
    sizes = matrix.indptr[edges + 1] - begins
    ends = np.cumsum(sizes)
    entries = np.arange(ends[-1]) + np.repeat(begins - ends + sizes, sizes)
    ids, columns = np.unique(matrix.indices[entries], return_inverse=True)
    cells = np.repeat(rows, sizes) * len(ids) + columns
    sums = np.bincount(cells, matrix.data[entries], len(derivations) * len(ids))
    dense = np.asarray(sums, dtype=np.float64).reshape(len(derivations), len(ids))
    row, column = np.nonzero(dense)
    offsets = np.searchsorted(row, np.arange(len(derivations) + 1))
    return offsets.astype(np.int32), ids[column].astype(np.int32), dense[row, column]


def solve_batch(
    batch: Sequence[MarginConstraints],
    weights: Array,
    fixed: npt.NDArray[np.bool_],
    c: float,
    tolerance: float,
) -> SmoSolution:
    """Minimises objective (1) of the paper for the constraints of one sentence or more, and returns the
    changes of weights. ``fixed`` is a mask of the features that may not change, ``tolerance`` the error of
    the objective."""
    sizes = [len(sentence.losses) for sentence in batch]
    ends = np.cumsum(sizes)
    entries = np.cumsum([0] + [len(sentence.ids) for sentence in batch])
    row_offsets = [sentence.offsets[1:] + begin for sentence, begin in zip(batch, entries, strict=False)]
    return smo(
        np.concatenate([[0], ends]),
        ends - sizes + [sentence.oracle for sentence in batch],
        np.concatenate([sentence.losses for sentence in batch]),
        np.concatenate([[0], *row_offsets]),
        np.concatenate([sentence.ids for sentence in batch]),
        np.concatenate([sentence.values for sentence in batch]),
        weights,
        fixed,
        c=c,
        tolerance=tolerance,
    )
