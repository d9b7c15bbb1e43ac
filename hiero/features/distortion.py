"""Structural distortion (Chiang et al. 2008, section 4.2): how often a nonterminal that stands for S source
words is reordered, that is, crosses another nonterminal or a word link of its rule."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hiero._core import ExtractStatistics, FormatError
from hiero.base.files import write_atomically
from hiero.base.json_files import json_number

SIZES = 10  # 1 .. 9 source words, and 10 or more


@dataclass(frozen=True)
class DistortionStatistics:
    """Nonterminals of extracted rule occurrences, by source words: entry S - 1, the last for 10 or more."""

    monotone: Sequence[int]
    reordered: Sequence[int]

    @classmethod
    def of(cls, statistics: ExtractStatistics) -> DistortionStatistics:
        """What extraction counted."""
        return cls(list(statistics.monotone), list(statistics.reordered))

    def log_probability(self, reordered: bool, size: int) -> float:
        """log P(R | S), natural, add-one smoothed; a size never seen takes the largest seen one's.

        Raises ValueError for a size below 1.
        """
        if size < 1:
            raise ValueError(f"a nonterminal stands for at least 1 word, not {size}")
        seen = [s for s in range(SIZES) if self.monotone[s] + self.reordered[s] > 0]
        at = min(size, SIZES) - 1
        if at not in seen:
            at = seen[-1] if seen else 0
        counts = (self.monotone[at], self.reordered[at])
        return math.log((counts[reordered] + 1) / (sum(counts) + 2))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts as JSON."""
        counts = {k: list(v) for k, v in asdict(self).items()}
        write_atomically(path, json.dumps(counts, default=json_number) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DistortionStatistics:
        """Reads the counts. Raises FormatError, OSError."""
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
