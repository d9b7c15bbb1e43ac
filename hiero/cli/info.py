"""`hiero info` and `hiero check`: what a table, a language model, a model directory or what a command left
is, and whether tables and models are whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hiero import ApplicationBatch, FormatError, LanguageModel, Model, Rule, RuleTable, Sentence
from hiero.base.files import sha256
from hiero.base.tables import is_packed
from hiero.base.text import TextSide
from hiero.cli.base.files import Output, writing
from hiero.cli.base.loading import Load, load_model
from hiero.cli.describe.leftovers import describe_left_directory, describe_left_file
from hiero.cli.io.records import assignments
from hiero.decode.model_directory import (
    WEIGHTS,
    GivenFeatures,
    GivenGenerator,
    read_config,
    read_manifest,
    some_of,
)
from hiero.features.built_in import BuiltIn as Features
from hiero.generators.built_in import BuiltIn as Generator


def info(
    path: Annotated[Path, typer.Argument(help="Table, language model, model, or what a command left.")],
    output: Output = None,
) -> None:
    """Describes a packed rule table, a language model, a model directory, or what commands leave: forests,
    second stages, and directories of tuning, training and hiero run."""
    if path.is_dir():
        is_model = (path / "model.toml").exists()
        facts = describe_model(path) if is_model else describe_left_directory(path)
    elif (left := describe_left_file(path)) is not None:
        facts = left
    elif is_packed(path):
        facts = describe_table(RuleTable.open(str(path)))
    else:
        try:
            lm = LanguageModel.load(str(path))
        except FormatError as error:
            raise FormatError(f"{error}; nor a packed rule table (hiero pack makes one from text)") from None
        facts = describe_lm(lm)
    width = max(map(len, facts))
    with writing(output) as stream:
        for name, value in facts.items():
            stream.write(f"{name:<{width}}  {value}\n".encode())


def check(path: Annotated[Path, typer.Argument(help="Packed table or model.")], load: Load = None) -> None:
    """Verifies all checksums and reads every rule."""
    if path.is_dir():
        check_model(path, load)
    elif load:
        raise typer.BadParameter("--load is for what a model was saved with, not for rule tables")
    else:
        RuleTable.open(str(path)).check()
    print(f"{path}: good")


def check_model(path: Path, load: Sequence[str] | None = None) -> None:
    """Compares a model's files with its manifest, checks its tables and opens it. Raises FormatError."""
    for name, entry in read_manifest(path).items():
        file = path / name
        size = file.stat().st_size
        if size != entry["size"]:
            raise FormatError(f"{file}: {size} bytes long, expected {entry['size']}")
        if sha256(file) != entry["sha256"]:
            raise FormatError(f"{file}: wrong checksum")
        if file.suffix == ".hrt":
            RuleTable.open(str(file)).check()
    load_model(path, load)


def describe_table(table: RuleTable) -> dict[str, object]:
    """Collects what `hiero info` prints of a rule table."""
    return {
        "kind": "rule table",
        "owner": table.owner or "(not given)",
        "span limit": table.span_limit or "(the decoder's)",
        "rules": table.rule_count,
        "trie nodes": table.node_count,
        "words": table.word_count,
        "labels": " ".join(table.labels),
        "features": " ".join(table.feature_names),
        "dense features": table.dense_count,
    }


def describe_lm(lm: LanguageModel) -> dict[str, object]:
    """Collects what `hiero info` prints of a language model."""
    return {"kind": f"language model ({lm.kind})", "order": lm.order}


def describe_model(path: Path) -> dict[str, object]:
    """Collects what `hiero info` prints of a model directory."""
    config = read_config(path)
    absent = [own for own in config.local_features if isinstance(own, GivenFeatures)]
    model = Model.load(
        path,
        local_features=[_Absent(own.names) for own in absent],
        generators=[
            _AbsentGenerator(own.name, own.features)
            for own in config.generators
            if isinstance(own, GivenGenerator)
        ],
    )
    local = [_described(own) for own in config.local_features]
    generators = [_described(own) for own in config.generators]
    return {
        "kind": "model",
        "source": describe_side(model.text.source),
        "target": describe_side(model.text.target),
        "rule tables": ", ".join(
            f"{owner} ({table.rule_count:,} rules, {_size(path / entry.path)})"
            for owner, table, entry in zip(model.core.owners, model.tables, config.tables, strict=False)
        ),
        "language models": ", ".join(
            f"{lm.kind}, order {lm.order}, {_size(path / file)}"
            for lm, file in zip(model.lms, config.lms, strict=True)
        ),
        "goal": model.goal,
        "copy labels": " ".join(model.copy_labels) or "(X, else all)",
        "glue labels": " ".join(model.glue_labels) or "(all)",
        **({"local features": ", ".join(local)} if local else {}),
        **({"rule generators": ", ".join(generators)} if generators else {}),
        **({"logarithms": f"of base {model.log_base:g}"} if model.log_base else {}),
        **describe_making(model.made_from),
        "weights": assignments(model.weights),
        "without weight": " ".join(model.unweighted()),
        "decoding": json.dumps(model.settings.model_dump(), default=str),
    }


def describe_side(side: TextSide) -> str:
    """Language, tokenisation and case of one side."""
    language = "(language not given)" if side.language == "und" else side.language
    scheme = "tokens between white space" if side.scheme == "none" else f"tokenised by {side.scheme}"
    case = ", lowercased" if side.lowercase else ", truecased" if side.truecaser else ""
    return f"{language}, {scheme}{case}"


def describe_making(made_from: Mapping[str, Any]) -> dict[str, str]:
    """How a model was trained and tuned, of what its manifest says."""
    facts = {}
    if "program" in made_from:
        counts = made_from.get("sizes", {})
        sizes = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        facts["trained"] = f"by {made_from['program']}" + (f" on {sizes}" if sizes else "")
    origin = made_from.get(WEIGHTS)
    if origin is None:
        facts["tuned"] = "no"
    elif "method" in origin:
        judged = "on a held-out set" if origin["held_out"] else "on it"
        facts["tuned"] = (
            f"by {origin['method']} on {origin['source']} ({origin['sentences']:,} sentences): "
            f"{origin['before']:.2f} before, {origin['score']:.2f} after {judged} ({origin['metric']})"
        )
    else:
        facts["tuned"] = f"weights of {origin['file']}"
    return facts


def _described(part: Features | GivenFeatures | Generator | GivenGenerator) -> str:
    """Local features or a generator by kind, and settings that are not the default ones, less counts."""
    if isinstance(part, GivenFeatures):
        return f"(given from Python: {some_of(part.names)})"
    if isinstance(part, GivenGenerator):
        return f"(given from Python: {part.name})"
    left_out = {"kind", "monotone", "reordered"}
    settings = part.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return f"{part.kind} {json.dumps(settings)}" if settings else part.kind


class _Absent:
    """In place of local features that only Python can give."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def by_rule(self, sentence: Sentence, batch: ApplicationBatch) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class _AbsentGenerator:
    """In place of a generator that only Python can give."""

    name: str
    features: Sequence[str]

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        raise NotImplementedError


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:,.1f} MB"
