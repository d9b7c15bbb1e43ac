"""Tokens of hypotheses: from text, or as arrays from forests."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import sacrebleu

from hiero._core import Forest, KBestArrays

IntArray = npt.NDArray[np.int32]
# The tokenisers of sacrebleu that download nothing.
Tokenizer = Literal["none", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab"]


@dataclass(frozen=True)
class Text:
    """The conversion of text to tokens that metrics count: lowercasing, if asked for, and one of sacrebleu's
    tokenisers. Raises ValueError for an unknown tokeniser.
    """

    tokenizer: Tokenizer = "none"
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.tokenizer not in get_args(Tokenizer):
            expected = ", ".join(get_args(Tokenizer))
            raise ValueError(f"unknown tokeniser {self.tokenizer!r}: expected one of {expected}")

    def tokens(self, lines: Iterable[str]) -> list[list[str]]:
        """Splits each line into tokens. Raises ValueError for a tokeniser whose package is missing."""
        tokenize = _tokenizer(self.tokenizer)
        cased = (line.lower() if self.lowercase else line for line in lines)
        return [tokenize(line.rstrip()).split() for line in cased]

    @property
    def signature(self) -> str:
        """The part of a metric's signature about text."""
        version = "" if self.tokenizer == "none" else f"|sacrebleu:{sacrebleu.__version__}"
        return f"case:{'lc' if self.lowercase else 'mixed'}|tok:{self.tokenizer}{version}"


@lru_cache
def _tokenizer(name: str) -> Any:
    try:
        return sacrebleu.BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:  # a package is missing
        raise ValueError(f"tokeniser {name}: {error}") from None


@dataclass(frozen=True)
class Hypotheses:
    """Tokens of many hypotheses. The tokens of hypothesis i are ``words[offsets[i] : offsets[i + 1]]``, which
    are indices into ``vocabulary``."""

    vocabulary: Sequence[str]
    words: IntArray
    offsets: IntArray

    @classmethod
    def from_tokens(cls, lines: Iterable[Sequence[str]]) -> Hypotheses:
        """Makes hypotheses of the tokens of each."""
        numbers: dict[str, int] = {}
        words: list[int] = []
        offsets = [0]
        for line in lines:
            words += [numbers.setdefault(token, len(numbers)) for token in line]
            offsets.append(len(words))
        return cls(list(numbers), np.array(words, dtype=np.int32), np.array(offsets, dtype=np.int32))

    @classmethod
    def from_kbest(cls, forest: Forest, kbest: KBestArrays) -> Hypotheses:
        """Makes hypotheses of a k-best list of a forest."""
        return cls(forest.words, kbest.words, kbest.word_offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def split(self) -> Hypotheses:
        """Splits tokens at white space of any kind, as text is split. Models separate tokens by ASCII white
        space alone, so that a token may contain a no-break space."""
        if " ".join(self.vocabulary).split() == list(self.vocabulary):
            return self
        return Hypotheses.from_tokens(text.split() for text in self.texts())

    def first(self) -> str:
        """Joins the tokens of the first hypothesis by spaces; "" if there is none."""
        return " ".join(self.vocabulary[word] for word in self.words[: self.offsets[1]]) if len(self) else ""

    def texts(self) -> list[str]:
        """Joins the tokens of each hypothesis by spaces."""
        tokens = [self.vocabulary[word] for word in self.words.tolist()]
        bounds = self.offsets.tolist()
        return [" ".join(tokens[a:b]) for a, b in itertools.pairwise(bounds)]
