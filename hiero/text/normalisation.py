"""Normalisation of raw text: one way to write what can be written in several ways.

Word processors, phones and web pages write the same text in many ways: é as one character or as e and an
accent, ' as ’, a space as a no-break space, & as &amp;. A model knows the words of its training text alone,
so that training and decoding write all of these alike. What is removed or replaced is listed in
``docs/text.md``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sacremoses import MosesPunctNormalizer

# Unicode normalisation forms. NFKC also replaces characters that only look different, such as ﬁ and ②.
NormalForm = Literal["NFC", "NFKC", "none"]

# Zero width joiner and non-joiner, which are letters of words in many scripts.
JOINERS = "\u200d\u200c"
# The mark of tokens that are joined to their neighbours (see ``joining``); in text it becomes what it looks
# like.
MARK = "￭"

# &amp; &#39; &#x27;, with their semicolon: "a&b;c" and addresses with &copy=1 are no entities.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# The most times that text was escaped, as in &amp;amp;lt;.
_ESCAPED = 4
# Halves of characters outside of the first plane, which are no text by themselves.
_SURROGATES = re.compile("[\ud800-\udfff]")
# Characters that are not seen: controls, byte order marks, soft hyphens, word joiners, directions of text.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\u00ad\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb]"
)
_SPACES = re.compile(r"[\s\x1c-\x1f\x85\u2800]+")
# A zero width space separates words of scripts that have no other sign for it; elsewhere it is left over.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\uaa60-\uaa7f\uaa80-\uaadf"
_WORD_BREAK = re.compile(f"(?<=[{_UNSPACED}])\u200b+(?=[{_UNSPACED}])")
# Joiners that join nothing: beside a space, at the ends of a line, or after one another.
_STRAY_JOINER = re.compile(f"(?:(?<=\\s)|^)[{JOINERS}]+|[{JOINERS}]+(?=\\s|$)|(?<=[{JOINERS}])[{JOINERS}]+")
# Signs that stand for others and that Moses' normaliser leaves as they are.
_SIGNS = str.maketrans(
    {
        "`": "'",
        "´": "'",
        "‘": "'",
        "’": "'",
        "‚": "'",
        "ʼ": "'",
        "＇": "'",
        "‛": "'",
        "′": "'",
        "‟": '"',
        "″": '"',
        "＂": '"',
        "‹": "'",
        "›": "'",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "―": "—",
        "−": "-",
    }
)
# Two apostrophes for a quote, taken apart by a tokeniser.
_APART = re.compile(r"(?<!\S)' '(?!\S)")
# What Moses' normaliser changes; most lines have none of it.
_NORMALISED = re.compile("[`´„“”–—‘’‚…«»%]|''| [:;]")
# It would put spaces around brackets. Cleaned text has none of the controls that stand for them meanwhile.
_HIDDEN = str.maketrans("()", "\x01\x02")
_SHOWN = str.maketrans("\x01\x02", "()")
# Dashes and dots that Chinese and Japanese text has for its own, often twice.
_HIDDEN_DASHES = str.maketrans("—―–…", "\x03\x04\x05\x06")
_SHOWN_DASHES = str.maketrans("\x03\x04\x05\x06", "—―–…")


def cleaned(text: str, form: NormalForm) -> str:
    """Returns a line of text with entities as characters, in a Unicode normal form, without characters that
    are not seen, and with single spaces.

    >>> cleaned(" e\u0301te\u0301\u00a0 &amp; \ufeffhiver", "NFC")
    'été & hiver'
    """
    for _ in range(_ESCAPED):
        if "&" not in text or (plain := _ENTITY.sub(lambda found: html.unescape(found[0]), text)) == text:
            break
        text = plain
    if not text.isascii():
        text = without_surrogates(text)
        if form != "none":
            text = unicodedata.normalize(form, text)
        text = _WORD_BREAK.sub(" ", text).replace("\u200b", "").replace(MARK, "■")
    text = _SPACES.sub(" ", _INVISIBLE.sub("", text))
    if not text.isascii():
        text = _STRAY_JOINER.sub("", text)
    return text.strip(" ")


def without_surrogates(text: str) -> str:
    """Returns text with the replacement character U+FFFD for halves of characters, which no file can hold."""
    return _SURROGATES.sub("\ufffd", text)


def plain_punctuation(text: str, keeps_dashes: bool = False) -> str:
    """Returns cleaned text with quotes, apostrophes, hyphens and dots as a keyboard types them; with
    ``keeps_dashes``, dashes and ellipses as they are.

    This is sacremoses' port of Moses' normaliser, without the spaces that it puts around brackets, and
    without the two rules that depend on the language: one changes the order of quotes and commas, the other
    writes spaces within numbers as commas or dots.

    >>> plain_punctuation("L\u2019été : « oui » – non…")
    'L\'été: " oui " - non...'
    """
    if keeps_dashes:
        return plain_punctuation(text.translate(_HIDDEN_DASHES)).translate(_SHOWN_DASHES)
    text = _APART.sub('"', text.translate(_SIGNS))
    if _NORMALISED.search(text):
        text = _moses().normalize(text.translate(_HIDDEN)).translate(_SHOWN)
        text = _STRAY_JOINER.sub("", text)  # it adds spaces
    return text


@cache
def _moses() -> MosesPunctNormalizer:
    from sacremoses import MosesPunctNormalizer  # imported late, as it is slow

    return MosesPunctNormalizer(norm_quote_commas=False, norm_numbers=False)
