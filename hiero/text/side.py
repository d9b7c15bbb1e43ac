"""The text of one side of a model: how raw text becomes tokens, and tokens become text.

Training, decoding, tuning and evaluation take text through the same object, which the model remembers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, get_args

from hiero._core import FormatError
from hiero.base.text import split
from hiero.text.joining import gaps, marked, unmarked, whole_words, with_spaces
from hiero.text.normalisation import MARK, NormalForm, cleaned, plain_punctuation, without_surrogates
from hiero.text.protection import Protection, as_text, as_token, is_address, protection
from hiero.text.schemes import (
    SCHEMES,
    SEGMENTERS,
    Scheme,
    Segmented,
    Words,
    check_language,
    join_by_first_rules,
    with_quotes_apart,
    words_of,
)

Rules = Literal[1, 4]
# Settings of sides with few values.
_CHOICES: dict[str, Any] = {"scheme": Scheme, "unicode": NormalForm, "rules": Rules}
# A word that stands for a protected part while other words are looked at; longer if it is in the text.
_PART = "Zprotectedz"
# Words that Moses' truecaser would take for several: those with signs of tags, unless they are just one, and
# those with white space.
_SPLIT_BY_TRUECASER = re.compile(r"\s|^(?=.*[<>])(?!<[^<>]+>$|[<>]$)")
# The most times that text is normalised again; once is enough for nearly all.
_PASSES = 5


@dataclass(frozen=True)
class TextSide:
    """Conversion between text and tokens of one language.

    ``scheme`` selects the tokenizer:

    - "none" splits at ASCII white space: text is tokens, which are left as they are;
    - "moses" is the Moses tokenizer for ``language``, without escapes. For other languages use "und", which
      applies the rules of English;
    - "jieba" segments Chinese and "janome" Japanese. They need the packages of the same names.

    Before tokenisation, text is normalised: see ``hiero.text.normalisation``. ``unicode`` is its normal form,
    ``punctuation`` tells whether quotes, apostrophes and hyphens are, too. Tags, addresses and what the
    regular expressions ``protect`` match are one token, and come back as they were. After tokenisation text
    may be lowercased (``lowercase``), which cannot be undone, or truecased. ``truecaser`` is the path of a
    file in Moses' format. It tells which words lose their capital at the beginning of a sentence; ``text``
    restores it. ``rules`` is the version of all this. Models from before normalisation have 1: their text is
    not normalised, nothing is protected, and signs have no marks. Versions 2 and 3 were in use for days only,
    and are gone. Raises ValueError for a scheme, normal form or version that there is not, for a language
    that the scheme does not support, for both kinds of casing at once, and for a pattern that is no regular
    expression.

    >>> side = TextSide("moses", "en", lowercase=True)
    >>> side.tokens("It\u2019s here: www.A.org and/or 10:30.")
    ['it', "'s", 'here', ':', 'www.A.org', 'and', '￭/￭', 'or', '10', ':￭', '30', '.']
    >>> side.text(['it', "'s", 'here', ':', 'www.A.org', 'and', '￭/￭', 'or', '10', ':￭', '30', '.'])
    "it's here: www.A.org and/or 10:30."
    """

    scheme: Scheme = "none"
    language: str = "und"
    lowercase: bool = False
    truecaser: str = ""
    unicode: NormalForm = "NFC"
    punctuation: bool = True
    protect: tuple[str, ...] = ()
    rules: Rules = 4

    def __post_init__(self) -> None:
        if self.lowercase and self.truecaser:
            raise ValueError("text is lowercased or truecased, not both")
        for name, kind in _CHOICES.items():
            if (value := getattr(self, name)) not in get_args(kind):
                expected = ", ".join(map(str, get_args(kind)))
                raise ValueError(f"{name} {value!r}: expected one of {expected}")
        check_language(self.scheme, self.language)
        if isinstance(self.protect, str):
            raise TypeError("protect: expected a sequence of regular expressions, not a string")
        object.__setattr__(self, "protect", tuple(self.protect))
        protection(self.protect)

    @property
    def keeps_tokens(self) -> bool:
        """Whether tokens separated by spaces are unchanged by tokenisation and detokenisation."""
        return self.scheme == "none" and not self.lowercase and not self.truecaser

    def tokens(self, text: str) -> list[str]:
        """Returns the tokens of a line of raw text.

        Raises Error if a package is missing, FormatError or OSError for a truecaser that cannot be read.
        """
        return self._cased(*self._split(text))

    def readings(self, text: str, number: int) -> list[tuple[list[str], float]]:
        """Returns at most ``number`` ways in which a segmenter reads a line of raw text: that of ``tokens``,
        then by score. Each has its tokens, and the natural logarithm of how probable they are. Without a
        segmenter there is one, with 0.

        Raises Error and OSError as ``tokens`` does.
        """
        best: dict[tuple[str, ...], float] = {}
        for words, is_part, score in self._ways(text, number):
            best.setdefault(tuple(self._cased(words, is_part)), score)
        return [(list(tokens), score) for tokens, score in best.items()]

    def words(self, text: str) -> list[str]:
        """Returns the tokens of a line before lowercasing or truecasing."""
        return self._split(text)[0]

    def text(self, tokens: Sequence[str], as_given: Collection[int] = ()) -> str:
        """Returns tokens as a line of text. The case of those at the positions ``as_given`` is left."""
        return self._join(tokens, bool(self.truecaser), as_given)

    def normalised(self, text: str) -> str:
        """Returns a line of raw text as it is written after normalisation: what ``text`` makes of its tokens,
        but for their case. Normalised text is left as it is, and so is all text of sides that leave it."""
        if self.leaves_text:
            return text
        normal = self._join(self.words(text), False)
        for _ in range(_PASSES):
            # Where spaces were put otherwise, words may be found otherwise, such as an abbreviation.
            if (again := self._join(self.words(normal), False)) == normal:
                break
            normal = again
        return normal

    def characters(self, text: str) -> str:
        """Returns the characters that tokens of a text have, without spaces."""
        if self.leaves_text:
            return text
        text = cleaned(text, self.unicode)
        return self._plain(text).replace(" ", "")

    def bare(self, tokens: Sequence[str]) -> list[str]:
        """Returns the characters of the text of each token, without marks and spaces."""
        if self.leaves_text:
            return list(tokens)
        return [as_text(word).replace(" ", "") for word in unmarked(tokens)[0]]

    @property
    def signature(self) -> str:
        """The part of a metric's signature that names how text was normalised; "" for text that is left."""
        if self.leaves_text:
            return ""
        punctuation = "+punctuation" if self.punctuation else ""
        own = f"+{len(self.protect)} patterns" if self.protect else ""
        return f"normalised:{self.language}:{self.scheme}:{self.unicode}{punctuation}{own}"

    @property
    def leaves_text(self) -> bool:
        """Whether text is neither normalised nor protected."""
        return self.scheme == "none" or self.rules == 1

    def is_part(self, token: str) -> bool:
        """Tells whether a token is a protected part of text, such as a tag or an address."""
        return not self.leaves_text and self._protection.matches(unmarked([token])[0][0])

    def parts(self, tokens: Sequence[str]) -> list[str]:
        """Returns the different protected parts among tokens, without marks."""
        if self.leaves_text or not self._protection.may_match(" ".join(tokens)):
            return []
        words = dict.fromkeys(unmarked(tokens)[0])
        return [word for word in words if self._protection.matches(word)]

    @cached_property
    def _words(self) -> Words:
        return words_of(self.scheme, self.language)

    @cached_property
    def _protection(self) -> Protection:
        return protection(self.protect)

    def _cased(self, words: list[str], is_part: list[bool]) -> list[str]:
        """Lowercases or truecases words as the side says."""
        if self.lowercase:
            return [word if part else word.lower() for word, part in zip(words, is_part, strict=True)]
        return self._truecased(words, is_part) if self.truecaser else words

    def _split(self, text: str) -> tuple[list[str], list[bool]]:
        """Splits a line into words, and tells which of them are protected parts."""
        words, is_part, _ = next(self._ways(text))
        return words, is_part

    def _ways(self, text: str, number: int = 0) -> Iterator[tuple[list[str], list[bool], float]]:
        """Yields ways of splitting a line into words, the best first, which of their words are protected
        parts, and a score: at most ``number`` ways, or for 0 the usual one."""
        if self.leaves_text:
            for words, score in self._divided(without_surrogates(text), number):
                yield words, [False] * len(words), score
            return
        text = cleaned(text, self.unicode)
        parts = _Parts.of(text, self._protection.spans(text))
        text = self._plain(parts.masked)
        separate = with_quotes_apart(text) if self.scheme == "moses" else text
        if parts.found:
            separate = separate.replace(parts.name, f" {parts.name} ")
        for words, score in self._divided(separate, number):
            yield *self._marked(text, words, parts), score

    def _divided(self, text: str, number: int) -> list[tuple[list[str], float]]:
        """Returns the words of a text in ways as those of ``_ways``, and the score of each."""
        if number and isinstance(self._words, Segmented):
            return self._words.segmenter.readings(text, number)
        return [(self._words.split(text), 0.0)]

    def _marked(self, text: str, words: list[str], parts: _Parts) -> tuple[list[str], list[bool]]:
        """Returns words of a text with marks where there are no spaces, and with parts restored; and which
        words are parts."""
        is_gap = gaps(text, words)
        if is_gap is not None and not all(is_gap):
            words, is_gap = whole_words(text, words, is_gap, parts.name)
        is_part = [bool(parts.found) and word == parts.name for word in words]
        shown, words = words, parts.restored(words)
        if is_gap is not None and not all(is_gap):
            stands_alone = [part and is_address(word) for word, part in zip(words, is_part, strict=True)]
            takes_marks = [part and not alone for part, alone in zip(is_part, stands_alone, strict=True)]
            words = marked(words, is_gap, lambda: self._spaces(shown), takes_marks)
        return words, is_part

    def _plain(self, text: str) -> str:
        """Returns cleaned text with plain punctuation, if this side has that."""
        if not self.punctuation:
            return text
        return plain_punctuation(text, keeps_dashes=self.scheme in SEGMENTERS)

    def _spaces(self, words: Sequence[str]) -> list[bool]:
        """Tells for each word but the first whether a space precedes it by the rules of the language."""
        is_gap = gaps(self._words.join(words), words)
        return [True] * (len(words) - 1) if is_gap is None else is_gap

    def _join(self, tokens: Sequence[str], restore_case: bool, as_given: Collection[int] = ()) -> str:
        if self.leaves_text:
            words = self._detruecase(" ".join(tokens)) if restore_case and tokens else tokens
            if as_given and len(words) == len(tokens):
                words = [old if k in as_given else words[k] for k, old in enumerate(tokens)]
            return join_by_first_rules(words) if self.scheme in SEGMENTERS else self._words.join(words)
        words, said = unmarked(tokens)
        is_part = [self._protection.matches(word) for word in words]
        # Words as detokenisers see them: parts as a word with which they do nothing special, no white space.
        shown = [
            _PART if part else "".join("_" if c.isspace() else c for c in word) or "_"
            for word, part in zip(words, is_part, strict=True)
        ]
        if restore_case:
            places = _cased_places(words, is_part)
            cased = self._detruecase(" ".join(shown[place] for place in places)) if places else []
            for place, new in zip(places, cased, strict=True):
                if new != shown[place] and not is_part[place] and place not in as_given:
                    words[place] = _capitalised(words[place])
        is_gap = [
            rule if mark is None else mark for rule, mark in zip(self._spaces(shown), said, strict=True)
        ]
        return with_spaces(
            [as_text(word) if part else word for word, part in zip(words, is_part, strict=True)], is_gap
        )

    def _truecased(self, words: Sequence[str], is_part: Sequence[bool]) -> list[str]:
        """Truecases each sentence of a line by itself: Moses' algorithm is quadratic in the line length."""
        places = _cased_places(words, is_part)
        shown = [
            _PART if is_part[place] or _SPLIT_BY_TRUECASER.search(words[place]) else words[place]
            for place in places
        ]
        cased = [
            token for sentence in _sentences(shown) for token in split(self._truecase(" ".join(sentence)))
        ]
        out = list(words)
        for place, old, new in zip(places, shown, cased, strict=True):
            if old == words[place]:
                out[place] = new
        return out

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


