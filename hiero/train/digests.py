"""Digests of text, by which equal lines are found without their text in memory (``DigestIndex``)."""

from __future__ import annotations

import hashlib


def digest(text: str) -> bytes:
    """Returns 16 bytes that no other text has: not even a corpus of all text there is would have two texts
    with one digest. Any ``str`` has one, also halves of characters, which are no UTF-8."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
