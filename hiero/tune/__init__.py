"""Tuning: the weights with which a model's translations have the best metric. `tune` is the loop; its methods
are in modules of their own, for use on pools and forests from elsewhere."""

from hiero.tune.found import FoundForests, FoundLists
from hiero.tune.iterations import HeldOut, Iteration, TuneResult
from hiero.tune.loop import tune
from hiero.tune.methods import METHODS, DirectMethod, ForestMethod, ListMethod, Method, Problem, register
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.objective import Mix, gain
from hiero.tune.options import TuneOptions
from hiero.tune.plot import plot_runs
from hiero.tune.pool import Pool, PoolArrays
from hiero.tune.protocol import Array, KBestList, TuningDecoder
from hiero.tune.runs import Runs, tune_runs

__all__ = [
    "METHODS",
    "Array",
    "DirectMethod",
    "ForestMethod",
    "FoundForests",
    "FoundLists",
    "HeldOut",
    "Iteration",
    "KBestList",
    "ListMethod",
    "Method",
    "Mix",
    "ModelDecoder",
    "Pool",
    "PoolArrays",
    "Problem",
    "Runs",
    "TuneOptions",
    "TuneResult",
    "TuningDecoder",
    "gain",
    "plot_runs",
    "register",
    "tune",
    "tune_runs",
]