@dataclass(frozen=True)
class _Parts:
    """A text in which the word ``name`` stands for each protected part, and the parts in order."""

    masked: str = ""
    name: str = ""
    found: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, spans: Sequence[tuple[int, int]]) -> _Parts:
        """Masks the parts at these places."""
        if not spans:
            return cls(text)
        longest = max(re.findall(f"{_PART}+", text), key=len, default="")
        name = f"{longest}z" if longest else _PART
        pieces, end = [], 0
        for begin, after in spans:
            pieces += [text[end:begin], name]
            end = after
        return cls("".join([*pieces, text[end:]]), name, tuple(text[begin:after] for begin, after in spans))

    def restored(self, words: list[str]) -> list[str]:
        """Returns words with the parts, as tokens, in place of their name."""
        if not self.found:
            return words
        parts = iter(self.found)
        return [as_token(next(parts)) if word == self.name else word for word in words]


def parse_side(
    text: str,
    lowercase: bool = False,
    truecaser: str | os.PathLike[str] = "",
    *,
    unicode: NormalForm = "NFC",
    punctuation: bool = True,
    protect: Sequence[str] = (),
) -> TextSide:
    """Makes a side from LANGUAGE:SCHEME, such as ``en:moses``. Raises ValueError."""
    language, colon, name = text.rpartition(":")
    scheme = next((s for s in SCHEMES if s == name), None)
    if not colon or not language or scheme is None:
        raise ValueError(
            f"{text!r}: expected LANGUAGE:SCHEME, with a scheme of {', '.join(SCHEMES)}, such as en:moses, "
            "zh:jieba, ja:janome"
        )
    return TextSide(scheme, language, lowercase, os.fspath(truecaser), unicode, punctuation, tuple(protect))


def _capitalised(word: str) -> str:
    """Returns a word with a capital at its beginning, if that is one character: not of ß or a ligature."""
    first = word[:1].title()
    return first + word[1:] if len(first) == 1 else word


def _cased_places(words: Sequence[str], is_part: Sequence[bool]) -> list[int]:
    """Returns the places of the words that are part of sentences: all but tags, before which a sentence may
    begin."""
    return [
        place
        for place, (word, part) in enumerate(zip(words, is_part, strict=True))
        if not part or not word.lstrip(MARK).startswith("<")
    ]


def _sentences(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    begin = 0
    for end, token in enumerate(tokens, start=1):
        if token in (".", ":", "?", "!"):
            yield tokens[begin:end]
            begin = end
    if begin < len(tokens):
        yield tokens[begin:]
