"""Readings written in another convention: ``Writer(CONVENTIONS["en"]).texts(reading)`` are the pieces of
12/24/2008, those of December 24, 2008, and so on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hiero.generators.conventions import Convention, Style
from hiero.generators.numerals import Number, in_digits, spread, written
from hiero.generators.readings import SHARED, Reading
from hiero.generators.templates import Piece, fields, filled


class Writer:
    """The texts of readings by one convention."""

    def __init__(self, convention: Convention) -> None:
        self._convention = convention

    def texts(self, reading: Reading, apart: bool = False) -> Iterator[list[Piece]]:
        """All that there are, those most like the reading first; ``apart`` with blanks around marks within
        numbers."""
        templates = self._templates(reading)
        for style in self._convention.styles:
            for values in self._values(reading, style, apart):
                for template in templates:
                    pieces = filled(template, values)
                    if pieces is not None:
                        yield [Piece(field, in_digits(text, style)) for field, text in pieces]

    def _templates(self, reading: Reading) -> Sequence[str]:
        own = self._convention
        match reading.kind:
            case "number":
                return ["{n}"]
            case "percentage":
                return own.percents
            case "ordinal":
                return self._ordinals(str(reading.values["i"]))
            case "year":
                return own.years or ["{year}"]
            case "hijri year":
                return own.hijri_years or ["{i}"]
            case "time":
                return _with_fields(own.times, reading)
            case "named date":
                return _with_fields(own.named_dates, reading)
            case "date" | "ISO date" as kind:
                numeric = _with_fields(own.dates, reading)[:1]
                same = [SHARED[kind]] if kind == "ISO date" else []
                return [*same, *numeric, *_with_fields(own.named_dates, reading)]
            case shared:
                return [SHARED[shared]]

    def _ordinals(self, digits: str) -> Sequence[str]:
        found = (
            own for digits_like, own in self._convention.ordinals.items() if re.fullmatch(digits_like, digits)
        )
        return next(found, ())

    def _values(self, reading: Reading, style: Style, apart: bool) -> Iterator[Mapping[str, str]]:
        """Yields values for the fields of templates: each way to write n, and the first for other numbers."""
        values = {name: text for name, text in reading.values.items() if isinstance(text, str)}
        values |= self._forms(values)
        for name, number in reading.values.items():
            if isinstance(number, Number):
                texts = written(number, self._convention, style)
                if name == "n":
                    yield from ({"n": spread(text, style) if apart else text} for text in texts)
                    return
                values[name] = texts[0]
        yield values

    def _forms(self, values: Mapping[str, str]) -> dict[str, str]:
        """Writes day, month and year in all their forms: in two digits, without zeros, in words."""
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
    """Those that tell all of a reading and no more."""
    return [template for template in templates if fields(template) == reading.values.keys()]
