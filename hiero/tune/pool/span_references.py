"""References of spans: the words of each reference that are aligned to a span (Zhai et al. 2015, section
3.1)."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from hiero._core import ReferenceSet
from hiero.evaluate.bleu import Bleu, EffectiveLength
from hiero.evaluate.metric import Array
from hiero.evaluate.tokens import Hypotheses, Text

Links = Sequence[tuple[int, int]]


def aligned_span(links: Links, begin: int, end: int, length: int) -> tuple[int, int] | None:
    """Returns the longest target span, in a target of ``length`` words, that is consistent with a source
    span: there is a link between them, and no word of either is linked to a word outside the other. None if
    there is no such span.

    >>> aligned_span([(0, 0), (1, 2)], 0, 1, 3)
    (0, 2)
    """
    inside = [target for source, target in links if begin <= source < end]
    if not inside:
        return None
    first, past = min(inside), max(inside) + 1
    outside = {target for source, target in links if not begin <= source < end}
    if any(first <= target < past for target in outside):
        return None
    # Words without a link are taken in on both sides.
    while first > 0 and first - 1 not in outside:
        first -= 1
    while past < length and past not in outside:
        past += 1
    return first, past


class AlignedBleu(Bleu):
    """BLEU with word alignments of its references, which also counts for translations of source spans."""

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        alignments: Sequence[Sequence[Links]],
        text: Text | None = None,
        effective_length: EffectiveLength = "closest",
    ) -> None:
        """``alignments`` has (source, target) positions for each reference of each segment. Raises ValueError
        for another number of alignments, and for a link beyond a reference; the message names the segment."""
        super().__init__(references, text, effective_length)
        if len(alignments) != self.segments:
            raise ValueError(f"alignments of {len(alignments)} segments, there are {self.segments}")
        for number, (tokenised, links) in enumerate(zip(self.references, alignments, strict=True)):
            if len(tokenised) != len(links):
                raise ValueError(f"segment {number}: {len(links)} alignments of {len(tokenised)} references")
            for tokens, pairs in zip(tokenised, links, strict=True):
                if any(target >= len(tokens) for _, target in pairs):
                    raise ValueError(f"segment {number}: a link beyond a reference of {len(tokens)} tokens")
        self._alignments = alignments
        self.checksum = hashlib.sha256(json.dumps([self.checksum, alignments]).encode()).hexdigest()
        self._spans: dict[tuple[int, int, int], ReferenceSet | None] = {}
        self._making = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_spans": {}, "_making": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _making=threading.Lock())

    def span_references(self, segment: int, span: tuple[int, int]) -> list[list[str]]:
        """Returns the tokens of each reference that are aligned to a source span; references without such
        tokens are left out."""
        parts = []
        for tokens, links in zip(self.references[segment], self._alignments[segment], strict=True):
            if (target := aligned_span(links, *span, len(tokens))) is not None:
                parts.append(tokens[slice(*target)])
        return parts

    def span_statistics(self, segment: int, span: tuple[int, int], hypotheses: Hypotheses) -> Array | None:
        """Counts statistics of translations of a source span, float64 (n, 10); None if no reference is
        aligned to it."""
        with self._making:
            key = (segment, *span)
            if key not in self._spans:
                parts = self.span_references(segment, span)
                self._spans[key] = ReferenceSet([parts]) if parts else None
            references = self._spans[key]
        if references is None:
            return None
        words = hypotheses.split()
        segments = np.zeros(len(words), dtype=np.int32)
        return references.bleu(segments, words.vocabulary, words.words, words.offsets, self.effective_length)
