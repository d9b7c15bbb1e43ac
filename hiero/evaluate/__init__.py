"""Judging translations: metrics, whether a difference is luck, and the files of NIST's evaluations."""

from hiero.evaluate.metrics import (
    Bleu,
    Chrf,
    ChrfPlusPlus,
    EffectiveLength,
    Hypotheses,
    Metric,
    Nist,
    Ter,
    Text,
    Tokenizer,
)
from hiero.evaluate.significance import (
    Runs,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)

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
    "Text",
    "Tokenizer",
    "approximate_randomization",
    "confidence_interval",
    "paired_bootstrap",
]
