"""Cases of tests that only .ci/run waits for."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def with_slow(cases: Iterable[str], *slow: str) -> list[object]:
    """Returns cases for ``pytest.mark.parametrize``, some of which are slow. Raises ValueError for slow cases
    that are none."""
    names = list(cases)
    if unknown := set(slow).difference(names):
        raise ValueError(f"no cases: {unknown}")
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in slow)) for name in names]
