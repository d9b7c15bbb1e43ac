"""`hiero info` and `hiero check`: what a table, language model or model directory is, and whether it
is whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError, LanguageModel, Model, RuleTable
from hiero.base.files import sha256
from hiero.base.tables import is_packed
from hiero.cli.records import assignments
from hiero.decode.model_directory import read_manifest


def info(path: Annotated[Path, typer.Argument(help="Table, language model or model.")]) -> None:
    """Describes a packed rule table, a language model or a model directory."""
    if path.is_dir():
        _print(describe_model(path))
    elif is_packed(path):
        _print(describe_table(RuleTable.open(str(path))))
    else:
        _print(describe_lm(LanguageModel.load(str(path))))


def check(path: Annotated[Path, typer.Argument(help="Packed table or model.")]) -> None:
    """Verifies all checksums and reads every rule."""
    if path.is_dir():
        check_model(path)
    else:
        RuleTable.open(str(path)).check()
    print(f"{path}: good")


def check_model(path: Path) -> None:
    """Compares a model's files with its manifest and checks its tables. Raises FormatError."""
    for name, entry in read_manifest(path).items():
        file = path / name
        size = file.stat().st_size
        if size != entry["size"]:
            raise FormatError(f"{file}: {size} bytes long, expected {entry['size']}")
        if sha256(file) != entry["sha256"]:
            raise FormatError(f"{file}: wrong checksum")
        if file.suffix == ".hrt":
            RuleTable.open(str(file)).check()


def describe_table(table: RuleTable) -> dict[str, object]:
    """What `hiero info` prints of a rule table."""
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
    """What `hiero info` prints of a language model."""
    return {"kind": f"language model ({lm.kind})", "order": lm.order}


def describe_model(path: Path) -> dict[str, object]:
    """What `hiero info` prints of a model directory."""
    model = Model.load(path)
    return {
        "kind": "model",
        "goal": model.goal,
        "copy labels": " ".join(model.copy_labels) or "(X, else all)",
        "glue labels": " ".join(model.glue_labels) or "(all)",
        "rule tables": ", ".join(
            f"{owner} ({table.rule_count} rules)"
            for owner, table in zip(model.core.owners, model.tables, strict=False)
        ),
        "language models": ", ".join(f"{lm.kind}, order {lm.order}" for lm in model.lms),
        "weights": assignments(model.weights),
        "without weight": " ".join(model.unweighted()),
        "decoding": json.dumps(model.settings.model_dump(), default=str),
    }


def _print(facts: dict[str, object]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")
