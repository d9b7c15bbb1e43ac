"""The systems of Chiang, Marton and Resnik (2008), section 5: what is tuned how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from hiero._core import FormatError
from hiero.decode.model import Model
from hiero.decode.model_directory import some_of
from hiero.evaluate import EffectiveLength
from hiero.experiments.laboratory import ExperimentOptions
from hiero.features.built_in import BuiltIn
from hiero.features.distortion import CoarseDistortion, FineDistortion
from hiero.features.syntax import COARSE_LABELS, FINE_LABELS, CoarseSyntax, FineSyntax, Labels
from hiero.tune.methods import METHODS

# The paper's baseline: language models, rules in both directions, lengths, and classes of rules.
BASELINE = (
    *("LM0", "LM1", "PhraseFE", "PhraseEF", "LexFE", "LexEF", "WordPenalty"),
    *("RulePenalty", "Identity", "NumberRule", "NameRule", "Glue"),
)


class Chiang2008Options(ExperimentOptions):
    """Settings that the paper leaves open or chose for its corpora. ``mert`` and ``mira`` are options of
    these methods."""

    baseline: tuple[str, ...] | None = Field(
        None, min_length=1, description="features of all systems (of the paper's, those that there are)"
    )
    coarse_labels: Labels = COARSE_LABELS
    fine_labels: Labels = FINE_LABELS
    log_base: float = Field(100.0, gt=1, allow_inf_nan=False)
    effective_length: EffectiveLength = "shortest"
    mert: Mapping[str, Any] = {}
    mira: Mapping[str, Any] = {}
    sentence: int = Field(0, ge=0, description="of the tuning set, from 0, for the scatter plot")

    def parts(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        yield from super().parts()
        for method in ("mert", "mira"):
            yield method, type(METHODS[method]), getattr(self, method)

    def baseline_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that there are of a model's features. Raises FormatError for one that was asked for and there
        is not."""
        if self.baseline is None:
            return tuple(name for name in BASELINE if name in names)
        if missing := [name for name in self.baseline if name not in names]:
            raise FormatError(f"baseline: the model has no feature {some_of(missing)}")
        return self.baseline


@dataclass(frozen=True)
class System:
    """A row of a table: its name, a method, a set of features, and options of the method."""

    name: str
    method: str
    features: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def slug(self) -> str:
        return "-".join(
            [self.method, *self.features.split(), *(f"{key}-{value}" for key, value in self.options)]
        )


# Of features, all that there are.
ALL = "all"
_MERT = ("baseline", "coarse syntax", "fine syntax", "coarse distortion", "fine distortion")
_MIRA = ("baseline", "fine syntax", "fine distortion", ALL)
TABLE_1 = (
    *(System(f"MERT, {features}", "mert", features) for features in _MERT),
    *(System(f"MIRA, {features}", "mira", features) for features in _MIRA),
)
_LOCAL, _PLAIN = ("oracle", "local"), ("no_loss_augmented", True)
FULL = TABLE_1[-1]
TABLE_2 = (
    System("local updating", "mira", ALL, (_LOCAL, _PLAIN)),
    System("local updating, LAI", "mira", ALL, (_LOCAL,)),
    System("mu = 0.5 oracle, no LAI", "mira", ALL, (_PLAIN,)),
    System("no sharing", "mira", ALL, (("no_sharing", True),)),
)


def systems(model: Model, parsed: bool) -> list[System]:
    """Rows of both tables that can be had, and are not the same as others."""
    left = set() if parsed else {"coarse syntax", "fine syntax"}
    if model.distortion is None:
        left.add("coarse distortion")
    return [
        system
        for system in (*TABLE_1, *TABLE_2)
        if system.features not in left
        and (parsed or (system.method, system.features) != ("mira", "fine distortion"))
    ]


def local_features(features: str, model: Model, parsed: bool, options: Chiang2008Options) -> list[BuiltIn]:
    """Those of a set of features beyond the baseline's."""
    every = features == ALL
    made: list[BuiltIn] = []
    if features == "coarse syntax":
        made.append(CoarseSyntax(labels=options.coarse_labels))
    if features == "fine syntax" or (every and parsed):
        made.append(FineSyntax(labels=options.fine_labels))
    if features == "coarse distortion":
        assert model.distortion is not None
        made.append(CoarseDistortion.of(model.distortion))
    if features == "fine distortion" or every:
        made.append(FineDistortion())
    return made
