"""Tokenisation and detokenisation of each side of a model. Decoding applies what training applied."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Literal, get_args

from hiero._core import Error, FormatError

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer


Scheme = Literal["none", "moses", "jieba", "janome"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
# Languages whose abbreviations the Moses tokenizer has, except those written without spaces.
_MOSES = (
    "as bn ca cs de el en es et fi fr ga gu hi hu is it kn ko lt lv ml mni mr nl or pa pl pt ro ru sk sl sv "
    "ta tdt te"
)
_SEGMENTERS = {"jieba": "zh", "janome": "ja"}


def one_line(error: BaseException) -> str:
    """Describes an exception in one line. A system error is described by its file and message."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


@dataclass(frozen=True)
class TextSide:
    """Conversion between text and tokens of one language.

    ``scheme`` selects the tokenizer:

    - "none" splits at ASCII white space;
    - "moses" is the Moses tokenizer for ``language``, without escapes. For other languages use "und", which
      applies the rules of English;
    - "jieba" segments Chinese and "janome" Japanese. They need the packages of the same names.

    After tokenisation text may be lowercased (``lowercase``), which cannot be undone, or truecased.
    ``truecaser`` is the path of a file in Moses' format. It tells which words lose their capital at the
    beginning of a sentence; ``text`` restores it.
    Raises ValueError for a language that the scheme does not support, and for both kinds of casing at once.

    >>> side = TextSide("moses", "en", lowercase=True)
    >>> side.tokens("It's here.")
    ['it', "'s", 'here', '.']
    >>> side.text(["it", "'s", "here", "."])
    "it's here."
    """

    scheme: Scheme = "none"
    language: str = "und"
    lowercase: bool = False
    truecaser: str = ""

    def __post_init__(self) -> None:
        if self.lowercase and self.truecaser:
            raise ValueError("text is lowercased or truecased, not both")
        supported = _SEGMENTERS.get(self.scheme)
        if supported is not None and self.language != supported:
            raise ValueError(f"{self.scheme} supports only {supported}: {self.language}:{self.scheme}")
        if self.scheme == "moses" and self.language not in [*_MOSES.split(), "und"]:
            raise ValueError(
                f"moses does not support {self.language}, only {_MOSES};{_alternative(self.language)}"
            )

    @property
    def keeps_tokens(self) -> bool:
        """Whether tokens separated by spaces are unchanged by tokenisation and detokenisation."""
        return self.scheme == "none" and not self.lowercase and not self.truecaser

    def tokens(self, text: str) -> list[str]:
        """Returns the tokens of a line of raw text.

        Raises Error if a package is missing, FormatError or OSError for a truecaser that cannot be read.
        """
        tokens = self.words(text)
        if self.lowercase:
            return split(" ".join(tokens).lower())
        return self._truecased(tokens) if self.truecaser else tokens

    def words(self, text: str) -> list[str]:
        """Returns the tokens of a line before lowercasing or truecasing."""
        if self.scheme == "none":
            return split(text)
        if self.scheme == "moses":
            return split(self._tokenizer.tokenize(text, return_str=True, escape=False))
        return split(" ".join(self._segment(text)))

    def text(self, tokens: Sequence[str]) -> str:
        """Returns tokens as a line of text."""
        if self.truecaser and tokens:
            tokens = self._detruecase(" ".join(tokens))
        if self.scheme == "none":
            return " ".join(tokens)
        return self._join(tokens)

    @cached_property
    def _tokenizer(self) -> MosesTokenizer:
        from sacremoses import MosesTokenizer  # imported late, as it is slow

        return MosesTokenizer(lang=self.language)

    @cached_property
    def _segment(self) -> Callable[[str], Iterable[str]]:
        return _jieba() if self.scheme == "jieba" else _janome()

    @cached_property
    def _join(self) -> Callable[[Sequence[str]], str]:
        if self.scheme != "moses":
            return join_words
        from sacremoses import MosesDetokenizer

        detokenizer = MosesDetokenizer(lang=self.language)
        return lambda tokens: str(detokenizer.detokenize(tokens, return_str=True, unescape=False))

    def _truecased(self, tokens: Sequence[str]) -> list[str]:
        """Truecases each sentence of a line by itself: Moses' algorithm is quadratic in the line length."""
        return [
            token for sentence in _sentences(tokens) for token in split(self._truecase(" ".join(sentence)))
        ]

    @cached_property
    def _truecase(self) -> Callable[..., str]:
        from sacremoses import MosesTruecaser

        try:
            model = MosesTruecaser(load_from=self.truecaser)
        except ValueError as error:
            raise FormatError(f"{self.truecaser}: {error}") from None
        return partial(model.truecase, return_str=True, use_known=True)

    @cached_property
    def _detruecase(self) -> Callable[[str], list[str]]:
        from sacremoses import MosesDetruecaser

        return partial(MosesDetruecaser().detruecase)


