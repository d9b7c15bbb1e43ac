"""Minimum risk training on forests or lists, with or without annealing (Smith and Eisner 2006; Li and Eisner
2009)."""

from hiero.tune.methods.risk.method import Risk
from hiero.tune.methods.risk.options import RiskOptions

__all__ = ["Risk", "RiskOptions"]
