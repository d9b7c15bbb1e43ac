"""Inputs and settings of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from pydantic import Field

from hiero.base.lines import PathLike, check_read_twice
from hiero.base.same_files import check_different, same_files
from hiero.text import TextProcessing
from hiero.train.alignment import AlignSettings
from hiero.train.corpus import CorpusSettings
from hiero.train.lm import LmSettings, check_lm, check_options
from hiero.train.problems import ProblemSettings
from hiero.train.rules import ExtractSettings, ScoreSettings
from hiero.train.sil_thot import check_installed

DEFAULT_MEMORY = 4 << 30


@dataclass(frozen=True)
class TrainInputs:
    """The input files of training: plain, gzip or xz."""

    source: PathLike
    target: PathLike
    # The source and the target side of a bilingual dictionary.
    dictionary: tuple[PathLike, PathLike] | None = None
    # Monolingual texts of the target language.
    mono: Sequence[PathLike] = ()
    alignment: PathLike | None = None
    # Existing language models, ARPA files or KenLM binaries.
    lms: Sequence[PathLike] = ()
    # Texts of the source language, such as test sets, whose sentences are left out of the bitext.
    without: Sequence[PathLike] = ()
    # Further bitexts, such as corrections of translations, as if their lines followed those of the bitext.
    more: Sequence[tuple[PathLike, PathLike]] = ()

    def bitexts(self) -> list[tuple[PathLike, PathLike]]:
        """Returns the bitext, followed by the dictionary if there is one."""
        return [(self.source, self.target), *([self.dictionary] if self.dictionary else [])]

    def sides(self) -> dict[str, PathLike]:
        """Returns the files of the bitext and of the dictionary by name."""
        names = ("source", "target", "dictionary source", "dictionary target")
        return dict(zip(names, chain.from_iterable(self.bitexts()), strict=False))

    def check(self) -> None:
        """Raises OSError for a file that cannot be read, or only once, like a pipe.

        Raises FormatError for a file in ``lms`` that is not a language model, and for sides of the bitext
        that have the same content.
        """
        alignment = [] if self.alignment is None else [self.alignment]
        texts = [*chain.from_iterable([*self.bitexts(), *self.more]), *self.mono]
        for path in [*texts, *alignment, *self.lms, *self.without]:
            check_read_twice(path)
        for path in self.lms:
            check_lm(path)
        check_different([self.source, self.target])

    def repeated(self) -> Iterator[str]:
        """Yields a message for each text, language model or set that has the content of another. Raises
        OSError."""
        yield from same_files([*chain.from_iterable([*self.bitexts(), *self.more]), *self.mono])
        yield from same_files(self.lms)
        yield from same_files(self.without)


def _lm_setting(name: str) -> Any:
    """Returns the field of ``LmSettings`` with this name."""
    return LmSettings.model_fields[name]


class TrainSettings(CorpusSettings, AlignSettings, ProblemSettings):
    """Settings of all training steps."""

    text: TextProcessing = TextProcessing()
    truecase: bool = Field(
        False, description="lowercase words at the beginning of a sentence that have capitals only there"
    )
    lm_order: int = _lm_setting("order")
    lm_binary: Literal["probing", "trie"] = _lm_setting("binary")
    lm_quantize: int | None = _lm_setting("quantize")
    lms: Literal["separate", "together", "given"] = Field(
        "separate",
        description="language models to make: one of the bitext's target side and one of monolingual text"
        " (separate), one of both (together), or none besides existing ones (given)",
    )
    extract: ExtractSettings = ExtractSettings()
    score: ScoreSettings = ScoreSettings()

    def check(self, inputs: TrainInputs, memory: int = DEFAULT_MEMORY) -> None:
        """Raises ValueError for settings that contradict each other, the inputs, or the memory limit; Error
        for an aligner that is not installed."""
        if self.truecase and (self.text.source.lowercase or self.text.target.lowercase):
            raise ValueError("text is lowercased or truecased, not both")
        if self.lms == "given" and not inputs.lms:
            raise ValueError("no language models are given")
        check_options(self.lm_order, memory, self.lm_binary, self.lm_quantize)
        if inputs.alignment is None and self.aligner != "hiero":
            check_installed()
