"""Inputs and settings of training."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from pydantic import Field

from hiero.base.lines import PathLike
from hiero.base.text import TextProcessing
from hiero.train.alignment import AlignSettings
from hiero.train.corpus import CorpusSettings
from hiero.train.lm import LmSettings, check_given_lm, check_options
from hiero.train.rules import ExtractSettings, ScoreSettings

DEFAULT_MEMORY = 4 << 30


@dataclass(frozen=True)
class TrainInputs:
    """The files that a model is trained on; plain, gzip or xz."""

    source: PathLike
    target: PathLike
    dictionary: tuple[PathLike, PathLike] | None = None
    mono: Sequence[PathLike] = ()
    alignment: PathLike | None = None
    lms: Sequence[PathLike] = ()

    def bitexts(self) -> list[tuple[PathLike, PathLike]]:
        """The bitext and, after it, the dictionary."""
        return [(self.source, self.target), *([self.dictionary] if self.dictionary else [])]

    def check(self) -> None:
        """Raises OSError for a file that cannot be read, or not twice, as steps do, and FormatError for a
        language model that is none."""
        alignment = [] if self.alignment is None else [self.alignment]
        for path in [*chain.from_iterable(self.bitexts()), *self.mono, *alignment, *self.lms]:
            kind = os.stat(path).st_mode
            if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
                raise OSError(errno.ESPIPE, "not a regular file, and is to be read twice", os.fspath(path))
            with open(path, "rb"):
                pass
        for path in self.lms:
            check_given_lm(path)


def _lm(name: str) -> Any:
    """A setting of language models as one of training."""
    return LmSettings.model_fields[name]


class TrainSettings(CorpusSettings, AlignSettings):
    """Every setting of training with its default."""

    text: TextProcessing = TextProcessing()
    truecase: bool = Field(
        False, description="lowercase words at the beginning of a sentence that have capitals only there"
    )
    lm_order: int = _lm("order")
    lm_binary: Literal["probing", "trie"] = _lm("binary")
    lm_quantize: int | None = _lm("quantize")
    lms: Literal["separate", "together", "given"] = Field(
        "separate",
        description="language models to make: one of the bitext's target side and one of monolingual text"
        " (separate), one of both (together), or none besides existing ones (given)",
    )
    extract: ExtractSettings = ExtractSettings()
    score: ScoreSettings = ScoreSettings()

    def check(self, inputs: TrainInputs, memory: int = DEFAULT_MEMORY) -> None:
        """Raises ValueError for settings that contradict each other, what is trained on, or the memory."""
        if self.truecase and (self.text.source.lowercase or self.text.target.lowercase):
            raise ValueError("text is lowercased or truecased, not both")
        if self.lms == "given" and not inputs.lms:
            raise ValueError("no language models are given")
        check_options(self.lm_order, memory, self.lm_binary, self.lm_quantize)
