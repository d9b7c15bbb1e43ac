"""Tuning: the weights with which a model's translations have the best metric. `tune` is the loop; its methods
are in modules of their own, for use on pools and forests from elsewhere."""

from hiero.tune.loop import HeldOut, Iteration, TuneOptions, TuneResult, tune
from hiero.tune.methods import METHODS
from hiero.tune.objective import Mix
from hiero.tune.plot import plot_runs
from hiero.tune.pool import Pool, PoolArrays
from hiero.tune.protocol import KBestList, ModelDecoder, TuningDecoder

__all__ = [
    "METHODS",
    "HeldOut",
    "Iteration",
    "KBestList",
    "Mix",
    "ModelDecoder",
    "Pool",
    "PoolArrays",
    "TuneOptions",
    "TuneResult",
    "TuningDecoder",
    "plot_runs",
    "tune",
]
