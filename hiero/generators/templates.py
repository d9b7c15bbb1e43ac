"""Templates of a convention, such as ``{d}.{m}.{y}``: regular expressions to read with, and texts to write.

    pattern("{n}%", field_patterns(convention))  # with a group for each field, named after it
    pieces = filled("{n}%", {"n": "1,234.5"})    # [Piece("n", "1,234.5"), Piece("", "%")]
    words(pieces, cut=True)                      # 1,234.5 and %, each with its fields; cut=False: 1,234.5%

What fields there are is said in ``conventions.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from hiero.generators.conventions import Convention
from hiero.generators.numerals import Numerals, any_of

# Digits that stand for fields; what else stands for some depends on the convention.
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
_PARTS = re.compile("[万億亿兆年月日第]|[^ 万億亿兆年月日第]+| ")
_SHOWN = {form: field for field, forms in _FORMS.items() for form in forms}


class Piece(NamedTuple):
    """Text of a template between two places where a tokeniser may cut; a blank, where it must."""

    field: str
    text: str


class Word(NamedTuple):
    """A word, and the fields that it is of; none for marks between them."""

    text: str
    fields: frozenset[str]


@cache
def parts(template: str) -> tuple[Piece, ...]:
    """A template's fields, without text, and what stands between them."""
    found = re.findall(r"\{(\w+)\}|( |[^ {}]+)", template)
    return tuple(Piece(field, text) for field, text in found)


@cache
def fields(template: str) -> frozenset[str]:
    """Lists the fields of a template by meaning: ``{dd}`` and ``{dth}`` are both a ``d``."""
    return frozenset(shown(part.field) for part in parts(template) if part.field)


def shown(field: str) -> str:
    """Gives the meaning of a field, whatever its form."""
    return _SHOWN.get(field, field)


def filled(template: str, values: Mapping[str, str]) -> list[Piece] | None:
    """A template with values for its fields, None where there is none for one of them."""
    if any(part.field and part.field not in values for part in parts(template)):
        return None
    return [Piece(shown(part.field), values.get(part.field, part.text)) for part in parts(template)]


def words(pieces: Sequence[Piece], cut: bool) -> list[Word]:
    """Words of pieces, cut between them or at blanks only; never between letters and digits (``3rd``), but
    around Chinese characters, also within pieces."""
    made: list[Word] = []
    apart = True
    for field, text in pieces:
        for part in _PARTS.findall(text):
            if part == " ":
                apart = True
                continue
            before = Word("", frozenset())
            if not apart and not (cut and _may_part(made[-1].text, part)):
                before = made.pop()
            made.append(Word(before.text + part, before.fields | ({field} if field else set())))
            apart = False
    return made


def _may_part(before: str, after: str) -> bool:
    """Whether tokenisers may cut here."""
    return not any(
        c.isalpha() and unicodedata.east_asian_width(c) not in "WF" for c in (before[-1], after[0])
    )


def field_patterns(convention: Convention, numerals: Numerals) -> dict[str, str]:
    """Expressions for the fields of templates."""
    number = f"(?:{numerals.loose}|{numerals.tight})"
    day = r"\d\d?" + (f"(?:(?<=1){convention.first})?" if convention.first else "")
    ordinals = [
        template.removeprefix("{i}")
        for templates in convention.ordinals.values()
        for template in templates
        if template.startswith("{i}")
    ]
    names = (name for month in convention.months for name in month)
    made = {"n": number, "a": numerals.tight, "b": numerals.tight, "month": any_of(names)}
    return {**_DIGITS, **made, "day": day, "dth": rf"\d\d? ?{any_of(ordinals)}"}


def pattern(template: str, patterns: Mapping[str, str]) -> str:
    """An expression for what a template has, and where tokens may end between its parts. A blank between two
    fields of digits is one: else a year would be read as a day and a shorter year."""
    made: list[str] = []
    previous, apart = "", False
    for field, text in parts(template):
        if text == " ":
            apart = True
            continue
        if made:
            in_digits = previous and field and "month" not in (previous, field)
            made.append(" " if apart and in_digits else " ?")
        made.append(f"(?P<{field}>{patterns[field]})" if field else re.escape(text))
        previous, apart = field, False
    return "".join(made)
