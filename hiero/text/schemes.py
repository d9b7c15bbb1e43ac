"""Schemes: ways in which text of a language becomes words, and where spaces stand between words in text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from hiero.base.text import split
from hiero.text.segmenters import Janome, Jieba, Segmenter

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer

Scheme = Literal["none", "moses", "jieba", "janome"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
# Languages whose abbreviations the Moses tokenizer has, except those written without spaces.
MOSES_LANGUAGES = (
    "as bn ca cs de el en es et fi fr ga gu hi hu is it kn ko lt lv ml mni mr nl or pa pl pt ro ru sk sl sv "
    "ta tdt te"
)
# The language of each segmenter of words.
SEGMENTERS: dict[str, str] = {"jieba": "zh", "janome": "ja"}
# Signs beside which a language without spaces has none between words of other scripts.
_NO_SPACE_BEFORE = frozenset(",.;:!?%)]}…")
_NO_SPACE_AFTER = frozenset("([{")
_QUOTES = frozenset("'\"")
# Korean letters are as wide as Chinese ones, but spaces separate the words.
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


class Words(Protocol):
    """A scheme for one language."""

    def split(self, text: str) -> list[str]:
        """Returns the words of a text. Raises Error if a package is missing."""

    def join(self, words: Sequence[str]) -> str:
        """Returns words, none of which has white space, as text."""


class Tokens:
    """The scheme "none": text is tokens with white space between them."""

    def split(self, text: str) -> list[str]:
        return split(text)

    def join(self, words: Sequence[str]) -> str:
        return " ".join(words)


class Moses:
    """The Moses tokenizer, without escapes."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._tokenizer: MosesTokenizer | None = None
        self._detokenizer: MosesDetokenizer | None = None

    def split(self, text: str) -> list[str]:
        if self._tokenizer is None:
            from sacremoses import MosesTokenizer  # imported late, as it is slow

            self._tokenizer = MosesTokenizer(lang=self._language)
        return split(self._tokenizer.tokenize(text, return_str=True, escape=False))

    def join(self, words: Sequence[str]) -> str:
        if self._detokenizer is None:
            from sacremoses import MosesDetokenizer

            self._detokenizer = MosesDetokenizer(lang=self._language)
        return str(self._detokenizer.detokenize(words, return_str=True, unescape=False))


def with_quotes_apart(text: str) -> str:
    """Returns text with a space between a letter and an apostrophe at the beginning or at the end. Within a
    text the tokenizer takes apostrophes that are quotes off their words by the characters on both sides."""
    if text.startswith("'") and text[1:2].isalpha():
        text = f"' {text[1:]}"
    return f"{text[:-1]} '" if text.endswith("'") and text[-2:-1].isalpha() else text


class Segmented:
    """Words of a language without spaces, found by a segmenter."""

    def __init__(self, segmenter: Segmenter) -> None:
        self.segmenter = segmenter

    def split(self, text: str) -> list[str]:
        return self.segmenter.words(text)

    def join(self, words: Sequence[str]) -> str:
        return join_words(words)


@lru_cache(maxsize=64)
def words_of(scheme: Scheme, language: str) -> Words:
    """Returns the scheme for a language. Words, dictionaries and rules are loaded when they are first
    used."""
    if scheme == "moses":
        return Moses(language)
    if scheme == "none":
        return Tokens()
    return Segmented(Jieba() if scheme == "jieba" else Janome())


def check_language(scheme: Scheme, language: str) -> None:
    """Raises ValueError for a language that the scheme does not support."""
    supported = SEGMENTERS.get(scheme)
    if supported is not None and language != supported:
        raise ValueError(f"{scheme} supports only {supported}: {language}:{scheme}")
    if scheme == "moses" and language not in [*MOSES_LANGUAGES.split(), "und"]:
        segmenter = next((name for name, other in SEGMENTERS.items() if other == language), None)
        alternative = (
            f" use {language}:{segmenter}" if segmenter else " und:moses splits by the rules of English"
        )
        raise ValueError(f"moses does not support {language}, only {MOSES_LANGUAGES};{alternative}")


def join_words(words: Sequence[str]) -> str:
    """Joins words of a language without spaces. Words and signs of other scripts have the spaces of English
    between them."""
    text = ""
    quotes: set[str] = set()
    for word in words:
        if text and _need_space(text, word[0], quotes):
            text += " "
        text += word
        if not any(c.isalnum() for c in word):
            for quote in _QUOTES.intersection(word):
                quotes ^= {quote} if word.count(quote) % 2 else set()
    return text


def join_by_first_rules(words: Sequence[str]) -> str:
    """Joins words of a language without spaces as models of the first rules of text do: signs stand without
    spaces, and between words of other scripts there are some."""
    text = ""
    for word in words:
        if text and _first_rules_need_space(text[-1], word[0]):
            text += " "
        text += word
    return text


def _first_rules_need_space(left: str, right: str) -> bool:
    if any(unicodedata.east_asian_width(one) in "WF" for one in (left, right)) or not right.isalnum():
        return False
    return left.isalnum() or (left in ",.;:!?)" and right.isalpha())


def _need_space(text: str, right: str, quotes: Set[str]) -> bool:
    """Returns whether a space separates a text from a word that begins with ``right``. ``quotes`` are those
    that were opened in the text and not closed."""
    left = text[-1]
    if is_wide(left) or is_wide(right) or right in _NO_SPACE_BEFORE or left in _NO_SPACE_AFTER:
        return False
    if text.endswith("……"):  # two of them are a sign of Chinese
        return False
    if right in _QUOTES or left in _QUOTES:
        return (right if right in _QUOTES else left) not in quotes
    # Numbers have no spaces, even if they are several tokens.
    return not (left in ".,:" and right.isdecimal() and text[-2:-1].isdecimal())


def is_wide(character: str) -> bool:
    """Returns whether a character is of a script without spaces between words, such as Chinese, or one of its
    signs."""
    return unicodedata.east_asian_width(character) in "WF" and not _HANGUL.match(character)
