"""Templates of a convention, such as ``{d}.{m}.{y}``: regular expressions for reading, texts for writing.

    template_pattern("{n}%", field_patterns(convention, numerals))  # a group for each field, named after it
    pieces = fill("{n}%", {"n": "1,234.5"})   # [Piece("n", "1,234.5"), Piece("", "%")]
    join_pieces(pieces, split=True)           # 1,234.5 and %, with their fields; split=False: 1,234.5%

The module ``conventions`` describes the fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from hiero.generators.conventions import Convention
from hiero.generators.numerals import Numerals, alternatives

# Expressions for fields that are digits. The expressions for other fields depend on the convention.
_DIGITS = {
    "i": r"\d{1,4}+",
    "j": r"\d{1,9}+",
    "d": r"\d\d?",
    "dd": r"\d\d",
    "m": r"\d\d?",
    "mon": r"\d\d?",
    "mm": r"\d\d",
    "y": r"(?:\d{4}|\d\d)",
    "yyyy": r"\d{4}",
    "year": r"\d{3,4}",
    "h": r"\d\d?",
    "min": r"[0-5]\d",
    "s": r"[0-5]\d",
}
_FORMS = {"d": ("dd", "day", "dth"), "m": ("mm", "mon", "month"), "y": ("yyyy", "year")}
# A tokeniser may split around the characters in the first brackets.
_PARTS = re.compile("[万億亿兆年月日第]|[^ 万億亿兆年月日第]+| ")
_MEANINGS = {form: field for field, forms in _FORMS.items() for form in forms}


class Piece(NamedTuple):
    """Text between two places of a template where a tokeniser may split; a blank where it must split."""

    field: str
    text: str


class Word(NamedTuple):
    """A word with the fields to which it belongs. A mark between fields has none."""

    text: str
    fields: frozenset[str]


@cache
def split_template(template: str) -> tuple[Piece, ...]:
    """Returns the fields of a template, without text, and the text between them."""
    matches = re.findall(r"\{(\w+)\}|( |[^ {}]+)", template)
    return tuple(Piece(field, text) for field, text in matches)


@cache
def fields(template: str) -> frozenset[str]:
    """Returns the meanings of the fields of a template: ``{dd}`` and ``{dth}`` both mean ``d``."""
    return frozenset(meaning_of(piece.field) for piece in split_template(template) if piece.field)


def meaning_of(field: str) -> str:
    """Returns the meaning of a field, independent of its form."""
    return _MEANINGS.get(field, field)


def fill(template: str, values: Mapping[str, str]) -> list[Piece] | None:
    """Puts values into the fields of a template. Returns None if a field has no value."""
    pieces = split_template(template)
    if any(piece.field and piece.field not in values for piece in pieces):
        return None
    return [Piece(meaning_of(piece.field), values.get(piece.field, piece.text)) for piece in pieces]


def join_pieces(pieces: Sequence[Piece], split: bool) -> list[Word]:
    """Joins pieces to words, like a tokeniser that splits between pieces, or only at blanks.

    Text is never split between letters and digits (``3rd``). It is also split within pieces, around Chinese
    characters.
    """
    words: list[Word] = []
    after_blank = True
    for field, text in pieces:
        for part in _PARTS.findall(text):
            if part == " ":
                after_blank = True
                continue
            before = Word("", frozenset())
            if not after_blank and not (split and _may_split(words[-1].text, part)):
                before = words.pop()
            words.append(Word(before.text + part, before.fields | ({field} if field else set())))
            after_blank = False
    return words


def _may_split(before: str, after: str) -> bool:
    """Returns whether a tokeniser may split between two texts."""
    return not any(
        c.isalpha() and unicodedata.east_asian_width(c) not in "WF" for c in (before[-1], after[0])
    )


def field_patterns(convention: Convention, numerals: Numerals) -> dict[str, str]:
    """Returns an expression for each field of the convention's templates."""
    number = f"(?:{numerals.loose}|{numerals.tight})"
    day = r"\d\d?" + (f"(?:(?<=1){convention.first})?" if convention.first else "")
    ordinals = [
        template.removeprefix("{i}")
        for templates in convention.ordinals.values()
        for template in templates
        if template.startswith("{i}")
    ]
    names = (name for month in convention.months for name in month)
    patterns = {"n": number, "a": numerals.tight, "b": numerals.tight, "month": alternatives(names)}
    return {**_DIGITS, **patterns, "day": day, "dth": rf"\d\d? ?{alternatives(ordinals)}"}


def template_pattern(template: str, patterns: Mapping[str, str]) -> str:
    """Returns an expression for a template, in which tokens may end between its pieces.

    A blank between two fields of digits is required. Otherwise a year could be read as a day and a year.
    """
    expressions: list[str] = []
    previous, after_blank = "", False
    for field, text in split_template(template):
        if text == " ":
            after_blank = True
            continue
        if expressions:
            in_digits = previous and field and "month" not in (previous, field)
            expressions.append(" " if after_blank and in_digits else " ?")
        expressions.append(f"(?P<{field}>{patterns[field]})" if field else re.escape(text))
        previous, after_blank = field, False
    return "".join(expressions)
