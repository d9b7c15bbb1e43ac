"""Peak memory of blocks within blocks."""

from __future__ import annotations

import sys

import pytest

from hiero.base.memory import peak_memory


@pytest.mark.skipif(sys.platform != "linux", reason="the peak since the process began, elsewhere")
def test_a_block_within_a_block() -> None:
    """The peak of the outer block is the highest of all, also before and after an inner block, which starts
    anew."""
    for place in range(3):
        parts = [200_000_000 if place == number else 1 for number in range(3)]
        with peak_memory() as outer:
            bytearray(parts[0])
            with peak_memory() as inner:
                bytearray(parts[1])
            bytearray(parts[2])
        with peak_memory() as later:
            pass
        assert outer.megabytes > later.megabytes + 150, place
        assert (inner.megabytes > later.megabytes + 150) == (place == 1)
