"""Recognition of numbers, percentages, ordinals, years, dates and times in a sentence by a convention.

    Reader(CONVENTIONS["de"]).readings(["am", "24.12.2008"])
    # Reading("date", 1, 2, {"d": "24", "m": "12", "y": "2008"}, ...)

Every expression is tried once at the beginning of every token. The time is proportional to the length of the
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, product
from typing import Literal

from hiero.generators.conventions import Convention
from hiero.generators.numerals import Number, Numerals
from hiero.generators.templates import field_patterns, meaning_of, template_pattern

Kind = Literal["number", "percentage", "ordinal", "year", "hijri year", "date", "named date", "time"]
SharedKind = Literal["ISO date", "range", "dash range", "ratio", "fraction", "end"]
_NUMBERS = ("n", "a", "b")
# In a text like this, a separate comma is probably not a decimal mark: these are two numbers.
_ENUMERATION = re.compile(r"\d+ , \d+")
# Forms that are the same in all languages.
SHARED: Mapping[SharedKind, str] = {
    "ISO date": "{yyyy}-{mm}-{dd}",
    "range": "{a}-{b}",
    "dash range": "{a}–{b}",
    "ratio": "{i}:{j}",
    "fraction": "{i}/{j}",
    "end": "{n}.",
}


@dataclass(frozen=True)
class Reading:
    """A possible meaning of the tokens of a sentence from ``begin`` to ``end``.

    ``values`` are the values of the template's fields: numbers for n, a and b, and unchanged ASCII digits for
    other fields. ``fields`` are the fields of each token. A number is ``loose`` if its marks are separate
    tokens.
    """

    kind: Kind | SharedKind
    begin: int
    end: int
    values: Mapping[str, str | Number]
    fields: Sequence[frozenset[str]]
    loose: bool = False


class Reader:
    """A reader that finds numbers, dates and times in the forms of one convention."""

    def __init__(self, convention: Convention) -> None:
        self._numerals = Numerals(convention)
        self._months = {
            name.casefold(): str(month) for month, names in enumerate(convention.months, 1) for name in names
        }
        patterns = field_patterns(convention, self._numerals)
        self._patterns = [
            (kind, _between_tokens(template_pattern(template, patterns)))
            for kind, templates in _templates(convention).items()
            for template in templates
        ]
        for expression in self._numerals.expressions():
            self._patterns.append(("number", _between_tokens(f"(?P<n>{expression})")))

    def readings(self, tokens: Sequence[str]) -> Iterator[Reading]:
        """Yields all readings, those of one kind from left to right."""
        # A token must not contain white space. If it does, it is replaced by something that is not a number.
        words = ["\0" if re.search(r"\s", word, re.ASCII) else word for word in tokens]
        raw = " ".join(words)
        text = self._numerals.normalise(raw)
        if re.search(r"[\d十百千]", text) is None:
            return
        begins = [0, *accumulate(len(word) + 1 for word in words)]
        index = {begin: i for i, begin in enumerate(begins)}
        for kind, expression in self._patterns:
            for match in expression.finditer(text):
                span = range(index[match.start()], index[match.end(1) + 1])
                if self._is_plausible(kind, match, raw):
                    yield from self._meanings(kind, match, span, begins)

    def _is_plausible(self, kind: Kind | SharedKind, match: re.Match[str], raw: str) -> bool:
        numerals = (raw[slice(*match.span(name))] for name in match.groupdict() if name in (*_NUMBERS, "i"))
        if any(map(self._numerals.is_word, numerals)):
            return False
        # At the end of a sentence, a full stop ends the sentence if it is a token, and else it may end it.
        at_end = match.end(1) == len(raw)
        if kind == "ordinal" or kind == "end":
            return not (at_end and match[1].endswith(" .")) and (at_end or kind == "ordinal")
        values = self._texts(match)
        if "d" in values:
            return 1 <= int(values["d"]) <= 31 and 1 <= int(values["m"]) <= 12
        return int(values.get("h", "0")) < 24

    def _meanings(
        self, kind: Kind | SharedKind, match: re.Match[str], span: range, begins: Sequence[int]
    ) -> Iterator[Reading]:
        numbers = {name: text for name, text in match.groupdict().items() if name in _NUMBERS}
        fields = [_fields(match, begins[i], begins[i + 1] - 1) for i in span]
        for meaning in product(*map(self._numerals.readings, numbers.values())):
            if kind == "number" and _ENUMERATION.fullmatch(match[1]) and not meaning[0].grouped:
                continue
            values: dict[str, str | Number] = {**self._texts(match)}
            values.update(zip(numbers, meaning, strict=True))
            loose = any(" " in text for text in numbers.values()) and not any(n.scaled for n in meaning)
            yield Reading(kind, span.start, span.stop, values, fields, loose)

    def _texts(self, match: re.Match[str]) -> dict[str, str]:
        """Returns the fields without marks: the digits of days, months and others."""
        texts = {}
        for name, text in match.groupdict().items():
            if name == "month":
                # Matching ignores case, and so accepts texts that are not names of months, such as ı for i.
                texts["m"] = self._months.get(text.casefold(), "0")
            elif name not in _NUMBERS:
                texts[meaning_of(name)] = text[: len(text) - len(text.lstrip("0123456789"))]
        return texts


def _fields(match: re.Match[str], begin: int, end: int) -> frozenset[str]:
    """Returns the fields that overlap with a part of the text."""
    return frozenset(
        meaning_of(name) for name in match.groupdict() if match.start(name) < end and begin < match.end(name)
    )


def _templates(convention: Convention) -> dict[Kind | SharedKind, tuple[str, ...]]:
    templates: dict[Kind | SharedKind, tuple[str, ...]] = {
        "percentage": convention.percents,
        "ordinal": tuple(chain.from_iterable(convention.ordinals.values())),
        "year": convention.years,
        "hijri year": convention.hijri_years,
        "date": convention.dates,
        "named date": convention.named_dates,
        "time": convention.times,
    }
    return templates | {kind: (template,) for kind, template in SHARED.items()}


def _between_tokens(expression: str) -> re.Pattern[str]:
    """Compiles an expression that must match complete tokens, as group 1 of an empty match."""
    return re.compile(rf"(?<![^ ])(?=({expression})(?![^ ]))", re.IGNORECASE)
