"""`hiero info` and `hiero check`: describes files and directories, and verifies tables and models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError, LanguageModel, RuleTable
from hiero.base.files import sha256
from hiero.base.tables import is_packed
from hiero.cli.base.files import Output, writing
from hiero.cli.base.loading import load_model
from hiero.cli.describe.models import describe_lm, describe_model, describe_table
from hiero.cli.describe.outputs import describe_output, describe_output_directory
from hiero.cli.options.common import Load
from hiero.decode.model_directory import read_manifest


def info(
    path: Annotated[
        Path, typer.Argument(help="Rule table, language model, model directory, or output of a command.")
    ],
    output: Output = None,
) -> None:
    """Describes a packed rule table, a language model, a model directory, or an output of other commands:
    forests, rerankers, and directories of tuning, training and hiero run."""
    if path.is_dir():
        is_model = (path / "model.toml").exists()
        facts = describe_model(path) if is_model else describe_output_directory(path)
    elif (output_facts := describe_output(path)) is not None:
        facts = output_facts
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


def check(
    path: Annotated[Path, typer.Argument(help="Packed rule table, or model directory.")], load: Load = None
) -> None:
    """Verifies all checksums of a rule table or a model, and reads every rule."""
    if path.is_dir():
        check_model(path, load)
    elif load:
        raise typer.BadParameter("--load is for what a model was saved with, not for rule tables")
    else:
        RuleTable.open(str(path)).check()
    print(f"{path}: good")


def check_model(path: Path, load: Sequence[str] | None = None) -> None:
    """Compares the files of a model with its manifest, checks its tables and opens it. Raises FormatError."""
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
