"""Hierarchical phrase-based machine translation: decode, look inside, and work with forests.

>>> import hiero
>>> decoder = hiero.Decoder(hiero.Model.load("model"))
>>> decoder.translate("他 买 了 两 本 书 。").text
'he bought two books .'
"""

from hiero._core import (
    ApplicationBatch,
    DecodeStats,
    Derivation,
    Error,
    Forest,
    ForestError,
    FormatError,
    LanguageModel,
    Rule,
    RuleTable,
    Translation,
)
from hiero.base.weights import read_weights, write_weights
from hiero.decode.decoder import Decoder, Failure
from hiero.decode.local_features import LocalFeatures, SpanAndGapSize
from hiero.decode.model import Model
from hiero.decode.settings import DecodingSettings

__version__ = "0.1.0"

__all__ = [
    "ApplicationBatch",
    "DecodeStats",
    "Decoder",
    "DecodingSettings",
    "Derivation",
    "Error",
    "Failure",
    "Forest",
    "ForestError",
    "FormatError",
    "LanguageModel",
    "LocalFeatures",
    "Model",
    "Rule",
    "RuleTable",
    "SpanAndGapSize",
    "Translation",
    "__version__",
    "read_weights",
    "write_weights",
]
