"""Training of models: corpus, word alignment, rules, language models. ``train`` runs all steps."""

from hiero.train.alignment import HEURISTICS, AlignSettings, Heuristic, align, align_shard, read_alignment
from hiero.train.alignment_model import AlignmentModel, PairLinks
from hiero.train.corpus import CorpusReport, CorpusSettings, prepare_corpus, prepare_text
from hiero.train.extraction import extract_rules, extract_shard, merge_extracted
from hiero.train.held_out import leave_out, set_aside
from hiero.train.lm import LmEstimate, LmSettings, estimate_lm
from hiero.train.movement import Movement, measure_movement
from hiero.train.pipeline import train
from hiero.train.plan import StepPlan, plan_training
from hiero.train.rules import ExtractSettings, ScoreSettings
from hiero.train.scoring import merge_scored, score_rules, score_shard
from hiero.train.settings import TrainInputs, TrainSettings
from hiero.train.truecaser import train_truecaser
from hiero.train.weights import default_weights, weights_by_length

__all__ = [
    "HEURISTICS",
    "AlignSettings",
    "AlignmentModel",
    "CorpusReport",
    "CorpusSettings",
    "ExtractSettings",
    "Heuristic",
    "LmEstimate",
    "LmSettings",
    "Movement",
    "PairLinks",
    "ScoreSettings",
    "StepPlan",
    "TrainInputs",
    "TrainSettings",
    "align",
    "align_shard",
    "default_weights",
    "estimate_lm",
    "extract_rules",
    "extract_shard",
    "leave_out",
    "measure_movement",
    "merge_extracted",
    "merge_scored",
    "plan_training",
    "prepare_corpus",
    "prepare_text",
    "read_alignment",
    "score_rules",
    "score_shard",
    "set_aside",
    "train",
    "train_truecaser",
    "weights_by_length",
]
