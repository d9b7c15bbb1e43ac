"""Structural distortion features (Chiang et al. 2008, section 4): whether a nonterminal is reordered.

A nonterminal is reordered if it crosses another nonterminal or a word link of its rule. The features depend
on the number S of source words that the nonterminal covers.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hiero._core import ExtractStatistics, FormatError
from hiero.base.files import write_atomically
from hiero.base.json_files import json_number
from hiero.base.settings import Settings

SIZES = 10  # 1 .. 9 source words, and 10 or more


@dataclass(frozen=True)
class DistortionStatistics:
    """Counts of nonterminals in extracted rules by source words: entry S - 1, the last one for 10 or more."""

    monotone: Sequence[int]
    reordered: Sequence[int]

    @classmethod
    def from_extraction(cls, statistics: ExtractStatistics) -> DistortionStatistics:
        """Returns the counts made by rule extraction."""
        return cls(list(statistics.monotone), list(statistics.reordered))

    def log_probability(self, reordered: bool, size: int) -> float:
        """Returns the natural log of P(reordered | size) or P(monotone | size), with add-one smoothing.

        A size that was never seen is treated like the largest size that was seen. Raises ValueError for a
        size below 1.
        """
        if size < 1:
            raise ValueError(f"a nonterminal covers at least 1 word, not {size}")
        seen = [s for s in range(SIZES) if self.monotone[s] + self.reordered[s] > 0]
        row = min(size, SIZES) - 1
        if row not in seen:
            row = seen[-1] if seen else 0
        counts = (self.monotone[row], self.reordered[row])
        return math.log((counts[reordered] + 1) / (sum(counts) + 2))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts as JSON."""
        counts = {k: list(v) for k, v in asdict(self).items()}
        write_atomically(path, json.dumps(counts, default=json_number) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DistortionStatistics:
        """Reads the counts. Raises FormatError or OSError."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            rows = [data["monotone"], data["reordered"]]
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{os.fspath(path)}: malformed distortion statistics: {error}") from None
        for row in rows:
            if not isinstance(row, list) or len(row) != SIZES or not all(_is_count(n) for n in row):
                raise FormatError(f"{os.fspath(path)}: expected {SIZES} counts in each row")
        return cls(*rows)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


Counts = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=SIZES, max_length=SIZES)]


class _Distortion(Settings):
    kind: str
    # Whether nonterminals of rules of the goal, such as glue rules, are counted, too.
    glue: bool = False


class CoarseDistortion(_Distortion):
    """One feature, ``Distortion``: the log probability of the order of each nonterminal, log P(R | S).

    >>> statistics = DistortionStatistics(monotone=[6, *[0] * 9], reordered=[2, *[0] * 9])
    >>> table = CoarseDistortion.from_statistics(statistics).by_gap()
    >>> table[0].tolist() == [[math.log(7 / 10)], [math.log(3 / 10)]]
    True
    """

    kind: Literal["coarse-distortion"] = "coarse-distortion"
    monotone: Counts
    reordered: Counts

    @classmethod
    def from_statistics(cls, statistics: DistortionStatistics, *, glue: bool = False) -> CoarseDistortion:
        """Returns the feature with the counts of training."""
        return cls(monotone=tuple(statistics.monotone), reordered=tuple(statistics.reordered), glue=glue)

    @property
    def names(self) -> Sequence[str]:
        return ["Distortion"]

    def by_gap(self) -> npt.NDArray[Any]:
        statistics = DistortionStatistics(self.monotone, self.reordered)
        sizes = range(1, SIZES + 1)
        return np.array([[[statistics.log_probability(r, s)] for r in (False, True)] for s in sizes])


class FineDistortion(_Distortion):
    """Counts of monotone and of reordered nonterminals, for each size S and for all sizes together.

    >>> tuple(FineDistortion().names[9:12])
    ('Distortion_Monotone_10+', 'Distortion_Monotone_*', 'Distortion_Reordered_1')
    """

    kind: Literal["fine-distortion"] = "fine-distortion"

    @property
    def names(self) -> Sequence[str]:
        sizes = [*map(str, range(1, SIZES)), f"{SIZES}+", "*"]
        return [f"Distortion_{order}_{size}" for order in ("Monotone", "Reordered") for size in sizes]

    def by_gap(self) -> npt.NDArray[Any]:
        values = np.zeros((SIZES, 2, 2, SIZES + 1))
        for order in (0, 1):
            values[range(SIZES), order, order, range(SIZES)] = 1
            values[:, order, order, SIZES] = 1
        return values.reshape(SIZES, 2, -1)
