"""A model: rule tables, language models, feature set, weights and decoding settings."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from hiero import _core
from hiero._core import FeatureNames, LanguageModel, Rule, RuleTable
from hiero.base.arguments import by_name, several
from hiero.base.directories import publish, temporary_folder
from hiero.base.tables import load_table
from hiero.base.text import TextProcessing
from hiero.base.weights import check_writable, read_weights
from hiero.decode.model_directory import (
    WEIGHTS,
    all_generators,
    all_local_features,
    check_output,
    read_config,
    read_made_from,
)
from hiero.decode.model_files import with_truecasers, write_model
from hiero.decode.settings import DecodingSettings
from hiero.features.distortion import DistortionStatistics
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator, features_of

_PATH = (str, os.PathLike)


class Model:
    """Everything that decoding needs. Immutable; share one between any number of decoders."""

    def __init__(
        self,
        tables: Sequence[RuleTable],
        lms: Sequence[LanguageModel],
        weights: Mapping[str, float],
        *,
        owners: Sequence[str] | None = None,
        statics: Sequence[str] | None = None,
        local_features: Sequence[LocalFeatures] = (),
        generators: Sequence[RuleGenerator] = (),
        log_base: float | None = None,
        log_features: Sequence[str] = (),
        goal: str | None = None,
        copy_labels: Sequence[str] = (),
        glue_labels: Sequence[str] = (),
        settings: DecodingSettings | None = None,
        text: TextProcessing | None = None,
        distortion: DistortionStatistics | None = None,
        made_from: Mapping[str, Any] | None = None,
    ) -> None:
        """Puts a model together from loaded parts; see ``assemble`` and ``load`` for files.

        ``statics`` name the files that ``save`` keeps per table of what is precomputed per rule;
        one that was made for another table or other language models is computed anew. ``log_base`` is that of
        logarithms in features (natural): of the language models' and of ``log_features`` (those of training's
        tables, and ``Distortion``); weights are for these. ``goal`` is the label
        of whole sentences (default: the one whose rules open sentences with ``<s>``, else S), ``copy_labels``
        are those of words that pass through (default: X, or every left-hand label where there is no X), and
        ``glue_labels`` those that glue rules are made for (default: every left-hand label). ``text`` says how
        raw text becomes tokens and back, ``distortion`` what training counted; ``generators`` make rules for
        each sentence, and their features are the model's. ``made_from`` says how it was made, as its
        manifest is to say.
        Raises FormatError for a weight that names no feature, for a cycle of unary rules, for clashing
        names, for labels that cannot be what they are to be, and for names of features that a weights file
        cannot hold; ValueError for a base that is not more than 1; TypeError for what is no table, language
        model or label, such as the path of one.
        """
        self.tables = several("tables", tables, RuleTable, "hiero.RuleTable")
        self.lms = several("lms", lms, LanguageModel, "hiero.LanguageModel")
        if log_features and log_base is None:
            raise ValueError("log_features are without log_base what they are")
        self.copy_labels = several("copy_labels", copy_labels, str, "labels")
        self.glue_labels = several("glue_labels", glue_labels, str, "labels")
        self.settings = settings or DecodingSettings()
        self.text = text or TextProcessing()
        self.distortion = distortion
        self.local_features = tuple(local_features)
        self.generators = tuple(generators)
        self.log_base = log_base
        self.log_features = several("log_features", log_features, str, "features")
        self._statics = tuple(statics or [""] * len(self.tables))
        self.core = _core.TranslationModel(
            list(self.tables),
            list(owners or [""] * len(self.tables)),
            list(self._statics),
            list(self.lms),
            list(self.local_features),
            goal or "",
            self.copy_labels,
            self.glue_labels,
            0.0 if log_base is None else log_base,
            self.log_features,
            features_of(self.generators),
        )
        self.goal = self.core.goal
        self.feature_names: FeatureNames = self.core.feature_names
        check_writable(self.feature_names)
        self.weights: Mapping[str, float] = MappingProxyType(by_name("weights", weights))
        self.weight_vector(self.weights)
        self._made_from = copy.deepcopy(dict(made_from or {}))  # set last: from here on nothing changes

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse_change(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        super().__delattr__(name)

    def _refuse_change(self, name: str) -> None:
        if "_made_from" in vars(self):
            raise AttributeError(f"{name}: a model does not change; see with_weights and with_features")

    def _with(self, weights: Mapping[str, float], made_from: Mapping[str, Any]) -> Model:
        """The same with other weights and another origin; everything else is shared."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        vars(other).update(weights=MappingProxyType(dict(weights)), _made_from=copy.deepcopy(dict(made_from)))
        return other

    @property
    def made_from(self) -> Mapping[str, Any]:
        """How it was made, as its manifest says: a copy."""
        return MappingProxyType(copy.deepcopy(self._made_from))

    @classmethod
    def assemble(
        cls,
        grammars: Sequence[str | os.PathLike[str]],
        lms: Sequence[str | os.PathLike[str]] = (),
        weights: str | os.PathLike[str] | Mapping[str, float] | None = None,
        *,
        local_features: Sequence[LocalFeatures] = (),
        generators: Sequence[RuleGenerator] = (),
        log_base: float | None = None,
        log_features: Sequence[str] = (),
        goal: str | None = None,
        copy_labels: Sequence[str] = (),
        glue_labels: Sequence[str] = (),
        settings: DecodingSettings | None = None,
        text: TextProcessing | None = None,
        distortion: DistortionStatistics | None = None,
        made_from: Mapping[str, Any] | None = None,
    ) -> Model:
        """A model from files: rule tables (packed, or text, which is packed first), LMs, weights.

        Raises as the constructor does, and OSError; TypeError for one path in place of several."""
        if weights is None:
            weights = {}
        elif not isinstance(weights, Mapping):
            weights = read_weights(weights)
        return cls(
            [load_table(path) for path in several("grammars", grammars, _PATH, "files")],
            [LanguageModel.load(os.fspath(path)) for path in several("lms", lms, _PATH, "files")],
            weights,
            local_features=local_features,
            generators=generators,
            log_base=log_base,
            log_features=log_features,
            goal=goal,
            copy_labels=copy_labels,
            glue_labels=glue_labels,
            settings=settings,
            text=text,
            distortion=distortion,
            made_from=made_from,
        )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        weights: str | os.PathLike[str] | Mapping[str, float] | None = None,
        local_features: Sequence[LocalFeatures] = (),
        generators: Sequence[RuleGenerator] = (),
    ) -> Model:
        """Reads a model directory; ``weights`` are merged over its own: features that they do not name keep
        theirs.

        Local features and generators of this package are made as the directory says; others that it was saved
        with are to be given again: FormatError is raised where they are not.
        Raises OSError for missing files and FormatError for malformed ones; damage within tables and their
        estimates is found where they are read, by the sentence that needs them.
        """
        directory = Path(path)
        config = read_config(directory)
        distortion = None
        if config.distortion:
            distortion = DistortionStatistics.load(directory / config.distortion)
        if weights is not None and not isinstance(weights, Mapping):
            weights = read_weights(weights)
        model = cls(
            [RuleTable.open(str(directory / entry.path)) for entry in config.tables],
            [LanguageModel.load(str(directory / lm)) for lm in config.lms],
            read_weights(directory / config.weights),
            owners=[entry.owner for entry in config.tables],
            statics=[_if_there(directory / entry.statics) for entry in config.tables],
            local_features=all_local_features(directory, config, local_features),
            generators=all_generators(directory, config, generators),
            log_base=config.log_base,
            log_features=config.log_features,
            goal=config.goal,
            copy_labels=config.copy_labels,
            glue_labels=config.glue_labels,
            settings=config.decoding,
            text=with_truecasers(config.text, lambda _, file: str(directory / file)),
            distortion=distortion,
            made_from=read_made_from(directory),
        )
        return model if weights is None else model.with_weights(weights)

    def with_weights(self, weights: Mapping[str, float], origin: Mapping[str, Any] | None = None) -> Model:
        """The same model with these weights merged over its own: features that they do not name keep theirs.
        Everything else is shared.

        ``origin`` says where they come from, for the manifest. Raises FormatError for a weight that names no
        feature, TypeError for what is no mapping, such as a file's name.
        """
        merged = {**self.weights, **by_name("weights", weights)}
        self.weight_vector(merged)
        made_from = {key: value for key, value in self.made_from.items() if key != WEIGHTS}
        if origin is not None:
            made_from[WEIGHTS] = dict(origin)
        return self._with(merged, made_from)

    def with_features(
        self,
        local_features: Sequence[LocalFeatures] = (),
        *,
        generators: Sequence[RuleGenerator] = (),
        log_base: float | None = None,
        log_features: Sequence[str] = (),
    ) -> Model:
        """The same model with these local features and generators in place of its own, and logarithms of this
        base.

        Features that are left keep their weights, such that they say of translations what they said: those of
        logarithms change with the base. New features have none, and count 0. Raises as the constructor does.
        """
        settings = self._settings() | {
            "local_features": tuple(local_features),
            "generators": tuple(generators),
            "log_base": log_base,
            "log_features": tuple(log_features),
        }
        other = Model(self.tables, self.lms, {}, **settings)
        before = dict(zip(self.feature_names, self.core.scales, strict=True))
        after = dict(zip(other.feature_names, other.core.scales, strict=True))
        weights = {
            name: weight * before[name] / after[name]
            for name, weight in self.weights.items()
            if name in after
        }
        return other._with(weights, self.made_from)

    def with_grammar(self, other: Model) -> Model:
        """The same model with another's rule tables, language models and what training counted, as if it had
        been trained on the other's bitext. Raises ValueError for another number of tables or language models,
        and FormatError as the constructor does."""
        if (len(other.tables), len(other.lms)) != (len(self.tables), len(self.lms)):
            raise ValueError("the models have different numbers of rule tables or language models")
        settings = self._settings() | {"statics": other._statics, "distortion": other.distortion}
        return Model(other.tables, other.lms, self.weights, **settings)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes a model directory; an existing one is replaced in one step when the new one is whole and on
        the disk, and anything else that has the name is an error (see ``check_output``).

        Files that other models or trainings on the same disk hold are shared, all others are copied.
        The new directory grows in a hidden one in ``scratch``, a folder on the same disk (default: its
        parent); if the process is killed this stays, with the new model or the old one, until the next one
        like it is made.
        Raises OSError also where the file system cannot replace a directory in one step: an old model must
        then be moved away first.
        """
        target = Path(path).absolute()  # one's own directory may be the one that is replaced
        check_output(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = target.parent if scratch is None else Path(scratch).absolute()
        with temporary_folder(folder / target.name) as hidden:
            staging = hidden / "model"
            staging.mkdir()
            write_model(self, staging)
            publish(staging, target)

    def weight_vector(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """Weights in the order of ``feature_names``, 0 where there is none.

        Raises FormatError for a weight that names no feature.
        """
        return self.feature_names.vector(weights)

    def rule(self, table: int | str, rule: int) -> Rule:
        """The rule of a table, by its index as in ``Applications.tables`` or its owner's name as in
        ``Forest.tables``, and its id there.

        Raises IndexError for an id or index that there is not, KeyError for a name: words that are copied
        and rules for single sentences are in no table of the model.
        """
        if isinstance(table, str):
            owners = self.core.owners
            if table not in owners:
                raise KeyError(f"no table {table!r}: expected one of {', '.join(owners)}")
            table = owners.index(table)
        return self.core.rule(table, rule)

    def __repr__(self) -> str:
        rules = sum(table.rule_count for table in self.tables)
        return f"Model(rules={rules}, lms={len(self.lms)}, features={len(self.feature_names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Files stay where they are, and are pickled by name; tables made in memory as a whole."""
        settings = {**self._settings(), "made_from": self._made_from}
        return _model_of, (self.tables, self.lms, dict(self.weights), settings)

    def _settings(self) -> dict[str, Any]:
        """Collects the constructor's arguments besides tables, language models and weights."""
        return {
            "owners": self.core.owners[: len(self.tables)],
            "statics": self._statics,
            "local_features": self.local_features,
            "generators": self.generators,
            "log_base": self.log_base,
            "log_features": self.log_features,
            "goal": self.goal,
            "copy_labels": self.copy_labels,
            "glue_labels": self.glue_labels,
            "settings": self.settings,
            "text": self.text,
            "distortion": self.distortion,
        }

    def unweighted(self) -> list[str]:
        """The features that have no weight, and so count 0."""
        return [name for name in self.feature_names if name not in self.weights]


def _model_of(
    tables: Sequence[RuleTable],
    lms: Sequence[LanguageModel],
    weights: Mapping[str, float],
    settings: Mapping[str, Any],
) -> Model:
    return Model(tables, lms, weights, **settings)


def _if_there(path: Path) -> str:
    return str(path) if path.is_file() else ""
