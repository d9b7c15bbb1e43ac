"""Margin constraints of online MIRA: hypotheses of a sentence's forest, with features and losses (Chiang et
al. 2008, sections 2.2 and 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hiero._core import RESCORE_BEAM, Derivation, Forest, SmoSolution, bleu_counts, smo
from hiero.evaluate.metrics import EffectiveLength
from hiero.forest.losses import BleuDocument
from hiero.tune.protocol import Array

IntArray = npt.NDArray[np.int32]
Oracle = Literal["forest", "local"]


@dataclass(frozen=True)
class Lesson:
    """Hypotheses of a sentence: which is the oracle, losses float64 (n), what B of the oracle is more than
    theirs, and features as CSR rows."""

    oracle: int
    losses: Array
    offsets: IntArray
    ids: IntArray
    values: Array


@dataclass(frozen=True)
class Teacher:
    """The selection of hypotheses to learn from: the ``k`` best of the model, of (1 - mu) B + mu score with
    the oracle first, and of score - B if ``augmented``. With a local oracle, it is the one of the model's
    that B likes best, and the second list is left out."""

    k: int
    mu: float
    oracle: Oracle
    augmented: bool
    effective_length: EffectiveLength

    def teach(
        self, forest: Forest, weights: Array, references: Sequence[Sequence[str]], document: BleuDocument
    ) -> tuple[Lesson, BleuDocument]:
        """The lesson of a forest with a derivation, and the document after its 1-best."""
        scores = forest.scores(weights)

        def rescored(mu: float) -> list[Derivation]:
            found = forest.rescore(
                scores,
                mu,
                references,
                document=document.counts,
                document_source=document.source,
                k=self.k,
                beam=max(RESCORE_BEAM, self.k),
                effective_length=self.effective_length,
            )
            return [hypothesis.derivation for hypothesis in found]

        model = forest.kbest(self.k, scores, unique=True)
        good = rescored(self.mu) if self.oracle == "forest" else []
        bad = rescored(math.inf) if self.augmented else []
        distinct: dict[bytes, Derivation] = {}
        for derivation in model + good + bad:
            distinct.setdefault(derivation.edges.tobytes(), derivation)
        source = len(forest.source)
        counts = [
            bleu_counts(derivation.tokens, references, effective_length=self.effective_length)
            for derivation in distinct.values()
        ]
        b = np.array([document.b(each, source) for each in counts])
        best = list(distinct).index(good[0].edges.tobytes()) if good else int(b[: len(model)].argmax())
        rows = _features(forest, [derivation.edges for derivation in distinct.values()])
        return Lesson(best, b[best] - b, *rows), document.followed_by(counts[0], source)


def _features(forest: Forest, derivations: Sequence[IntArray]) -> tuple[IntArray, IntArray, Array]:
    """CSR rows of derivations, sums over their edges; costs what their features cost, whatever the number of
    all features."""
    matrix = forest.features
    edges = np.concatenate(derivations)
    rows = np.repeat(np.arange(len(derivations)), [len(each) for each in derivations])
    begins = matrix.indptr[edges]
    sizes = matrix.indptr[edges + 1] - begins
    ends = np.cumsum(sizes)
    entries = np.arange(ends[-1]) + np.repeat(begins - ends + sizes, sizes)
    ids, columns = np.unique(matrix.indices[entries], return_inverse=True)
    cells = np.repeat(rows, sizes) * len(ids) + columns
    sums = np.bincount(cells, matrix.data[entries], len(derivations) * len(ids))
    dense = np.asarray(sums, dtype=np.float64).reshape(len(derivations), len(ids))
    where, which = np.nonzero(dense)
    offsets = np.searchsorted(where, np.arange(len(derivations) + 1))
    return offsets.astype(np.int32), ids[which].astype(np.int32), dense[where, which]


def learn(
    lessons: Sequence[Lesson], weights: Array, fixed: npt.NDArray[np.bool_], c: float, tolerance: float
) -> SmoSolution:
    """The weights that objective (1) has its least value at, for a batch of one lesson or more; of every
    feature whether it is ``fixed``."""
    sizes = [len(lesson.losses) for lesson in lessons]
    ends = np.cumsum(sizes)
    entries = np.cumsum([0] + [len(lesson.ids) for lesson in lessons])
    row_offsets = [lesson.offsets[1:] + begin for lesson, begin in zip(lessons, entries, strict=False)]
    return smo(
        np.concatenate([[0], ends]),
        ends - sizes + [lesson.oracle for lesson in lessons],
        np.concatenate([lesson.losses for lesson in lessons]),
        np.concatenate([[0], *row_offsets]),
        np.concatenate([lesson.ids for lesson in lessons]),
        np.concatenate([lesson.values for lesson in lessons]),
        weights,
        fixed,
        c=c,
        tolerance=tolerance,
    )
