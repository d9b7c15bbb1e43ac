"""`hiero features`: another set of local features and of rule generators for a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from hiero import FormatError, Model, features, generators
from hiero.cli.base.arguments import usage
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import Load, load_model
from hiero.features.built_in import BuiltIn
from hiero.features.trees import frequent_labels, read_trees
from hiero.generators.built_in import BUILT_IN

_LOOKED_AT = 10_000
# The paper's (section 3).
_FREQUENT = 100
_SYNTAX = (features.CoarseSyntax, features.FineSyntax)
_DISTORTION = (features.CoarseDistortion, features.FineDistortion)
T = TypeVar("T")
Grain = Literal["none", "coarse", "fine"]


def put_features(
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    output: Annotated[
        Path | None, Writes(over=True), typer.Option("-o", "--output", help="Another model (the same).")
    ] = None,
    syntax: Annotated[
        Grain | None, typer.Option(help="Soft syntactic constraints: two for all labels, or two for each.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(metavar="NP,VP,...", help="Of constituents (those of the paper).")
    ] = None,
    labels_from: Annotated[
        Path | None, typer.Option(help="Trees; the labels that are frequent there are taken.")
    ] = None,
    more_than: Annotated[
        int | None, typer.Option(min=0, help="Occurrences that frequent labels have more than (100).")
    ] = None,
    distortion: Annotated[
        Grain | None,
        typer.Option(help="Structural distortion: a probability as training counted, or one for each size."),
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE:TARGET",
            help="Rules for numbers and dates between these languages, as de:en, or none.",
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="Rules for names: a phrase, a tab and its translation a line; or none."),
    ] = None,
    glue: Annotated[bool, typer.Option("--glue", help="Those put in score glue rules, too.")] = False,
    log_base: Annotated[
        float | None, typer.Option(help="Of logarithms among the features; 0: natural ones.")
    ] = None,
    load: Load = None,
) -> None:
    """Gives a model other local features and generators of rules. What no option speaks of stays, and keeps
    its weights; new features have none.

    The model is replaced in one step, or a new one made that shares its large files.

        hiero features my-model -o with-both --syntax fine --labels-from dev.parse --distortion fine

        hiero features my-model --numbers de:en --names names.txt
    """
    loaded = load_model(model, load)
    if labels is not None and labels_from is not None:
        raise typer.BadParameter("labels are given, or taken from trees: --labels or --labels-from")
    if syntax in (None, "none") and (labels is not None or labels_from is not None):
        raise typer.BadParameter("labels are for soft syntax: --syntax coarse or --syntax fine")
    if more_than is not None and labels_from is None:
        raise typer.BadParameter("--more-than is of labels in trees: --labels-from")
    if glue and syntax in (None, "none") and distortion in (None, "none"):
        raise typer.BadParameter("--glue is of features that are put in: --syntax or --distortion")
    chosen = None if labels is None else labels.split(",")
    if labels_from is not None:
        least = _FREQUENT if more_than is None else more_than
        chosen = frequent_labels(read_trees(labels_from), least)
        if not chosen:
            raise FormatError(f"{labels_from}: no label occurs more than {least} times")
    made, rules = list(loaded.local_features), list(loaded.generators)
    if syntax is not None:
        made = [*_without(made, _SYNTAX), *_syntax(syntax, chosen, glue)]
    if distortion is not None:
        made = [*_without(made, _DISTORTION), *_distortion(distortion, loaded, model, glue)]
    if numbers is not None:
        rules = [*_without(rules, (generators.NumberRules,)), *_numbers(numbers, loaded)]
    if names is not None:
        rules = [*_without(rules, (generators.NameRules,)), *_names(names)]
    if any(isinstance(own, BUILT_IN) for own in rules) and "X" not in loaded.core.labels:
        raise FormatError(f"{model}: has no label X, which rules for numbers and names are of")
    base = loaded.log_base if log_base is None else log_base or None
    with usage():
        other = loaded.with_features(
            made, generators=rules, log_base=base, log_features=loaded.log_features if base else ()
        )
    other.save(output or model)


def _without(parts: Sequence[T], kinds: tuple[type, ...]) -> list[T]:
    return [part for part in parts if not isinstance(part, kinds)]


def _syntax(grain: Grain, labels: Sequence[str] | None, glue: bool) -> list[BuiltIn]:
    if grain == "none":
        return []
    kind = features.FineSyntax if grain == "fine" else features.CoarseSyntax
    with usage():
        return [kind(glue=glue) if labels is None else kind(labels=tuple(labels), glue=glue)]


def _numbers(languages: str, model: Model) -> list[generators.NumberRules]:
    if languages == "none":
        return []
    source, _, target = languages.partition(":")
    settings: dict[str, Any] = {"source": source, "target": target, "lowercase": not _has_capitals(model)}
    with usage():
        return [generators.NumberRules(**settings)]


def _has_capitals(model: Model) -> bool:
    """Whether the model writes any, by up to ``_LOOKED_AT`` rules of each table."""
    return any(
        not token.startswith("[") and token != token.lower()
        for table in model.tables
        for rule in range(0, table.rule_count, 1 + table.rule_count // _LOOKED_AT)
        for token in table.rule(rule).target
    )


def _names(path: Path) -> list[generators.NameRules]:
    return [] if path == Path("none") else [generators.NameRules(dictionary=path)]


def _distortion(grain: Grain, model: Model, path: Path, glue: bool) -> list[BuiltIn]:
    if grain == "none":
        return []
    if grain == "fine":
        return [features.FineDistortion(glue=glue)]
    if model.distortion is None:
        raise FormatError(f"{path}: training counted no distortion: only fine features are to be had")
    return [features.CoarseDistortion.of(model.distortion, glue=glue)]
