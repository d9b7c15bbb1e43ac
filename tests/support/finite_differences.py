"""Derivatives without calculus."""

from __future__ import annotations

from collections.abc import Callable


def slope(value: Callable[[float], float], step: float = 1e-4) -> float:
    """The derivative at 0."""
    far, near, up, upper = (value(k * step) for k in (-2, -1, 1, 2))
    return (8 * (up - near) - (upper - far)) / (12 * step)
