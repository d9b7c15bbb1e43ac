"""Tuning: the weights with which a model's translations have the best metric. `tune` is the loop; its methods
are in modules of their own, for use on pools and forests from elsewhere."""

from hiero.tune.iterations import HeldOut, Iteration, TuneResult
from hiero.tune.loop import tune
from hiero.tune.methods import METHODS
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.objective import Mix
from hiero.tune.options import TuneOptions
from hiero.tune.plot import plot_runs
from hiero.tune.pool import Pool, PoolArrays
from hiero.tune.protocol import KBestList, TuningDecoder
from hiero.tune.runs import Runs, tune_runs

__all__ = [
    "METHODS",
    "HeldOut",
    "Iteration",
    "KBestList",
    "Mix",
    "ModelDecoder",
    "Pool",
    "PoolArrays",
    "Runs",
    "TuneOptions",
    "TuneResult",
    "TuningDecoder",
    "plot_runs",
    "tune",
    "tune_runs",
]
