"""The files ``model.toml`` and ``manifest.json`` of a model directory.

``model.toml`` has the paths of the other files, relative to the directory, and all decoding settings. The
other files are packed rule tables with their precomputed estimates, KenLM binaries, ``weights.txt``, and
optionally distortion statistics and dictionaries of names. ``manifest.json`` has the sizes and checksums of
all files and describes how the model was made.
"""

from __future__ import annotations

import errno
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hiero._core import FormatError
from hiero.base.files import sha256, write_atomically
from hiero.base.json_files import json_number, validation_message
from hiero.base.ownership import MANIFEST
from hiero.decode.learning import Learning
from hiero.decode.settings import DecodingSettings
from hiero.features.built_in import BuiltIn
from hiero.features.protocols import LocalFeatures
from hiero.generators.built_in import BuiltIn as BuiltInGenerator
from hiero.generators.built_in import with_paths_in
from hiero.generators.protocol import RuleGenerator
from hiero.text import TextProcessing

FORMAT: Literal[1] = 1
WEIGHTS_FILE = "weights.txt"
MODEL_FILE = "model.toml"
# The key for the origin of the weights, in the part of the manifest that describes how the model was made.
WEIGHTS = "weights"


class TableEntry(BaseModel):
    """A rule table, the name of its owner, and the file of its precomputed rule estimates."""

    model_config = ConfigDict(extra="forbid")
    path: str
    owner: str = ""
    statics: str = ""


class ExternalFeatures(BaseModel):
    """Local features that are not part of this package and must be passed by the caller."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["given"] = "given"
    names: list[str]


class ExternalGenerator(BaseModel):
    """A rule generator that is not part of this package and must be passed by the caller."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["given"] = "given"
    name: str
    features: list[str]


class ModelFile(BaseModel):
    """The content of ``model.toml``. Text of models that were written before text was normalised says nothing
    of its rules: they are the first version."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[1]
    goal: str | None = None
    copy_labels: list[str] = []
    glue_labels: list[str] = []
    tables: list[TableEntry]
    lms: list[str] = []
    weights: str
    distortion: str = ""
    learning: Learning | None = None
    # In the order of weight vectors.
    local_features: list[Annotated[BuiltIn | ExternalFeatures, Field(discriminator="kind")]] = []
    generators: list[Annotated[BuiltInGenerator | ExternalGenerator, Field(discriminator="kind")]] = []
    # The base of the features that are logarithms: those of language models and log_features.
    log_base: float | None = Field(None, gt=1, allow_inf_nan=False)
    log_features: list[str] = []
    text: TextProcessing = TextProcessing()
    decoding: DecodingSettings = DecodingSettings()

    @field_validator("text", mode="before")
    @classmethod
    def _with_rules(cls, text: object) -> object:
        if not isinstance(text, dict):
            return text
        for side in text.values():
            if isinstance(side, dict) and side.setdefault("rules", 1) in (2, 3):
                if side.get("scheme") != "none":
                    raise ValueError(
                        f"rules {side['rules']}, of a version in development, split text such as m² or"
                        " ‘word’ otherwise: train the model again"
                    )
                del side["rules"]  # all rules leave tokens as they are
        return text


def abbreviated(names: Sequence[str]) -> str:
    """Returns the first ten names as text, with the total number if there are more."""
    text = ", ".join(names[:10])
    return text if len(names) <= 10 else f"{text}, ... ({len(names):,})"


def read_config(directory: Path) -> ModelFile:
    """Reads ``model.toml``. Raises FormatError or OSError."""
    path = directory / MODEL_FILE
    try:
        return ModelFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from None
    except ValidationError as error:
        raise FormatError(f"{path}: {validation_message(error, ModelFile)}") from None


def write_config(directory: Path, config: ModelFile) -> None:
    """Writes ``model.toml`` with all settings."""

    values = config.model_dump(mode="json", exclude={"text", "decoding"})
    # Empty fields are omitted, except for labels.
    always = {"goal", "copy_labels", "glue_labels", "tables", "lms"}
    lines = [
        f"{name} = {_toml(value or '' if name == 'goal' else value)}"
        for name, value in values.items()
        if value or name in always
    ]
    for name, side in (("source", config.text.source), ("target", config.text.target)):
        lines += ["", f"[text.{name}]"]
        lines += [
            f"{key} = {_toml(value)}" for key, value in asdict(side).items() if value or key != "truecaser"
        ]
    lines += ["", "[decoding]"]
    lines += [f"{name} = {_toml(value)}" for name, value in config.decoding.model_dump().items()]
    write_atomically(directory / MODEL_FILE, "\n".join(lines) + "\n")


def _toml(value: Any) -> str:
    """Formats a value in TOML on one line."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a JSON string is a TOML string
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value).lower()


