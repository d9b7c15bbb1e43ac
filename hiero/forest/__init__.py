"""Forests: distributions over their derivations and what is expected of them, files, losses, oracles, pages.

>>> from hiero import forest as hf
>>> lattice = hf.Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> p = lattice.distribution([0.0, 0.0, 0.0])
>>> float(hf.expectation(p, [0.0, 1.0, 2.0]))
1.5

Semirings, and the algorithms over any of them, are in ``hiero.forest.semirings``.
"""

from hiero._core import Derivation, Distribution, Forest, ForestError, KBestArrays
from hiero.forest.chart_pages import chart_page
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
from hiero.forest.pages import derivation_page, derivations_page, forest_page

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
    "chart_page",
    "covariance",
    "cross_entropy",
    "derivation_page",
    "derivation_tree",
    "derivations_page",
    "entropy",
    "entropy_gradient",
    "expectation",
    "expected_bleu_gradient",
    "forest_page",
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
