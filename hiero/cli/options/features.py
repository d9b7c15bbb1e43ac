"""Options of `hiero features`: local features and rule generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from hiero import FormatError, Model, features, generators
from hiero.cli.base.commands import usage
from hiero.features.built_in import BuiltIn
from hiero.features.protocols import LocalFeatures
from hiero.features.trees import frequent_labels, read_trees
from hiero.generators.built_in import BUILT_IN
from hiero.generators.protocol import RuleGenerator

# The most rules of a table that are searched for capitals.
_SAMPLE = 10_000
# Occurrences of a frequent label, by Chiang et al. (2008), section 3.
_FREQUENT = 100
_SYNTAX = (features.CoarseSyntax, features.FineSyntax)
_DISTORTION = (features.CoarseDistortion, features.FineDistortion)
T = TypeVar("T")
Grain = Literal["none", "coarse", "fine"]


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """The local features to put into a model."""

    syntax: Annotated[
        Grain | None,
        typer.Option(
            help="Soft syntactic constraints; coarse: two features for all labels; fine: two for each label."
        ),
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(metavar="NP,VP,...", help="Labels of constituents (default: those of the paper)."),
    ] = None
    labels_from: Annotated[
        Path | None, typer.Option(help="File of trees, whose frequent labels are taken.")
    ] = None
    more_than: Annotated[
        int | None,
        typer.Option(
            min=0, help=f"Number of occurrences above which a label is frequent (default: {_FREQUENT})."
        ),
    ] = None
    distortion: Annotated[
        Grain | None,
        typer.Option(
            help="Structural distortion; coarse: a probability that training counted; fine: a feature for"
            " each size."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.labels is not None and self.labels_from is not None:
            raise typer.BadParameter("labels are given, or taken from trees: --labels or --labels-from")
        has_labels = self.labels is not None or self.labels_from is not None
        if self.syntax in (None, "none") and has_labels:
            raise typer.BadParameter("labels are for soft syntax: --syntax coarse or --syntax fine")
        if self.more_than is not None and self.labels_from is None:
            raise typer.BadParameter("--more-than is of labels in trees: --labels-from")

    @property
    def adds_features(self) -> bool:
        return self.syntax in ("coarse", "fine") or self.distortion in ("coarse", "fine")

    def apply(self, model: Model, path: Path, glue: bool) -> list[LocalFeatures]:
        """Returns the local features of the model with these in place of those of the same kind.

        Raises FormatError, which names the model's ``path``, for features that cannot be had; OSError."""
        parts = list(model.local_features)
        labels = self._labels()
        if self.syntax is not None:
            parts = [*_without(parts, _SYNTAX), *_syntax(self.syntax, labels, glue)]
        if self.distortion is not None:
            parts = [*_without(parts, _DISTORTION), *_distortion(self.distortion, model, path, glue)]
        return parts

    def _labels(self) -> Sequence[str] | None:
        if self.labels is not None:
            return self.labels.split(",")
        if self.labels_from is None:
            return None
        least = _FREQUENT if self.more_than is None else self.more_than
        labels = frequent_labels(read_trees(self.labels_from), least)
        if not labels:
            raise FormatError(f"{self.labels_from}: no label occurs more than {least} times")
        return labels


@dataclass(frozen=True, kw_only=True)
class GeneratorOptions:
    """The rule generators to put into a model."""

    numbers: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE:TARGET",
            help="Languages between which numbers and dates have rules, such as de:en; or none.",
        ),
    ] = None
    names: Annotated[
        Path | None,
        typer.Option(
            help="File of names that have rules, on each line a phrase, a tab and its translation; or none."
        ),
    ] = None

    def apply(self, model: Model, path: Path) -> list[RuleGenerator]:
        """Returns the rule generators of the model with these in place of those of the same kind.

        Raises FormatError, which names the model's ``path``, for a model without the label of their rules."""
        parts = list(model.generators)
        if self.numbers is not None:
            parts = [*_without(parts, (generators.NumberRules,)), *_numbers(self.numbers, model)]
        if self.names is not None:
            parts = [*_without(parts, (generators.NameRules,)), *_names(self.names)]
        if any(isinstance(part, BUILT_IN) for part in parts) and "X" not in model.core.labels:
            raise FormatError(f"{path}: has no label X, which rules for numbers and names are of")
        return parts


def _without(parts: Sequence[T], kinds: tuple[type, ...]) -> list[T]:
    return [part for part in parts if not isinstance(part, kinds)]


def _syntax(grain: Grain, labels: Sequence[str] | None, glue: bool) -> list[BuiltIn]:
    if grain == "none":
        return []
    kind = features.FineSyntax if grain == "fine" else features.CoarseSyntax
    with usage():
        return [kind(glue=glue) if labels is None else kind(labels=tuple(labels), glue=glue)]


def _distortion(grain: Grain, model: Model, path: Path, glue: bool) -> list[BuiltIn]:
    if grain == "none":
        return []
    if grain == "fine":
        return [features.FineDistortion(glue=glue)]
    if model.distortion is None:
        raise FormatError(f"{path}: training counted no distortion: only fine features are to be had")
    return [features.CoarseDistortion.from_statistics(model.distortion, glue=glue)]


def _numbers(languages: str, model: Model) -> list[generators.NumberRules]:
    if languages == "none":
        return []
    source, _, target = languages.partition(":")
    settings: dict[str, Any] = {"source": source, "target": target, "lowercase": not _has_capitals(model)}
    with usage():
        return [generators.NumberRules(**settings)]


def _has_capitals(model: Model) -> bool:
    """Tells whether the model writes capitals, judged by at most about ``_SAMPLE`` rules of each table."""
    return any(
        not token.startswith("[") and token != token.lower()
        for table in model.tables
        for rule in range(0, table.rule_count, 1 + table.rule_count // _SAMPLE)
        for token in table.rule(rule).target
    )


def _names(path: Path) -> list[generators.NameRules]:
    return [] if path == Path("none") else [generators.NameRules(dictionary=path)]