def read_manifest(directory: Path) -> dict[str, dict[str, int | str]]:
    """Returns the size and SHA-256 of every file of a model directory. Raises FormatError or OSError."""
    with _manifest(directory) as manifest:
        return {name: {"size": f["size"], "sha256": f["sha256"]} for name, f in manifest["files"].items()}


def read_made_from(directory: Path) -> dict[str, Any]:
    """Returns how a model was made, from its manifest; empty if unknown. Raises FormatError."""
    if not (directory / MANIFEST).exists():
        return {}
    with _manifest(directory) as manifest:
        return dict(manifest.get("made_from", {}))


@contextmanager
def _manifest(directory: Path) -> Iterator[Any]:
    path = directory / MANIFEST
    try:
        yield json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{path}: malformed manifest: {error}") from None


def write_manifest(directory: Path, names: Sequence[str], made_from: Mapping[str, Any]) -> None:
    """Writes ``manifest.json`` with the sizes and checksums of these files and how the model was made."""
    files = {
        name: {"size": (directory / name).stat().st_size, "sha256": sha256(directory / name)}
        for name in names
    }
    manifest: dict[str, Any] = {"format": FORMAT, "files": files}
    if made_from:
        manifest["made_from"] = made_from
    text = json.dumps(manifest, indent=1, default=json_number)
    write_atomically(directory / MANIFEST, text + "\n")


def combine_local_features(
    directory: Path, config: ModelFile, passed: Sequence[LocalFeatures]
) -> list[LocalFeatures]:
    """Returns the local features of a model directory in order, followed by other passed features.

    Passed features replace the features of the directory if they have all of their names. Raises FormatError
    if external features are not passed.
    """
    features_by_name = {name: features for features in passed for name in features.names}
    combined: list[LocalFeatures] = []
    missing: list[str] = []
    for entry in config.local_features:
        if features_by_name.keys() >= set(entry.names):
            combined += [features_by_name[name] for name in entry.names]
        elif isinstance(entry, ExternalFeatures):
            missing += [name for name in entry.names if name not in features_by_name]
        else:
            combined.append(entry)
    if missing:
        raise FormatError(
            f"{directory}: needs local features in Python for {abbreviated(missing)}: pass them to "
            "hiero.Model.load(..., local_features=[...]), or name them to a command by --load MODULE:NAME"
        )
    # Removes duplicates; the first one counts.
    return list({id(features): features for features in [*combined, *passed]}.values())


def combine_generators(
    directory: Path, config: ModelFile, passed: Sequence[RuleGenerator]
) -> list[RuleGenerator]:
    """Returns the rule generators of a model directory in order, followed by other passed generators.

    A passed generator replaces the one with the same name. Raises FormatError if an external generator is
    not passed.
    """
    passed_by_name = {generator.name: generator for generator in passed}
    combined: list[RuleGenerator] = []
    missing: list[str] = []
    for entry in config.generators:
        if entry.name in passed_by_name:
            combined.append(passed_by_name[entry.name])
        elif isinstance(entry, ExternalGenerator):
            missing.append(entry.name)
        else:
            combined.append(with_paths_in(directory, entry))
    if missing:
        raise FormatError(
            f"{directory}: needs rule generators in Python, {', '.join(missing)}: pass them to "
            "hiero.Model.load(..., generators=[...]), or name them to a command by --load MODULE:NAME"
        )
    return list({id(generator): generator for generator in [*combined, *passed]}.values())


def check_output(path: str | os.PathLike[str]) -> None:
    """Raises FileExistsError if ``path`` exists and is neither a model directory nor an empty directory."""
    path = Path(path)
    if path.is_dir() and path.name not in ("", ".."):
        free = (path / MODEL_FILE).is_file() or not any(path.iterdir())
    else:
        free = not os.path.lexists(path)
    if not free:
        raise FileExistsError(errno.EEXIST, "exists and is not a model directory", os.fspath(path))
