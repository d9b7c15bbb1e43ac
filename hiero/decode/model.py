"""The model: rule tables, language models, features, weights and decoding settings, bound to each other."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, Unpack

import numpy as np
import numpy.typing as npt

from hiero._core import FeatureNames, LanguageModel, Rule, TranslationModel
from hiero.base.arguments import checked_dict, checked_tuple
from hiero.base.directories import publish, temporary_folder
from hiero.base.tables import load_table
from hiero.base.weights import check_writable, read_weights
from hiero.decode.model_directory import WEIGHTS, check_output
from hiero.decode.model_files import read_model, write_model
from hiero.decode.parts import ModelParts
from hiero.decode.settings import DecodingArguments, DecodingSettings
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator

_PATH = (str, os.PathLike)
PathLike = str | os.PathLike[str]


class Model(ModelParts):
    """Everything that decoding needs. A model is immutable and can be shared by decoders and threads.

    Its parts are the fields of ``ModelParts``; ``dataclasses.replace`` returns a model with other parts.
    ``owners`` and ``goal`` have the names that were chosen where the parts do not say them. The order of
    ``feature_names`` is the order of weight vectors. ``core`` is the C++ model that decoders share.

    >>> model = Model.load("model")
    >>> model.with_weights({"LM0": 0.5}).save("other-model")
    """

    core: TranslationModel
    feature_names: FeatureNames

    def __post_init__(self) -> None:
        """Binds the parts to each other.

        Raises the errors of ``ModelParts`` and ``ModelParts.bind``, and FormatError for a weight that names
        no feature and for feature names that a weights file cannot contain.
        """
        super().__post_init__()
        core = self.bind()
        check_writable(core.feature_names)
        owners = tuple(core.owners[: len(self.tables)])
        vars(self).update(core=core, feature_names=core.feature_names, goal=core.goal, owners=owners)
        self.weight_vector(self.weights)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a model is immutable; use with_weights or with_features")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a model is immutable; use with_weights or with_features")

    def _replace(self, **parts: Any) -> Self:
        """Returns a model with other parts, which the core does not have. Everything else is shared, without
        binding it again."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        for name, value in parts.items():
            object.__setattr__(other, name, value)
        return other

    def _replace_weights(self, weights: Mapping[str, float], made_from: Mapping[str, Any]) -> Self:
        """Returns a model with exactly these weights."""
        return self._replace(weights=MappingProxyType(dict(weights)), made_from=made_from)

    @classmethod
    def assemble(
        cls,
        grammars: Sequence[PathLike],
        lms: Sequence[PathLike] = (),
        weights: PathLike | Mapping[str, float] | None = None,
        **parts: Any,
    ) -> Self:
        """Makes a model from files.

        ``grammars`` are rule tables, packed or as text, which is packed first. ``weights`` are a file or a
        mapping. ``parts`` are other fields of ``ModelParts``.
        Raises the errors of the constructor, OSError, and TypeError for one path instead of a list.
        """
        if weights is None:
            weights = {}
        elif not isinstance(weights, Mapping):
            weights = read_weights(weights)
        return cls(
            [load_table(path) for path in checked_tuple("grammars", grammars, _PATH, "files")],
            [LanguageModel.load(os.fspath(path)) for path in checked_tuple("lms", lms, _PATH, "files")],
            weights,
            **parts,
        )

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        weights: PathLike | Mapping[str, float] | None = None,
        local_features: Sequence[LocalFeatures] = (),
        generators: Sequence[RuleGenerator] = (),
    ) -> Self:
        """Reads a model directory.

        ``weights`` are merged over those of the directory: features that they do not name keep theirs.
        Local features and generators of this package are made from the settings in the directory. Others
        that the model was saved with must be passed again in ``local_features`` and ``generators``.
        Raises OSError for missing files, FormatError for malformed ones and for features or generators that
        are not passed. Damage inside a rule table or its estimates raises an error only when a sentence
        needs that part.
        """
        parts = read_model(Path(path), local_features, generators)
        if weights is not None and not isinstance(weights, Mapping):
            weights = read_weights(weights)
        model = cls(**{field.name: getattr(parts, field.name) for field in fields(parts)})
        return model if weights is None else model.with_weights(weights)

    def with_weights(self, weights: Mapping[str, float], origin: Mapping[str, Any] | None = None) -> Self:
        """Returns a model with these weights merged over its weights. Everything else is shared.

        Features that ``weights`` does not name keep their weights. ``origin`` describes the origin of the
        weights in the manifest. Raises FormatError for a weight that names no feature, TypeError if
        ``weights`` is not a mapping, such as the name of a file.
        """
        merged = {**self.weights, **checked_dict("weights", weights)}
        self.weight_vector(merged)
        made_from = {key: value for key, value in self.made_from.items() if key != WEIGHTS}
        if origin is not None:
            made_from[WEIGHTS] = dict(origin)
        return self._replace_weights(merged, made_from)

    def with_settings(self, **settings: Unpack[DecodingArguments]) -> Self:
        """Returns a model with these decoding settings in place of its own. Everything else is shared.

        Raises ValueError for invalid settings, TypeError for values of a wrong type.
        """
        return self._replace(settings=DecodingSettings(**{**self.settings.model_dump(), **settings}))

    def with_features(
        self,
        local_features: Sequence[LocalFeatures] = (),
        *,
        generators: Sequence[RuleGenerator] = (),
        log_base: float | None = None,
        log_features: Sequence[str] = (),
    ) -> Self:
        """Returns a model with these local features, generators and base of logarithms instead of its own.

        Remaining features keep their weights. If the base changes, the weights of logarithms are rescaled,
        so that scores stay the same. New features have no weight, which counts as 0.
        Raises the errors of the constructor.
        """
        other = replace(
            self,
            weights={},
            local_features=local_features,
            generators=generators,
            log_base=log_base,
            log_features=log_features,
        )
        before = dict(zip(self.feature_names, self.core.scales, strict=True))
        after = dict(zip(other.feature_names, other.core.scales, strict=True))
        weights = {
            name: weight * before[name] / after[name]
            for name, weight in self.weights.items()
            if name in after
        }
        return other._replace_weights(weights, self.made_from)

    def with_grammar(self, other: Model) -> Self:
        """Returns a model with the rule tables, language models and distortion statistics of another model.

        It is the model that would have been trained on the bitext of the other one, with the weights of this
        one. Raises ValueError for a different number of tables or language models, and the errors of the
        constructor.
        """
        if (len(other.tables), len(other.lms)) != (len(self.tables), len(self.lms)):
            raise ValueError("the models have different numbers of rule tables or language models")
        return replace(
            self,
            tables=other.tables,
            lms=other.lms,
            estimates=other.estimates,
            distortion=other.distortion,
            learning=other.learning,
            made_from={},
        )

    def save(self, path: PathLike, *, scratch: PathLike | None = None) -> None:
        """Writes a model directory. An existing model is replaced in one step.

        The new directory is written under a hidden name in ``scratch``, a folder on the same disk (default:
        the parent folder), and renamed when it is completely on the disk. If the process is killed, the
        hidden directory stays until the model is saved again. Files of other models or trainings on the
        same disk are hard-linked, other files are copied.
        Raises FileExistsError if ``path`` is something other than a model (see ``check_output``). Raises
        OSError also if the file system cannot replace a directory in one step; move the old model away first.
        """
        target = Path(path).absolute()  # the working directory may be the one that is replaced
        check_output(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = target.parent if scratch is None else Path(scratch).absolute()
        with temporary_folder(folder / target.name) as hidden:
            staging = hidden / "model"
            staging.mkdir()
            write_model(self, staging)
            publish(staging, target)

    def weight_vector(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """Returns weights as a vector in the order of ``feature_names``; missing weights are 0.

        Raises FormatError for a weight that names no feature.
        """
        return self.feature_names.vector(weights)

    def unweighted(self) -> list[str]:
        """Returns the names of features without a weight, which count 0."""
        return [name for name in self.feature_names if name not in self.weights]

    def rule(self, table: int | str, rule: int) -> Rule:
        """Returns rule number ``rule`` of a table.

        The table is an index, as in ``Applications.tables``, or the name of its owner, as in
        ``Forest.tables``. Copied words and rules of single sentences are in no table of the model.
        Raises IndexError for an unknown index or number, KeyError for an unknown owner.
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
        """Pickles the paths of files, and the content of tables that were made in memory."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"weights": dict(self.weights), "made_from": dict(self.made_from)}
        return _make_model, (type(self), values)


def _make_model(kind: type[Model], values: dict[str, Any]) -> Model:
    return kind(**values)
