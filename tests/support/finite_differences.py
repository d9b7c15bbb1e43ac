"""Derivatives by finite differences."""

from __future__ import annotations

from collections.abc import Callable


def slope(value: Callable[[float], float], step: float = 1e-4) -> float:
    """Computes the derivative at 0 by the central difference of fourth order."""
    minus_two, minus_one, plus_one, plus_two = (value(k * step) for k in (-2, -1, 1, 2))
    return (8 * (plus_one - minus_one) - (plus_two - minus_two)) / (12 * step)
