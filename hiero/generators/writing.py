"""Writing of numbers, dates and times in the forms of a convention.

``Writer(CONVENTIONS["en"]).texts(reading)`` yields the pieces of 12/24/2008, of December 24, 2008, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hiero.generators.conventions import Convention, Style
from hiero.generators.numerals import Number, apply_style, format_number, space_marks
from hiero.generators.readings import SHARED, Reading
from hiero.generators.templates import Piece, fields, fill


class Writer:
    """A writer of readings in the forms of one convention."""

    def __init__(self, convention: Convention) -> None:
        self._convention = convention

    def texts(self, reading: Reading, spaced: bool = False) -> Iterator[list[Piece]]:
        """Yields the pieces of all forms of a reading, those most similar to its source first.

        With ``spaced`` there are blanks around the marks within numbers.
        """
        templates = self._templates(reading)
        for style in self._convention.styles:
            for values in self._values(reading, style, spaced):
                for template in templates:
                    pieces = fill(template, values)
                    if pieces is not None:
                        yield [Piece(field, apply_style(text, style)) for field, text in pieces]

    def _templates(self, reading: Reading) -> Sequence[str]:
        convention = self._convention
        match reading.kind:
            case "number":
                return ["{n}"]
            case "percentage":
                return convention.percents
            case "ordinal":
                return self._ordinals(str(reading.values["i"]))
            case "year":
                return convention.years or ["{year}"]
            case "hijri year":
                return convention.hijri_years or ["{i}"]
            case "time":
                return _with_fields(convention.times, reading)
            case "named date":
                return _with_fields(convention.named_dates or [SHARED["ISO date"]], reading)
            case "date" | "ISO date" as kind:
                numeric = _with_fields(convention.dates, reading)[:1]
                same = [SHARED[kind]] if kind == "ISO date" else []
                return [*same, *numeric, *_with_fields(convention.named_dates, reading)]
            case shared:
                return [SHARED[shared]]

    def _ordinals(self, digits: str) -> Sequence[str]:
        templates = self._convention.ordinals.items()
        return next((forms for pattern, forms in templates if re.fullmatch(pattern, digits)), ())

    def _values(self, reading: Reading, style: Style, spaced: bool) -> Iterator[Mapping[str, str]]:
        """Yields values for the fields of templates: all forms of n, but only the first of other numbers."""
        values = {name: text for name, text in reading.values.items() if isinstance(text, str)}
        values |= self._forms(values)
        for name, number in reading.values.items():
            if isinstance(number, Number):
                texts = format_number(number, self._convention, style)
                if name == "n":
                    yield from ({"n": space_marks(text, style) if spaced else text} for text in texts)
                    return
                values[name] = texts[0]
        yield values

    def _forms(self, values: Mapping[str, str]) -> dict[str, str]:
        """Returns all forms of day, month and year: with two digits, without leading zeros, in words."""
        forms: dict[str, str] = {}
        if "d" in values:
            day, month = str(int(values["d"])), int(values["m"])
            forms |= {"dd": day.zfill(2), "mm": f"{month:02}", "mon": str(month)}
            forms["day"] = day + (self._convention.first if day == "1" else "")
            if self._convention.months:
                forms["month"] = self._convention.months[month - 1][0]
            for template in self._ordinals(day)[:1]:
                forms["dth"] = template.replace("{i}", day)
        year = values.get("y", "")
        if len(year) > 2:
            forms["year"] = year
        if len(year) == 4:
            forms["yyyy"] = year
        return forms


def _with_fields(templates: Sequence[str], reading: Reading) -> list[str]:
    """Returns the templates with exactly the same fields as a reading."""
    return [template for template in templates if fields(template) == reading.values.keys()]
