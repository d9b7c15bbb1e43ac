"""N-grams of a sentence."""

from __future__ import annotations


def grams(tokens: list[str], order: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + n]) for n in range(1, order + 1) for i in range(len(tokens) - n + 1)]
