"""Minimum error rate training on k-best lists (Och 2003) and on forests (Kumar et al. 2009)."""

from hiero.tune.methods.mert.climb import Climb, MertOptions
from hiero.tune.methods.mert.hypergraph_mert import HypergraphMert, hypergraph_mert
from hiero.tune.methods.mert.list_mert import Mert, mert

__all__ = ["Climb", "HypergraphMert", "Mert", "MertOptions", "hypergraph_mert", "mert"]
