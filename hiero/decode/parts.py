"""The parts of a model as one record, which model directories hold and ``Model`` binds to each other.

Most are in ``ModelParts`` in ``cpp/hiero/decode/translation_model.h``. The core gets weights and settings
from decoders; it does not see text processing, distortion statistics and how the model was made.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, cast

from hiero import _core
from hiero._core import LanguageModel, RuleTable
from hiero.base.arguments import by_name, several
from hiero.base.text import TextProcessing
from hiero.decode.settings import DecodingSettings
from hiero.features.distortion import DistortionStatistics
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator, features_of


class _CopiedMapping:
    """A dataclass field that holds a mapping, empty by default.

    It is copied deeply when it is set and whenever it is read: mappings within it could be changed otherwise.
    """

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._slot = f"_{name}"

    def __get__(self, instance: object, owner: type[Any]) -> Mapping[str, Any]:
        value = None if instance is None else MappingProxyType(copy.deepcopy(vars(instance)[self._slot]))
        return cast(Mapping[str, Any], value)  # the class itself has the default for dataclasses, None

    def __set__(self, instance: object, value: Mapping[str, Any] | None) -> None:
        vars(instance)[self._slot] = copy.deepcopy(dict(value or {}))


@dataclass(frozen=True, eq=False)
class ModelParts:
    """Everything that a model consists of; ``dataclasses.replace`` gives the same with other parts.

    Raises TypeError for a table, language model or label that is none, such as the path of one, and
    ValueError for ``log_features`` without ``log_base``.
    """

    tables: Sequence[RuleTable]
    lms: Sequence[LanguageModel] = ()
    # Weights by feature name; features without one count 0.
    weights: Mapping[str, float] = field(default_factory=dict)
    _: KW_ONLY
    # Names of the tables' owners; none or "": pt, pt1, ... in order.
    owners: Sequence[str] = ()
    # Files with the tables' rule estimates for these language models; none, "" or a file that was made for
    # others: they are computed.
    estimates: Sequence[str] = ()
    local_features: Sequence[LocalFeatures] = ()
    # What makes rules for each sentence, whose features are the model's too.
    generators: Sequence[RuleGenerator] = ()
    # The base of logarithms in features; None: natural. Logarithms are the features of language models and
    # log_features; if these are none: PhraseFE, PhraseEF, LexFE, LexEF and Distortion.
    log_base: float | None = None
    log_features: Sequence[str] = ()
    # The label of whole sentences; None: the one whose rules open sentences with <s>, else S.
    goal: str | None = None
    # Labels of words that pass through; none: X, or every left-hand label where there is no X.
    copy_labels: Sequence[str] = ()
    # Labels that glue rules are made for; none: every left-hand label.
    glue_labels: Sequence[str] = ()
    settings: DecodingSettings = field(default_factory=DecodingSettings)
    # How raw text becomes tokens and back.
    text: TextProcessing = field(default_factory=TextProcessing)
    # What training counted.
    distortion: DistortionStatistics | None = None
    # How the model was made, as its manifest says it.
    made_from: _CopiedMapping = _CopiedMapping()

    def __post_init__(self) -> None:
        if self.log_features and self.log_base is None:
            raise ValueError("log_features are without log_base what they are")
        vars(self).update(
            tables=several("tables", self.tables, RuleTable, "hiero.RuleTable"),
            lms=several("lms", self.lms, LanguageModel, "hiero.LanguageModel"),
            weights=MappingProxyType(by_name("weights", self.weights)),
            local_features=tuple(self.local_features),
            generators=tuple(self.generators),
            log_features=several("log_features", self.log_features, str, "features"),
            copy_labels=several("copy_labels", self.copy_labels, str, "labels"),
            glue_labels=several("glue_labels", self.glue_labels, str, "labels"),
        )
        for name in ("owners", "estimates"):
            vars(self)[name] = tuple(getattr(self, name)) or ("",) * len(self.tables)

    def bind(self) -> _core.TranslationModel:
        """Binds the parts to each other: labels, words and features get numbers that all share.

        Raises FormatError for a cycle of unary rules, for clashing names and for labels that cannot be what
        they are to be; ValueError for a base that is not more than 1.
        """
        return _core.TranslationModel(
            tables=self.tables,
            owners=self.owners,
            statics=self.estimates,
            lms=self.lms,
            local_features=self.local_features,
            goal=self.goal or "",
            copy_labels=self.copy_labels,
            glue_labels=self.glue_labels,
            log_base=self.log_base or 0.0,
            log_features=self.log_features,
            sentence_features=features_of(self.generators),
        )