@dataclass(frozen=True)
class TextProcessing:
    """The conversion between text and tokens for both sides of a model."""

    source: TextSide = field(default_factory=TextSide)
    target: TextSide = field(default_factory=TextSide)


def split(text: str) -> list[str]:
    """Returns the tokens of a line, split at ASCII white space only, as in rule tables."""
    return [token.decode() for token in text.encode().split()]


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """Returns word links as a line such as ``0-0 1-2``: source and target positions, counted from 0."""
    return " ".join(f"{s}-{t}" for s, t in links)


def parse_side(text: str, lowercase: bool = False, truecaser: str | os.PathLike[str] = "") -> TextSide:
    """Makes a side from LANGUAGE:SCHEME, such as ``en:moses``. Raises ValueError."""
    language, colon, name = text.rpartition(":")
    scheme = next((s for s in SCHEMES if s == name), None)
    if not colon or not language or scheme is None:
        raise ValueError(
            f"{text!r}: expected LANGUAGE:SCHEME, with a scheme of {', '.join(SCHEMES)}, such as en:moses, "
            "zh:jieba, ja:janome"
        )
    return TextSide(scheme, language, lowercase, os.fspath(truecaser))


_MARKS = ".,!?;:。！？，؛،۔؟।"
# A word that ends in punctuation. Most lines that are not tokenised have one.
_PUNCTUATED = re.compile(rf"[^\s{_MARKS}]{{2}}[{_MARKS}](?:\s|$)")


def looks_untokenised(lines: Iterable[str]) -> bool:
    """Returns whether most lines have punctuation that is part of a word."""
    punctuated = [_PUNCTUATED.search(line) is not None for line in lines if line.strip()]
    return 2 * sum(punctuated) > len(punctuated)


def join_words(tokens: Sequence[str]) -> str:
    """Joins words of a language without spaces. Words of other scripts are separated by spaces."""
    text = ""
    for token in tokens:
        if text and _need_space(text[-1], token[0]):
            text += " "
        text += token
    return text


def _need_space(left: str, right: str) -> bool:
    """Returns whether a space separates a word that ends in ``left`` from one that begins with ``right``."""
    if _is_wide(left) or _is_wide(right) or not right.isalnum():
        return False
    return left.isalnum() or (left in ",.;:!?)" and right.isalpha())


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def _alternative(language: str) -> str:
    segmenter = next((name for name, supported in _SEGMENTERS.items() if supported == language), None)
    return f" use {language}:{segmenter}" if segmenter else " und:moses splits by the rules of English"


def _sentences(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    begin = 0
    for end, token in enumerate(tokens, start=1):
        if token in (".", ":", "?", "!"):
            yield tokens[begin:end]
            begin = end
    if begin < len(tokens):
        yield tokens[begin:]


@cache  # reading the dictionary takes a second
def _jieba() -> Callable[[str], Iterable[str]]:
    try:
        import jieba
    except ImportError:
        raise Error("zh:jieba needs the package jieba: pip install jieba") from None
    tokenizer = jieba.Tokenizer()
    # tokenizer.initialize() does the same, but reads a cache from a folder that anyone can write to.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return partial(tokenizer.cut)


@cache
def _janome() -> Callable[[str], Iterable[str]]:
    try:
        from janome.tokenizer import Tokenizer
    except ImportError:
        raise Error("ja:janome needs the package janome: pip install janome") from None
    tokenizer = Tokenizer(wakati=True)
    return lambda text: map(str, tokenizer.tokenize(text, wakati=True))
