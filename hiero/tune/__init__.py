"""Tuning: the weights with which a model's translations have the best metric.

``tune`` runs the loop (``hiero.tune.run``): it decodes a set, adds the new hypotheses to those so far
(``hiero.tune.pool``), and lets a method (``hiero.tune.methods``) choose the next weights. The methods can
also be called by themselves, on pools and forests from elsewhere.
"""

from hiero.tune.methods.kinds import DirectMethod, ForestMethod, ListMethod
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.pool.forests import AccumulatedForests
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.pool.pool import Pool
from hiero.tune.run.iterations import HeldOut
from hiero.tune.run.limits import Limits
from hiero.tune.run.loop import tune
from hiero.tune.run.method import METHODS, Method, TuningState, register
from hiero.tune.run.model_decoder import ModelDecoder
from hiero.tune.run.objective import Mix, maximised_score
from hiero.tune.run.options import TuneOptions
from hiero.tune.run.plot import plot_runs
from hiero.tune.run.protocol import Array, KBestList, TuningDecoder
from hiero.tune.run.results import Iteration, TuneResult
from hiero.tune.run.runs import Runs, tune_runs
from hiero.tune.run.span_limits import SpanLimitChoice, TriedLimit, choose_span_limit
from hiero.tune.run.temperature import Bin, Calibration, choose_temperature

__all__ = [
    "METHODS",
    "AccumulatedForests",
    "AccumulatedLists",
    "Array",
    "Bin",
    "Calibration",
    "DirectMethod",
    "ForestMethod",
    "HeldOut",
    "Iteration",
    "KBestList",
    "Limits",
    "ListMethod",
    "Method",
    "Mix",
    "ModelDecoder",
    "Pool",
    "PoolArrays",
    "Runs",
    "SpanLimitChoice",
    "TriedLimit",
    "TuneOptions",
    "TuneResult",
    "TuningDecoder",
    "TuningState",
    "choose_span_limit",
    "choose_temperature",
    "maximised_score",
    "plot_runs",
    "register",
    "tune",
    "tune_runs",
]
