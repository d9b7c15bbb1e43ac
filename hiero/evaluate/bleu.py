"""BLEU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hiero._core import bleu
from hiero.evaluate.metric import Array, Metric
from hiero.evaluate.references import IndexedReferences
from hiero.evaluate.tokens import Hypotheses, Text
from hiero.forest.losses import BleuColumns

EffectiveLength = Literal["shortest", "closest", "average"]


class Bleu(Metric):
    """BLEU (Papineni et al. 2002) from 0 to 100, as sacrebleu computes it: an order without a match counts as
    1/2 of a match, the next one as 1/4, and so on.

    ``BleuColumns`` names the columns of its statistics, float64 (n, 10): length, effective reference length,
    and n-gram totals and clipped matches for n = 1 to 4. ``score`` ignores further columns.
    """

    name = "BLEU"
    order = 4

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        text: Text | None = None,
        effective_length: EffectiveLength = "closest",
    ) -> None:
        super().__init__(references, text)
        self.effective_length = effective_length
        # The tokens of each reference of each segment.
        self.references = [self.text.tokens(segment) for segment in references]
        self._set = IndexedReferences(self.references)

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        words = hypotheses.split()
        return self._set.bleu(segments, words.vocabulary, words.words, words.offsets, self.effective_length)

    def unclipped(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        """Counts the n-grams of each hypothesis, n = 1 to 4, that occur in a reference, without clipping;
        float64 (n, 4)."""
        words = hypotheses.split()
        return self._set.unclipped(segments, words.vocabulary, words.words, words.offsets)

    def score(self, statistics: npt.ArrayLike) -> Array:
        return _smoothed_score(np.asarray(statistics, dtype=np.float64), effective_order=False)

    def segment_scores(self, statistics: npt.ArrayLike) -> Array:
        """Computes sentence BLEU as sacrebleu does: orders longer than the hypothesis do not count."""
        return _smoothed_score(np.asarray(statistics, dtype=np.float64), effective_order=True)

    def details(self, statistics: Array) -> str:
        length, reference_length = statistics[[BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]].tolist()
        totals, matches = statistics[BleuColumns.TOTALS], statistics[BleuColumns.MATCHES]
        precisions = "/".join(f"{100 * p:.1f}" for p in matches / np.maximum(totals, 1))
        # BLEU of such a translation if all of its n-grams matched.
        brevity = bleu([length, reference_length, *[1.0] * 8]) if length else 0.0
        lengths = f"hyp_len = {length:g} ref_len = {reference_length:g}"
        return f" {precisions} (BP = {brevity:.3f} ratio = {length / reference_length:.3f} {lengths})"

    @property
    def signature(self) -> str:
        references = f"nrefs:{self._reference_count}|length:{self.effective_length}"
        return f"BLEU|{references}|{self.text.signature}|eff:no|smooth:exp"

    @property
    def segment_signature(self) -> str:
        return "eff:yes"


def _smoothed_score(statistics: Array, effective_order: bool) -> Array:
    totals, matches = statistics[..., BleuColumns.TOTALS], statistics[..., BleuColumns.MATCHES]
    defined = np.logical_and.accumulate(totals > 0, axis=-1)
    # The first order without a match counts half a match, the next one a fourth.
    missing = np.cumsum(defined & (matches == 0), axis=-1)
    counted = np.where(matches > 0, matches, 0.5**missing)
    orders = np.maximum(defined.sum(axis=-1), 1) if effective_order else Bleu.order
    smoothed = statistics[..., : BleuColumns.WIDTH].copy()  # rows may have further columns
    smoothed[..., BleuColumns.MATCHES] = counted
    scores = 100 * np.asarray(bleu(smoothed, orders))
    return np.asarray(np.where((matches > 0).any(axis=-1), scores, 0.0))
