"""Reads and writes the files of a model directory (``model_directory.py``).

Rule tables and language models are packed when they are written, if they are not yet, else linked or copied;
rule estimates are computed for what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hiero._core import FormatError, LanguageModel, RuleTable
from hiero.base.ownership import link_or_copy
from hiero.base.tables import is_packed
from hiero.base.text import TextProcessing
from hiero.base.weights import read_weights, write_weights
from hiero.decode.model_directory import (
    FORMAT,
    WEIGHTS_FILE,
    GivenFeatures,
    GivenGenerator,
    ModelFile,
    TableEntry,
    all_generators,
    all_local_features,
    read_config,
    read_made_from,
    write_config,
    write_manifest,
)
from hiero.decode.parts import ModelParts
from hiero.features.built_in import BUILT_IN
from hiero.features.distortion import DistortionStatistics
from hiero.features.protocols import LocalFeatures
from hiero.generators.built_in import BUILT_IN as GENERATORS
from hiero.generators.built_in import BuiltIn
from hiero.generators.names import NameRules
from hiero.generators.protocol import RuleGenerator

_DISTORTION = "distortion.json"


def read_model(
    directory: Path, local_features: Sequence[LocalFeatures], generators: Sequence[RuleGenerator]
) -> ModelParts:
    """Reads the parts of a model; given local features and generators replace those with the same names.

    Raises OSError for missing files and FormatError for malformed ones, and for local features or generators
    that only the caller can give.
    """
    config = read_config(directory)
    estimates = [directory / entry.statics for entry in config.tables]
    distortion = DistortionStatistics.load(directory / config.distortion) if config.distortion else None
    return ModelParts(
        [RuleTable.open(str(directory / entry.path)) for entry in config.tables],
        [LanguageModel.load(str(directory / lm)) for lm in config.lms],
        read_weights(directory / config.weights),
        owners=[entry.owner for entry in config.tables],
        estimates=[str(path) if path.is_file() else "" for path in estimates],
        local_features=all_local_features(directory, config, local_features),
        generators=all_generators(directory, config, generators),
        log_base=config.log_base,
        log_features=config.log_features,
        goal=config.goal,
        copy_labels=config.copy_labels,
        glue_labels=config.glue_labels,
        settings=config.decoding,
        text=with_truecasers(config.text, lambda _, file: str(directory / file)),
        distortion=distortion,
        made_from=read_made_from(directory),
    )


def write_model(model: ModelParts, directory: Path) -> None:
    """Fills an existing directory with the files of a model whose owners and goal are named.

    Raises OSError, and FormatError for a dictionary without names.
    """
    tables = _write_tables(model, directory)
    lms = _write_lms(model, directory)
    estimates = _write_estimates(model, directory, tables, lms)
    write_weights(directory / WEIGHTS_FILE, model.weights)
    names = [*tables, *estimates, *lms, WEIGHTS_FILE, "model.toml"]
    if model.distortion is not None:
        model.distortion.save(directory / _DISTORTION)
        names.append(_DISTORTION)
    generators = _write_generators(model, directory)
    names += [str(own.dictionary) for own in generators if isinstance(own, NameRules)]
    text = with_truecasers(model.text, lambda name, _: f"truecaser.{name}")
    for own, kept in ((model.text.source, text.source), (model.text.target, text.target)):
        if own.truecaser:
            link_or_copy(own.truecaser, directory / kept.truecaser)
            names.append(kept.truecaser)
    config = ModelFile(
        format=FORMAT,
        goal=model.goal,
        copy_labels=list(model.copy_labels),
        glue_labels=list(model.glue_labels),
        tables=[
            TableEntry(path=path, owner=owner, statics=estimates_path)
            for path, owner, estimates_path in zip(tables, model.owners, estimates, strict=True)
        ],
        lms=lms,
        weights=WEIGHTS_FILE,
        distortion="" if model.distortion is None else _DISTORTION,
        local_features=[
            own if isinstance(own, BUILT_IN) else GivenFeatures(names=list(own.names))
            for own in model.local_features
        ],
        generators=generators,
        log_base=model.log_base,
        log_features=list(model.log_features),
        text=text,
        decoding=model.settings,
    )
    write_config(directory, config)
    write_manifest(directory, names, model.made_from)


def _write_tables(model: ModelParts, directory: Path) -> list[str]:
    files = [f"rules{i}.hrt" for i in range(len(model.tables))]
    for table, file in zip(model.tables, files, strict=True):
        if Path(table.path).is_file() and is_packed(table.path):
            link_or_copy(table.path, directory / file)
        else:
            table.save(str(directory / file))  # made in memory, or packed for this process only
    return files


def _write_lms(model: ModelParts, directory: Path) -> list[str]:
    files = [f"lm{k}.binary" for k in range(len(model.lms))]
    for lm, file in zip(model.lms, files, strict=True):
        if is_arpa(Path(lm.path)):
            LanguageModel.write_binary(lm.path, str(directory / file))
        else:
            link_or_copy(lm.path, directory / file)
    return files


def _write_estimates(
    model: ModelParts, directory: Path, tables: Sequence[str], lms: Sequence[str]
) -> list[str]:
    """Writes the rule estimates of tables and language models as they were written."""
    core = ModelParts(
        [RuleTable.open(str(directory / file)) for file in tables],
        [LanguageModel.load(str(directory / file)) for file in lms],
        owners=model.owners,
        goal=model.goal,
        copy_labels=model.copy_labels,
        glue_labels=model.glue_labels,
    ).bind()
    files = [f"rules{i}.statics" for i in range(len(tables))]
    for i, file in enumerate(files):
        core.save_statics(i, str(directory / file))
    return files


def _write_generators(model: ModelParts, directory: Path) -> list[BuiltIn | GivenGenerator]:
    """As ``model.toml`` has them, with the dictionaries as they are copied. Raises FormatError for a bad
    one."""
    kept: list[BuiltIn | GivenGenerator] = []
    for own in model.generators:
        if isinstance(own, NameRules):
            if not own.phrases:
                raise FormatError(f"{own.dictionary}: no names")
            copied = own.at(Path(f"names{len(kept)}"))
            link_or_copy(own.dictionary, directory / copied.dictionary)
            kept.append(copied)
        elif isinstance(own, GENERATORS):
            kept.append(own)
        else:
            kept.append(GivenGenerator(name=own.name, features=list(own.features)))
    return kept


def with_truecasers(text: TextProcessing, change: Callable[[str, str], str]) -> TextProcessing:
    """The same with other files of truecasers: by the side's name and the file."""
    for name, side in (("source", text.source), ("target", text.target)):
        if side.truecaser:
            text = replace(text, **{name: replace(side, truecaser=change(name, side.truecaser))})
    return text


def is_arpa(path: Path) -> bool:
    """Whether a language model is text: what is no binary of KenLM's."""
    with path.open("rb") as file:
        return not file.read(64).startswith(b"mmap lm http://kheafield.com/code")
