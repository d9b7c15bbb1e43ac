"""Semirings, and the inside and outside algorithms over any of them (Goodman 1999; Li and Eisner 2009).

The semirings of the core run in C++. Any object with ``zero``, ``one``, ``plus(a, b)`` and ``times(a, b)``
can also be used, at the speed of Python:

>>> from hiero import Forest
>>> class Longest:
...     zero, one = float("-inf"), 0
...     plus, times = staticmethod(max), staticmethod(lambda a, b: a + b)
>>> lattice = Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> inside(lattice, Longest(), [0, 3, 5])
[0, 5]

For p(d) = exp(score) and its expectations, ``hiero.forest`` is faster.
"""

from hiero._core import (
    BooleanSemiring,
    CountingSemiring,
    ExpectationSemiring,
    KBestSemiring,
    LiftedSemiring,
    LogSemiring,
    RealSemiring,
    Scaled,
    ScaledSemiring,
    SecondOrderSemiring,
    TropicalSemiring,
    ViterbiSemiring,
    inside,
    outside,
)

__all__ = [
    "BooleanSemiring",
    "CountingSemiring",
    "ExpectationSemiring",
    "KBestSemiring",
    "LiftedSemiring",
    "LogSemiring",
    "RealSemiring",
    "Scaled",
    "ScaledSemiring",
    "SecondOrderSemiring",
    "TropicalSemiring",
    "ViterbiSemiring",
    "inside",
    "outside",
]
