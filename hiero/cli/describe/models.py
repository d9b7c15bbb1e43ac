"""Descriptions of rule tables, language models and model directories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hiero import ApplicationBatch, LanguageModel, Model, Rule, RuleTable, Sentence
from hiero.cli.io.records import assignments
from hiero.decode.model_directory import (
    WEIGHTS,
    ExternalFeatures,
    ExternalGenerator,
    abbreviated,
    read_config,
)
from hiero.features.built_in import BuiltIn as Features
from hiero.generators.built_in import BuiltIn as Generator
from hiero.text import TextSide


def describe_table(table: RuleTable) -> dict[str, object]:
    """Returns facts about a rule table."""
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
    """Returns facts about a language model."""
    return {"kind": f"language model ({lm.kind})", "order": lm.order}


def describe_model(path: Path) -> dict[str, object]:
    """Returns facts about a model directory. Raises FormatError, OSError."""
    config = read_config(path)
    model = Model.load(
        path,
        local_features=[
            _AbsentFeatures(part.names)
            for part in config.local_features
            if isinstance(part, ExternalFeatures)
        ],
        generators=[
            _AbsentGenerator(part.name, part.features)
            for part in config.generators
            if isinstance(part, ExternalGenerator)
        ],
    )
    local = [_describe_part(part) for part in config.local_features]
    generators = [_describe_part(part) for part in config.generators]
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
    """Describes language, tokenisation, normalisation and case of one side."""
    language = "(language not given)" if side.language == "und" else side.language
    scheme = "tokens between white space" if side.scheme == "none" else f"tokenised by {side.scheme}"
    case = ", lowercased" if side.lowercase else ", truecased" if side.truecaser else ""
    if side.leaves_text:
        return f"{language}, {scheme}{case}"
    normal = [side.unicode] * (side.unicode != "none") + ["plain punctuation"] * side.punctuation
    own = "".join(f", protected: {pattern}" for pattern in side.protect)
    return f"{language}, {' and '.join(normal) or 'text as it is'}, {scheme}{case}{own}"


def describe_making(made_from: Mapping[str, Any]) -> dict[str, str]:
    """Describes how a model was trained and tuned, according to its manifest."""
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


def _describe_part(part: Features | ExternalFeatures | Generator | ExternalGenerator) -> str:
    """Describes local features or a generator by kind and settings, without default settings and counts."""
    if isinstance(part, ExternalFeatures):
        return f"(given from Python: {abbreviated(part.names)})"
    if isinstance(part, ExternalGenerator):
        return f"(given from Python: {part.name})"
    left_out = {"kind", "monotone", "reordered"}
    settings = part.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return f"{part.kind} {json.dumps(settings)}" if settings else part.kind


class _AbsentFeatures:
    """Placeholder for local features in Python, which are not loaded."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def by_rule(self, sentence: Sentence, batch: ApplicationBatch) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class _AbsentGenerator:
    """Placeholder for a generator in Python, which is not loaded."""

    name: str
    features: Sequence[str]

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        raise NotImplementedError


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:,.1f} MB"
