"""Reading and writing of model directories.

Rule tables and language models that are not packed yet are packed when a model is written; packed files are
linked or copied. Rule estimates are computed for the files that were written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hiero._core import FormatError, LanguageModel, RuleCounts, RuleTable
from hiero.base.ownership import link_or_copy
from hiero.base.tables import is_packed
from hiero.base.weights import read_weights, write_weights
from hiero.decode.learning import Learning
from hiero.decode.model_directory import (
    FORMAT,
    WEIGHTS_FILE,
    ExternalFeatures,
    ExternalGenerator,
    ModelFile,
    TableEntry,
    combine_generators,
    combine_local_features,
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
from hiero.text import TextProcessing

_DISTORTION = "distortion.json"
_LEARNING = {"alignment": "alignment.model", "words": "words.counts"}


def read_model(
    directory: Path, local_features: Sequence[LocalFeatures], generators: Sequence[RuleGenerator]
) -> ModelParts:
    """Reads the parts of a model. Local features and generators replace those with the same names.

    Raises OSError for missing files, FormatError for malformed ones and for external features or generators
    that are not passed.
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
        local_features=combine_local_features(directory, config, local_features),
        generators=combine_generators(directory, config, generators),
        log_base=config.log_base,
        log_features=config.log_features,
        goal=config.goal,
        copy_labels=config.copy_labels,
        glue_labels=config.glue_labels,
        settings=config.decoding,
        text=_rename_truecasers(config.text, lambda _, file: str(directory / file)),
        distortion=distortion,
        learning=config.learning and config.learning.renamed(lambda _, file: str(directory / file)),
        made_from=read_made_from(directory),
    )


def write_model(model: ModelParts, directory: Path) -> None:
    """Writes the files of a model into an existing directory. Its owners and its goal must have names.

    Raises OSError, and FormatError for a dictionary without names.
    """
    tables = _write_tables(model, directory)
    lms = _write_lms(model, directory)
    estimates = _write_estimates(model, directory, tables, lms)
    write_weights(directory / WEIGHTS_FILE, model.weights)
    if model.distortion is not None:
        model.distortion.save(directory / _DISTORTION)
    learning = _write_learning(model, directory)
    generators = _write_generators(model, directory)
    text = _write_truecasers(model, directory)
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
        learning=learning,
        local_features=[
            features if isinstance(features, BUILT_IN) else ExternalFeatures(names=list(features.names))
            for features in model.local_features
        ],
        generators=generators,
        log_base=model.log_base,
        log_features=list(model.log_features),
        text=text,
        decoding=model.settings,
    )
    write_config(directory, config)
    write_manifest(directory, _file_names(config), model.made_from)


def _file_names(config: ModelFile) -> list[str]:
    """Returns the names of the files of a model directory, in the order of its manifest."""
    names = [entry.path for entry in config.tables] + [entry.statics for entry in config.tables]
    names += [*config.lms, config.weights, "model.toml"]
    names += [config.distortion] if config.distortion else []
    names += [config.learning.alignment, config.learning.words] if config.learning else []
    names += [str(entry.dictionary) for entry in config.generators if isinstance(entry, NameRules)]
    sides = (config.text.source, config.text.target)
    return names + [side.truecaser for side in sides if side.truecaser]


def _write_tables(model: ModelParts, directory: Path) -> list[str]:
    files = [f"rules{i}.hrt" for i in range(len(model.tables))]
    for table, file in zip(model.tables, files, strict=True):
        if Path(table.path).is_file() and is_packed(table.path):
            link_or_copy(table.path, directory / file)
        else:
            table.save(str(directory / file))  # made in memory, or packed only for this process
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
    """Writes the rule estimates for the rule tables and language models in the directory."""
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
        core.save_estimates(i, str(directory / file))
    return files


def _write_learning(model: ModelParts, directory: Path) -> Learning | None:
    """Writes what learning needs. Returns the entry with the names of the files in the directory."""
    if model.learning is None:
        return None
    learning = model.learning.renamed(lambda name, _: _LEARNING[name])
    link_or_copy(model.learning.alignment, directory / learning.alignment)
    RuleCounts(model.learning.words).save_words(str(directory / learning.words))
    return learning


def _write_generators(model: ModelParts, directory: Path) -> list[BuiltIn | ExternalGenerator]:
    """Copies the dictionaries of generators. Returns the entries of the generators in ``model.toml``.

    Raises FormatError for a dictionary without names.
    """
    entries: list[BuiltIn | ExternalGenerator] = []
    for generator in model.generators:
        if isinstance(generator, NameRules):
            if not generator.phrases:
                raise FormatError(f"{generator.dictionary}: no names")
            entry = generator.with_dictionary(Path(f"names{len(entries)}"))
            link_or_copy(generator.dictionary, directory / entry.dictionary)
            entries.append(entry)
        elif isinstance(generator, GENERATORS):
            entries.append(generator)
        else:
            entries.append(ExternalGenerator(name=generator.name, features=list(generator.features)))
    return entries


def _write_truecasers(model: ModelParts, directory: Path) -> TextProcessing:
    """Copies the truecasers. Returns the text processing with their names in the directory."""
    text = _rename_truecasers(model.text, lambda name, _: f"truecaser.{name}")
    for side, copied in ((model.text.source, text.source), (model.text.target, text.target)):
        if side.truecaser:
            link_or_copy(side.truecaser, directory / copied.truecaser)
    return text


def _rename_truecasers(text: TextProcessing, rename: Callable[[str, str], str]) -> TextProcessing:
    """Returns the text processing with other truecaser files: ``rename(side, file)``."""
    for name, side in (("source", text.source), ("target", text.target)):
        if side.truecaser:
            text = replace(text, **{name: replace(side, truecaser=rename(name, side.truecaser))})
    return text


def is_arpa(path: Path) -> bool:
    """Returns whether a language model is an ARPA file, which means that it is not a KenLM binary."""
    with path.open("rb") as file:
        return not file.read(64).startswith(b"mmap lm http://kheafield.com/code")
