"""Evaluation of translations: metrics, significance tests, and the files of NIST's evaluations."""

from hiero.evaluate.bleu import Bleu, EffectiveLength
from hiero.evaluate.metric import Metric
from hiero.evaluate.nist import Nist
from hiero.evaluate.sacrebleu_metrics import Chrf, ChrfPlusPlus, Ter
from hiero.evaluate.significance import (
    Runs,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)
from hiero.evaluate.terms import Terms
from hiero.evaluate.tokens import Hypotheses, Text, Tokenizer

__all__ = [
    "Bleu",
    "Chrf",
    "ChrfPlusPlus",
    "EffectiveLength",
    "Hypotheses",
    "Metric",
    "Nist",
    "Runs",
    "Ter",
    "Terms",
    "Text",
    "Tokenizer",
    "approximate_randomization",
    "confidence_interval",
    "paired_bootstrap",
]
