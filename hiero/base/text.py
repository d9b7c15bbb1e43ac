"""Raw text to tokens and back, for one side of a model: what training applied, decoding applies again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer


Scheme = Literal["none", "moses"]
SCHEMES: tuple[Scheme, ...] = ("none", "moses")


@dataclass(frozen=True)
class TextSide:
    """How the text of one language becomes tokens.

    ``scheme`` "none" splits at ASCII white space; "moses" is the Moses tokenizer for ``language`` without
    its escapes. ``lowercase`` comes after that and cannot be undone.

    >>> side = TextSide("moses", "en", lowercase=True)
    >>> side.tokens("It's here.")
    ['it', "'s", 'here', '.']
    >>> side.text(["it", "'s", "here", "."])
    "it's here."
    """

    scheme: Scheme = "none"
    language: str = "und"
    lowercase: bool = False

    def tokens(self, text: str) -> list[str]:
        """The tokens of a line of raw text."""
        if self.scheme == "moses":
            text = self._tokenizer.tokenize(text, return_str=True, escape=False)
        return split(text.lower() if self.lowercase else text)

    def text(self, tokens: Sequence[str]) -> str:
        """Tokens as a line of text."""
        if self.scheme == "moses":
            return str(self._detokenizer.detokenize(tokens, return_str=True, unescape=False))
        return " ".join(tokens)

    @cached_property
    def _tokenizer(self) -> MosesTokenizer:
        from sacremoses import MosesTokenizer  # here, as it takes long to start

        return MosesTokenizer(lang=self.language)

    @cached_property
    def _detokenizer(self) -> MosesDetokenizer:
        from sacremoses import MosesDetokenizer

        return MosesDetokenizer(lang=self.language)


@dataclass(frozen=True)
class TextProcessing:
    """Both sides of a model."""

    source: TextSide = field(default_factory=TextSide)
    target: TextSide = field(default_factory=TextSide)


def split(text: str) -> list[str]:
    """Tokens of a line: split at ASCII white space only, as the rule tables are."""
    return [token.decode() for token in text.encode().split()]


def parse_side(text: str, lowercase: bool) -> TextSide:
    """A side as the command line names it: ``en:moses``. Raises ValueError."""
    language, colon, name = text.rpartition(":")
    scheme = next((s for s in SCHEMES if s == name), None)
    if not colon or not language or scheme is None:
        raise ValueError(f"{text!r}: expected a language and one of {', '.join(SCHEMES)}, such as en:moses")
    return TextSide(scheme, language, lowercase)
