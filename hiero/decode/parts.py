"""The parts of a model as one record. A model directory stores them, and ``Model`` binds them to each other.

Most parts are mirrored by ``ModelParts`` in ``cpp/hiero/decode/translation_model.h``. The core gets weights
and settings from decoders. It does not need text processing, distortion statistics, what learning needs, and
the origin of the model.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, cast

from hiero import _core
from hiero._core import LanguageModel, RuleTable
from hiero.base.arguments import checked_dict, checked_tuple
from hiero.decode.learning import Learning
from hiero.decode.settings import DecodingSettings
from hiero.features.distortion import DistortionStatistics
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator, feature_names
from hiero.text import TextProcessing


class _CopiedMapping:
    """A dataclass field that holds a mapping, empty by default.

    The mapping is copied deeply when it is set and whenever it is read, so that nested mappings cannot be
    changed.
    """

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._slot = f"_{name}"

    def __get__(self, instance: object, owner: type[Any]) -> Mapping[str, Any]:
        value = None if instance is None else MappingProxyType(copy.deepcopy(vars(instance)[self._slot]))
        return cast(Mapping[str, Any], value)  # on the class itself, dataclasses reads the default, None

    def __set__(self, instance: object, value: Mapping[str, Any] | None) -> None:
        vars(instance)[self._slot] = copy.deepcopy(dict(value or {}))


@dataclass(frozen=True, eq=False)
class ModelParts:
    """All parts of a model. ``dataclasses.replace`` returns a record with other parts.

    Raises TypeError for a table, language model or label of a wrong type, such as the path of one, and
    ValueError for ``log_features`` without ``log_base``.
    """

    tables: Sequence[RuleTable]
    lms: Sequence[LanguageModel] = ()
    # Weights by feature name; features without one count 0.
    weights: Mapping[str, float] = field(default_factory=dict)
    _: KW_ONLY
    # Names of the owners of the tables. If missing or empty: pt, pt1, and so on.
    owners: Sequence[str] = ()
    # Files with the rule estimates of the tables for these language models. Estimates are computed if the
    # file is missing, empty or was made for other language models.
    estimates: Sequence[str] = ()
    local_features: Sequence[LocalFeatures] = ()
    # Generators of rules for each sentence. The features of their rules are features of the model.
    generators: Sequence[RuleGenerator] = ()
    # The base of features that are logarithms; None for natural logarithms. These features are those of
    # language models and log_features, by default PhraseFE, PhraseEF, LexFE, LexEF and Distortion.
    log_base: float | None = None
    log_features: Sequence[str] = ()
    # The label of complete sentences. By default the label whose rules open sentences with <s>, else S.
    goal: str | None = None
    # Labels of words that are copied to the output. By default X, or all left-hand labels if there is no X.
    copy_labels: Sequence[str] = ()
    # Labels for which glue rules are made. By default all left-hand labels.
    glue_labels: Sequence[str] = ()
    settings: DecodingSettings = field(default_factory=DecodingSettings)
    # Tokenisation and detokenisation of raw text.
    text: TextProcessing = field(default_factory=TextProcessing)
    # Counts of reordering from training.
    distortion: DistortionStatistics | None = None
    # What of the training learning from corrections needs.
    learning: Learning | None = None
    # How the model was made, as in its manifest.
    made_from: _CopiedMapping = _CopiedMapping()

    def __post_init__(self) -> None:
        if self.log_features and self.log_base is None:
            raise ValueError("log_features needs log_base")
        vars(self).update(
            tables=checked_tuple("tables", self.tables, RuleTable, "hiero.RuleTable"),
            lms=checked_tuple("lms", self.lms, LanguageModel, "hiero.LanguageModel"),
            weights=MappingProxyType(checked_dict("weights", self.weights)),
            local_features=tuple(self.local_features),
            generators=tuple(self.generators),
            log_features=checked_tuple("log_features", self.log_features, str, "features"),
            copy_labels=checked_tuple("copy_labels", self.copy_labels, str, "labels"),
            glue_labels=checked_tuple("glue_labels", self.glue_labels, str, "labels"),
        )
        for name in ("owners", "estimates"):
            vars(self)[name] = tuple(getattr(self, name)) or ("",) * len(self.tables)

    def bind(self) -> _core.TranslationModel:
        """Binds the parts to each other: labels, words and features get common numbers.

        Raises FormatError for a cycle of unary rules, clashing names, and labels that cannot be used as goal,
        copy or glue labels; ValueError for a base of logarithms that is not greater than 1.
        """
        return _core.TranslationModel(
            tables=self.tables,
            owners=self.owners,
            estimates=self.estimates,
            lms=self.lms,
            local_features=self.local_features,
            goal=self.goal or "",
            copy_labels=self.copy_labels,
            glue_labels=self.glue_labels,
            log_base=self.log_base or 0.0,
            log_features=self.log_features,
            sentence_features=feature_names(self.generators),
        )
