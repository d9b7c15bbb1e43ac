"""MIRA: online on forests with parallel workers (Chiang et al. 2008), and in batches on lists (Cherry and
Foster 2012)."""

from hiero.tune.methods.mira.batch import MiraBatch, MiraOptions, mira_batch
from hiero.tune.methods.mira.online import Mira, OnlineMiraOptions

__all__ = ["Mira", "MiraBatch", "MiraOptions", "OnlineMiraOptions", "mira_batch"]
