"""Forests: distributions over derivations, their expectations, files, losses and oracles.

>>> from hiero import forest as hf
>>> lattice = hf.Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> p = lattice.distribution([0.0, 0.0, 0.0])
>>> float(hf.expectation(p, [0.0, 1.0, 2.0]))
1.5

The module ``hiero.forest.semirings`` has semirings, and inside and outside algorithms over any semiring.
"""

import importlib
from typing import Any

from hiero._core import Derivation, Distribution, Forest, ForestError, KBestArrays
from hiero.forest.decisions import Decision
from hiero.forest.derivations import RuleApplication, derivation_tree
from hiero.forest.expectations import (
    Gradient,
    LogLinear,
    covariance,
    cross_entropy,
    entropy,
    entropy_gradient,
    expectation,
    expected_bleu_gradient,
    kl_divergence,
    log_z_gradient,
    log_z_hessian,
    risk,
    risk_gradient,
    variance,
    variance_gradient,
)
from hiero.forest.files import ForestFile, ForestWriter
from hiero.forest.losses import BleuDocument, LinearBleu
from hiero.forest.oracles import oracle_lists, plot_oracles

__all__ = [
    "BleuDocument",
    "Decision",
    "Derivation",
    "Distribution",
    "Forest",
    "ForestError",
    "ForestFile",
    "ForestWriter",
    "Gradient",
    "KBestArrays",
    "LinearBleu",
    "LogLinear",
    "RuleApplication",
    "covariance",
    "cross_entropy",
    "derivation_tree",
    "entropy",
    "entropy_gradient",
    "expectation",
    "expected_bleu_gradient",
    "kl_divergence",
    "log_z_gradient",
    "log_z_hessian",
    "oracle_lists",
    "plot_oracles",
    "risk",
    "risk_gradient",
    "variance",
    "variance_gradient",
]

# Old names of functions in hiero.pages. That package imports this one, so it is imported only when needed.
_PAGES = ("chart_page", "derivation_page", "derivations_page", "forest_page")


def __getattr__(name: str) -> Any:
    if name in _PAGES:
        return getattr(importlib.import_module("hiero.pages"), name)
    raise AttributeError(f"module 'hiero.forest' has no attribute {name!r}")
