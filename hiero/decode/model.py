"""A model: rule tables, language models, features, weights and decoding settings, bound to each other."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hiero._core import FeatureNames, LanguageModel, Rule, TranslationModel
from hiero.base.arguments import by_name, several
from hiero.base.directories import publish, temporary_folder
from hiero.base.tables import load_table
from hiero.base.weights import check_writable, read_weights
from hiero.decode.model_directory import WEIGHTS, check_output
from hiero.decode.model_files import read_model, write_model
from hiero.decode.parts import ModelParts
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator

_PATH = (str, os.PathLike)
PathLike = str | os.PathLike[str]


class Model(ModelParts):
    """Everything that decoding needs. Immutable: share one between any number of decoders and threads.

    Its parts are fields (``ModelParts``); ``dataclasses.replace`` gives a model with others. ``owners`` and
    ``goal`` name what the parts leave open. ``feature_names`` are in the order of weights as a vector, and
    ``core`` is what decoders of the core share.

    >>> model = Model.load("model")
    >>> model.with_weights({"LM0": 0.5}).save("other-model")
    """

    core: TranslationModel
    feature_names: FeatureNames

    def __post_init__(self) -> None:
        """Binds the parts. Raises as ``ModelParts`` and ``ModelParts.bind`` do, and FormatError for a weight
        that names no feature and for names of features that a weights file cannot hold."""
        super().__post_init__()
        core = self.bind()
        check_writable(core.feature_names)
        owners = tuple(core.owners[: len(self.tables)])
        vars(self).update(core=core, feature_names=core.feature_names, goal=core.goal, owners=owners)
        self.weight_vector(self.weights)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a model does not change; see with_weights and with_features")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a model does not change; see with_weights and with_features")

    def _with_weights_alone(self, weights: Mapping[str, float], made_from: Mapping[str, Any]) -> Self:
        """Returns the model with exactly these weights; all that is bound is shared."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        object.__setattr__(other, "weights", MappingProxyType(dict(weights)))
        object.__setattr__(other, "made_from", made_from)
        return other

    @classmethod
    def assemble(
        cls,
        grammars: Sequence[PathLike],
        lms: Sequence[PathLike] = (),
        weights: PathLike | Mapping[str, float] | None = None,
        **parts: Any,
    ) -> Self:
        """Makes a model from files: rule tables (packed, or text, which is packed first), language models and
        weights; ``parts`` are other fields of ``ModelParts`` by name.

        Raises as the constructor does, and OSError; TypeError for one path in place of several."""
        if weights is None:
            weights = {}
        elif not isinstance(weights, Mapping):
            weights = read_weights(weights)
        return cls(
            [load_table(path) for path in several("grammars", grammars, _PATH, "files")],
            [LanguageModel.load(os.fspath(path)) for path in several("lms", lms, _PATH, "files")],
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
        """Reads a model directory; ``weights`` are merged over its own: features that they do not name keep
        theirs.

        Local features and generators of this package are made as the directory says; others that it was saved
        with must be given again: FormatError is raised where they are not.
        Raises OSError for missing files and FormatError for malformed ones; damage within tables and their
        estimates is found where they are read, by the sentence that needs them.
        """
        parts = read_model(Path(path), local_features, generators)
        if weights is not None and not isinstance(weights, Mapping):
            weights = read_weights(weights)
        model = cls(**{field.name: getattr(parts, field.name) for field in fields(parts)})
        return model if weights is None else model.with_weights(weights)

    def with_weights(self, weights: Mapping[str, float], origin: Mapping[str, Any] | None = None) -> Self:
        """Returns the same model with these weights merged over its own: features that they do not name keep
        theirs. Everything else is shared.

        ``origin`` says where they come from, for the manifest. Raises FormatError for a weight that names no
        feature, TypeError for what is no mapping, such as a file's name.
        """
        merged = {**self.weights, **by_name("weights", weights)}
        self.weight_vector(merged)
        made_from = {key: value for key, value in self.made_from.items() if key != WEIGHTS}
        if origin is not None:
            made_from[WEIGHTS] = dict(origin)
        return self._with_weights_alone(merged, made_from)

    def with_features(
        self,
        local_features: Sequence[LocalFeatures] = (),
        *,
        generators: Sequence[RuleGenerator] = (),
        log_base: float | None = None,
        log_features: Sequence[str] = (),
    ) -> Self:
        """Returns the same model with these local features and generators in place of its own, and logarithms
        of this base.

        Features that are left keep their weights, such that they say of translations what they said: those of
        logarithms change with the base. New features have none, and count 0. Raises as the constructor does.
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
        return other._with_weights_alone(weights, self.made_from)

    def with_grammar(self, other: Model) -> Self:
        """Returns the same model with another's rule tables, language models and distortion statistics, as if
        it had been trained on the other's bitext. Raises ValueError for another number of tables or language
        models, and FormatError as the constructor does."""
        if (len(other.tables), len(other.lms)) != (len(self.tables), len(self.lms)):
            raise ValueError("the models have different numbers of rule tables or language models")
        return replace(
            self,
            tables=other.tables,
            lms=other.lms,
            estimates=other.estimates,
            distortion=other.distortion,
            made_from={},
        )

    def save(self, path: PathLike, *, scratch: PathLike | None = None) -> None:
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
        """Returns weights in the order of ``feature_names``, 0 where there is none.

        Raises FormatError for a weight that names no feature.
        """
        return self.feature_names.vector(weights)

    def unweighted(self) -> list[str]:
        """Returns the features that have no weight, and so count 0."""
        return [name for name in self.feature_names if name not in self.weights]

    def rule(self, table: int | str, rule: int) -> Rule:
        """Returns a rule of a table, by the table's index as in ``Applications.tables`` or its owner's name
        as in ``Forest.tables``, and the rule's id there.

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
        """Pickles files by name, and tables made in memory as a whole."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"weights": dict(self.weights), "made_from": dict(self.made_from)}
        return _model_of, (type(self), values)


def _model_of(kind: type[Model], values: dict[str, Any]) -> Model:
    return kind(**values)
