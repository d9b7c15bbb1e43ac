"""Checks before a second stage is trained: settings must be possible, and files must be those that the model
was trained on, by the checksums in its manifest.

Jackknifing trains models of parts of the bitext. Models of another text would differ from the model in ways
that nobody sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hiero.base.files import sha256
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.rerank.jackknife import settings_of
from hiero.train import TrainInputs
from hiero.train.lm import check_options
from hiero.train.settings import DEFAULT_MEMORY

_SIDES = ("source", "target")
_ADVICE = (
    "give the file that hiero train had, as it was then, compressed or not (hiero run trains on what is in"
    " the folder sets of its output, hiero train --without on train.source and train.target in its folder)"
)


def check_second_stage(
    model: Model,
    inputs: TrainInputs,
    *,
    decoding: Mapping[str, Any] | None = None,
    memory: int = DEFAULT_MEMORY,
) -> None:
    """Checks a model and the files to train its second stage on.

    Raises ValueError for a model whose manifest has no training settings, for a bitext, a dictionary or
    monolingual text that it was not trained on or that is missing, and for impossible settings; OSError.
    """
    inputs.check()
    settings = settings_of(model)
    check_options(settings.lm_order, memory, settings.lm_binary, settings.lm_quantize)
    Decoder(model, **(decoding or {}))
    _check_trained_on(model, inputs, settings.lms)


def _check_trained_on(model: Model, inputs: TrainInputs, lms: str) -> None:
    checksums: Mapping[str, str] = model.made_from.get("inputs", {})
    for label, path in _bitexts(inputs, checksums):
        _check_file(label, path, checksums)
    # One language model of all text was trained on the target side, then on these texts.
    texts = [name for name in checksums if name.startswith("lm0 text ")][1:] if lms == "together" else []
    mono = list(map(Path, inputs.mono))
    if mono and lms != "together":
        raise ValueError(
            "monolingual text (--mono) is for models of hiero train --lms together: of this one the language"
            " models that are not of the bitext alone are taken as they are; leave it out"
        )
    if len(mono) != len(texts):
        raise ValueError(
            f"{_files(len(mono))} of monolingual text (--mono) where the model was trained on"
            f" {_files(len(texts))}: give all that hiero train had, in the same order"
        )
    for name, path in zip(texts, mono, strict=True):
        _check_file(name, path, checksums)


def _bitexts(inputs: TrainInputs, checksums: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yields the files of bitext and dictionary, with their names in the manifest."""
    yield from zip(_SIDES, map(Path, (inputs.source, inputs.target)), strict=True)
    had_dictionary = f"dictionary {_SIDES[0]}" in checksums
    if had_dictionary and inputs.dictionary is None:
        raise ValueError("the model was trained with a dictionary: give it too (--dictionary)")
    if inputs.dictionary is not None:
        if not had_dictionary:
            raise ValueError("the model was trained without a dictionary (--dictionary): leave it out")
        for side, path in zip(_SIDES, inputs.dictionary, strict=True):
            yield f"dictionary {side}", Path(path)


def _check_file(label: str, path: Path, checksums: Mapping[str, str]) -> None:
    """Raises ValueError for a file without the checksum that the manifest has under this name."""
    checksum = sha256(path)
    if checksums.get(label) == checksum:
        return
    what = label if label in _SIDES or label.startswith("dictionary") else "monolingual text"
    expected = (
        f"SHA-256 {checksums[label][:16]}..., not {checksum[:16]}..." if label in checksums else "unknown"
    )
    other = next((name for name, value in checksums.items() if value == checksum), None)
    is_other = f", but its {other}" if other in _SIDES else ""
    raise ValueError(
        f"{path}: not the {what} that the model was trained on{is_other} ({expected}); {_ADVICE}"
    )


def _files(count: int) -> str:
    return f"{count or 'no'} file{'' if count == 1 else 's'}"
