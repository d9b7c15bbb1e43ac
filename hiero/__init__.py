"""Hierarchical phrase-based machine translation: training, decoding, tuning and analysis of models.

>>> import hiero
>>> decoder = hiero.Decoder(hiero.Model.load("model"))
>>> decoder.translate("他 买 了 两 本 书 。").text
'he bought two books .'
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

try:
    from hiero._core import (
        ApplicationBatch,
        Applications,
        Chart,
        Deadline,
        DecodeStats,
        Derivation,
        Error,
        FeatureNames,
        Forest,
        ForestError,
        FormatError,
        LanguageModel,
        Rule,
        RuleTable,
        Translation,
    )
except ModuleNotFoundError as error:
    if error.name != "hiero._core":
        raise
    raise ImportError(
        f"{__path__[0]} is hiero's source folder, without its extension module: "
        "run Python in another folder, or as `python -P`, to import the installed package"
    ) from None
from hiero.base.cluster import Cluster
from hiero.base.weights import read_weights, write_weights
from hiero.decode.decoder import Decoder, Failure
from hiero.decode.model import Model
from hiero.decode.settings import DecodingSettings
from hiero.features.lattice import Arc, Lattice
from hiero.features.markup import Markup, Phrase, Wall
from hiero.features.protocols import LocalFeatures
from hiero.features.sentence import Sentence
from hiero.features.trees import Tree
from hiero.generators.protocol import RuleGenerator

if TYPE_CHECKING:
    from hiero import adapt, evaluate, experiments, features, forest, generators, pages, train, tune

__version__ = "0.1.0"

# Subpackages that are slow to import. They are imported when they are first used.
_LAZY = ("adapt", "evaluate", "experiments", "features", "forest", "generators", "pages", "train", "tune")

__all__ = [
    "ApplicationBatch",
    "Applications",
    "Arc",
    "Chart",
    "Cluster",
    "Deadline",
    "DecodeStats",
    "Decoder",
    "DecodingSettings",
    "Derivation",
    "Error",
    "Failure",
    "FeatureNames",
    "Forest",
    "ForestError",
    "FormatError",
    "LanguageModel",
    "Lattice",
    "LocalFeatures",
    "Markup",
    "Model",
    "Phrase",
    "Rule",
    "RuleGenerator",
    "RuleTable",
    "Sentence",
    "Translation",
    "Tree",
    "Wall",
    "__version__",
    "adapt",
    "evaluate",
    "experiments",
    "features",
    "forest",
    "generators",
    "pages",
    "read_weights",
    "train",
    "tune",
    "write_weights",
]


def __getattr__(name: str) -> ModuleType:
    if name in _LAZY:
        return importlib.import_module(f"hiero.{name}")
    raise AttributeError(f"module 'hiero' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
