"""Digests of the lines of a corpus, by which equal lines are found without their text in memory.

>>> lines = LineDigests()
>>> for text in ("a", None, "b", "a"):
...     lines.add(text)
>>> lines.first_lines().tolist()
[0, 2]
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

# 128 bits: not even a corpus of all text there is would have two texts with one digest.
_BYTES = 16
# Stands for a line without text.
_NONE = bytes(_BYTES)
# Lines are compared in so many parts, one after the other, as comparing needs five times their memory.
_PARTS = 64


def digest(text: str) -> bytes:
    """Returns the digest of a text, which other texts do not have. Any ``str`` has one, also halves of
    characters, which are no UTF-8."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


class LineDigests:
    """The digests of lines, in their order. A line takes up to 18 bytes, and 10 more while lines are
    compared."""

    def __init__(self) -> None:
        self._digests = bytearray()

    def add(self, text: str | None) -> None:
        """Adds the text of the next line, or None for a line that is equal to no other."""
        self._digests += _NONE if text is None else digest(text)

    def __getitem__(self, line: int) -> bytes:
        """Returns the digest of a line, counted from 0."""
        return bytes(self._digests[line * _BYTES : (line + 1) * _BYTES])

    def first_lines(self) -> npt.NDArray[np.int64]:
        """Returns the numbers of the lines with a text that no line before has, in ascending order."""
        digests = np.frombuffer(self._digests, f"V{_BYTES}")
        parts = np.frombuffer(self._digests, np.uint8)[::_BYTES] % _PARTS
        is_first = np.zeros(len(digests), dtype=bool)
        for part in range(_PARTS):
            lines = np.flatnonzero(parts == part)
            texts, places = np.unique(digests[lines], return_index=True)
            is_first[lines[places[texts != np.void(_NONE)]]] = True
        return np.flatnonzero(is_first)
