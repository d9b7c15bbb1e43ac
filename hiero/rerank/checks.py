"""Checks before a second stage is trained: of settings, and whether files are those that the model was
trained on, by the checksums in its manifest.

Jackknifing trains models of parts of the bitext: of any other text they would say little of the model, and
nobody would see it.
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
    " the folder sets of its output)"
)


def check_second_stage(
    model: Model,
    inputs: TrainInputs,
    *,
    decoding: Mapping[str, Any] | None = None,
    memory: int = DEFAULT_MEMORY,
) -> None:
    """Raises ValueError for a model that does not say how it was trained, for a bitext, a dictionary or
    monolingual text that it was not trained on, or that is missing, and for settings that cannot be had;
    OSError."""
    inputs.check()
    settings = settings_of(model)
    check_options(settings.lm_order, memory, settings.lm_binary, settings.lm_quantize)
    Decoder(model, **(decoding or {}))
    _check_trained_on(model, inputs, settings.lms)


def _check_trained_on(model: Model, inputs: TrainInputs, lms: str) -> None:
    known: Mapping[str, str] = model.made_from.get("inputs", {})
    for label, path in _bitexts(inputs, known):
        _check_file(label, path, known)
    # Of a language model of all text, texts after the target side.
    texts = [name for name in known if name.startswith("lm0 text ")][1:] if lms == "together" else []
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
        _check_file(name, path, known)


def _bitexts(inputs: TrainInputs, known: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The files of bitext and dictionary by their names in the manifest."""
    yield from zip(_SIDES, map(Path, (inputs.source, inputs.target)), strict=True)
    had = f"dictionary {_SIDES[0]}" in known
    if had and inputs.dictionary is None:
        raise ValueError("the model was trained with a dictionary: give it too (--dictionary)")
    if inputs.dictionary is not None:
        if not had:
            raise ValueError("the model was trained without a dictionary (--dictionary): leave it out")
        for side, path in zip(_SIDES, inputs.dictionary, strict=True):
            yield f"dictionary {side}", Path(path)


def _check_file(label: str, path: Path, known: Mapping[str, str]) -> None:
    found = sha256(path)
    if known.get(label) == found:
        return
    what = label if label in _SIDES or label.startswith("dictionary") else "monolingual text"
    expected = f"SHA-256 {known[label][:16]}..., not {found[:16]}..." if label in known else "unknown"
    other = next((name for name, checksum in known.items() if checksum == found), None)
    is_other = f", but its {other}" if other in _SIDES else ""
    raise ValueError(
        f"{path}: not the {what} that the model was trained on{is_other} ({expected}); {_ADVICE}"
    )


def _files(count: int) -> str:
    return f"{count or 'no'} file{'' if count == 1 else 's'}"
