"""A model on disk: ``model.toml`` (paths relative to it, every decoding setting), packed rule tables with
what is precomputed per rule, KenLM binaries, ``weights.txt``, distortion statistics where training left some,
dictionaries of names, and ``manifest.json`` with sizes, checksums and how it was made.
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

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hiero._core import FormatError
from hiero.base.files import sha256, write_atomically
from hiero.base.json_files import complaint, json_number
from hiero.base.ownership import MANIFEST
from hiero.base.text import TextProcessing
from hiero.decode.settings import DecodingSettings
from hiero.features.built_in import BuiltIn
from hiero.features.protocols import LocalFeatures
from hiero.generators.built_in import BuiltIn as BuiltInGenerator
from hiero.generators.built_in import within
from hiero.generators.protocol import RuleGenerator

FORMAT: Literal[1] = 1
WEIGHTS_FILE = "weights.txt"
# In the part of a manifest that says how a model was made, of its weights.
WEIGHTS = "weights"


class TableEntry(BaseModel):
    """A rule table, the name of its owner, and the file of what is precomputed per rule."""

    model_config = ConfigDict(extra="forbid")
    path: str
    owner: str = ""
    statics: str = ""


class GivenFeatures(BaseModel):
    """Local features that only the caller can give."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["given"] = "given"
    names: list[str]


class GivenGenerator(BaseModel):
    """A generator that only the caller can give, and the features of its rules."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["given"] = "given"
    name: str
    features: list[str]


class ModelFile(BaseModel):
    """The content of ``model.toml``."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[1]
    goal: str | None = None
    copy_labels: list[str] = []
    glue_labels: list[str] = []
    tables: list[TableEntry]
    lms: list[str] = []
    weights: str
    distortion: str = ""
    # In the model's order, which is that of weights as a vector.
    local_features: list[Annotated[BuiltIn | GivenFeatures, Field(discriminator="kind")]] = []
    generators: list[Annotated[BuiltInGenerator | GivenGenerator, Field(discriminator="kind")]] = []
    # Of logarithms; which features are some besides language models'.
    log_base: float | None = Field(None, gt=1, allow_inf_nan=False)
    log_features: list[str] = []
    text: TextProcessing = TextProcessing()
    decoding: DecodingSettings = DecodingSettings()


def some_of(names: Sequence[str]) -> str:
    """The first ten of names, and how many there are if there are more."""
    several = ", ".join(names[:10])
    return several if len(names) <= 10 else f"{several}, ... ({len(names):,})"


def read_config(directory: Path) -> ModelFile:
    """Raises FormatError or OSError."""
    path = directory / "model.toml"
    try:
        return ModelFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from None
    except ValidationError as error:
        raise FormatError(f"{path}: {complaint(error, ModelFile)}") from None


def write_config(directory: Path, config: ModelFile) -> None:
    """Writes ``model.toml`` with every setting."""

    values = config.model_dump(mode="json", exclude={"text", "decoding"})
    # What has nothing to say is left out, but for labels, which are asked for.
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
    write_atomically(directory / "model.toml", "\n".join(lines) + "\n")


def _toml(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a JSON string is a TOML string
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(each)}' for key, each in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value).lower()


def read_manifest(directory: Path) -> dict[str, dict[str, int | str]]:
    """The files of a model directory with size and SHA-256. Raises FormatError or OSError."""
    with _manifest(directory) as manifest:
        return {name: {"size": f["size"], "sha256": f["sha256"]} for name, f in manifest["files"].items()}


def read_made_from(directory: Path) -> dict[str, Any]:
    """Reads from the manifest how a model was made; empty where it does not say. Raises FormatError."""
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
    """Writes sizes and checksums of these files, and how they were made."""
    files = {
        name: {"size": (directory / name).stat().st_size, "sha256": sha256(directory / name)}
        for name in names
    }
    manifest: dict[str, Any] = {"format": FORMAT, "files": files}
    if made_from:
        manifest["made_from"] = made_from
    text = json.dumps(manifest, indent=1, default=json_number)
    write_atomically(directory / MANIFEST, text + "\n")


def all_local_features(
    directory: Path, config: ModelFile, given: Sequence[LocalFeatures]
) -> list[LocalFeatures]:
    """Those of the model directory in their order, where such as are given stand for all that have their
    names, and others that are given."""
    names = {name: features for features in given for name in features.names}
    found: list[LocalFeatures] = []
    missing: list[str] = []
    for own in config.local_features:
        if names.keys() >= set(own.names):
            found += [names[name] for name in own.names]
        elif isinstance(own, GivenFeatures):
            missing += [name for name in own.names if name not in names]
        else:
            found.append(own)
    if missing:
        raise FormatError(
            f"{directory}: needs local features of Python's that have {some_of(missing)}: give them to "
            "hiero.Model.load(..., local_features=[...]), or name them to a command by --load MODULE:NAME"
        )
    # Each once, where it is found first.
    return list({id(features): features for features in [*found, *given]}.values())


def all_generators(directory: Path, config: ModelFile, given: Sequence[RuleGenerator]) -> list[RuleGenerator]:
    """The same of generators, by their names."""
    names = {generator.name: generator for generator in given}
    found: list[RuleGenerator] = []
    missing: list[str] = []
    for own in config.generators:
        if own.name in names:
            found.append(names[own.name])
        elif isinstance(own, GivenGenerator):
            missing.append(own.name)
        else:
            found.append(within(directory, own))
    if missing:
        raise FormatError(
            f"{directory}: needs rule generators of Python's, {', '.join(missing)}: give them to "
            "hiero.Model.load(..., generators=[...]), or name them to a command by --load MODULE:NAME"
        )
    return list({id(generator): generator for generator in [*found, *given]}.values())


def check_output(path: str | os.PathLike[str]) -> None:
    """Raises FileExistsError where a model directory would replace what is no model.

    It may replace a model or an empty directory.
    """
    path = Path(path)
    if path.is_dir() and path.name not in ("", ".."):
        free = (path / "model.toml").is_file() or not any(path.iterdir())
    else:
        free = not os.path.lexists(path)
    if not free:
        raise FileExistsError(errno.EEXIST, "exists and is no model directory", os.fspath(path))
