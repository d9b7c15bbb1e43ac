"""Tests of numbers and dates of languages without a convention, and of digits of all scripts."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from hiero.features.sentence import Sentence
from hiero.generators import CONVENTIONS, Language, NumberRules, convention_for
from support.generated_rules import all_targets

# The English forms of a date with the name of the month.
DECEMBER = (
    "December 24, 2008 | December 24 , 2008 | December 24 2008 | 24 December 2008 | 24th December 2008 | "
    "24th of December 2008 | December 24th, 2008 | December 24th 2008"
)
# Languages, source phrase, all translations.
CASES = [
    # Digits and marks of other scripts are read in all languages.
    ("de en", "১২,৫", "12.5"),
    ("en de", "٣٫٥", "3,5"),
    ("de en", "٣٬٥٠٠٫٥", "3,500.5 | 3500.5"),
    ("de en", "२४.१२.२००८", "12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    # Of a language without a convention, marks are read both ways where both are plausible.
    ("und en", "1.234", "1.234 | 1,234 | 1234"),
    ("und en", "1,234", "1,234 | 1234 | 1.234"),
    ("und en", "1.234,5", "1,234.5 | 1234.5"),
    ("und en", "3,5", "3.5"),
    ("und en", "১২,৩৪,৫৬৭.৮", "1,234,567.8 | 1234567.8"),
    ("und en", "12.34.567", "1,234,567 | 1234567"),
    ("und en", "1 234,5", "1 , 234 . 5 | 1234 . 5 | 1,234.5 | 1234.5"),
    ("und en", "10 20 300", ""),
    ("und en", "12\u202f345,5", "12,345.5 | 12345.5"),
    ("und en", "12\u00a0345", "12,345 | 12345"),
    ("und en", "12\u2009345", "12,345 | 12345"),
    ("und en", "12’345.5", "12,345.5 | 12345.5"),
    ("und en", "12'345", "12,345 | 12345"),
    ("und en", "၅.၇%", "5.7% | 5.7 % | 5.7 percent | 5.7 per cent"),
    ("und en", "१०:३०", "10:30 | 10 : 30"),
    ("und en", "২৪/১২/২০০৮", "12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    ("und en", "24.12.2008", "12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    ("und en", "24-12-2008", "12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    ("und en", "2008/12/24", "12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    ("und en", "๒๐๐๘-๑๒-๒๔", "2008-12-24 | 2008 - 12 - 24 | 12/24/2008 | 12 / 24 / 2008 | " + DECEMBER),
    ("und en", "12.5.08", ""),
    # To such a language, what has no letters is also copied, and both forms of numbers are written.
    ("en und", "12", "12"),
    ("en und", "1,234.5", "1,234.5 | 1234.5 | 1.234,5 | 1234,5"),
    ("und und", "১২", "১২ | 12"),
    ("und und", "5 ％", "5 ％ | 5 % | 5%"),
    ("de und", "24.12.2008", "24.12.2008 | 24/12/2008 | 24 / 12 / 2008"),
    ("de und", "1,5 Millionen", "1,500,000 | 1500000 | 1.500.000"),
    ("de und", "5 Prozent", "5 % | 5%"),
    ("de und", "24. Dezember 2008", "2008 - 12 - 24 | 2008-12-24"),
    ("de und", "24. Dezember", ""),
    ("de und", "3. x", "3."),
]  # fmt: skip


@pytest.mark.parametrize(("languages", "phrase", "expected"), CASES)
def test_numbers(languages: str, phrase: str, expected: str) -> None:
    assert all_targets(languages, phrase) == {expected}


@pytest.mark.parametrize("source", CONVENTIONS)
def test_digits_of_all_scripts(source: Language) -> None:
    """Reads every decimal digit of Unicode, alone and in a number of all ten digits of its script."""
    digits = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) == "Nd"]
    scripts = ["".join(script) for script in zip(*[iter(digits)] * 10, strict=True)]
    values = {digit: str(int(unicodedata.numeric(digit))) for digit in digits}
    values |= {f"9{script}": "90123456789" for script in scripts}
    assert len(values) > 600
    for target, copies in (("en", False), ("und", True)):
        found: dict[str, list[str]] = {}
        for rule in NumberRules(source=source, target=target).rules(Sentence(tokens=list(values))):
            found.setdefault(" ".join(rule.source), []).append(" ".join(rule.target))
        for token, value in values.items():
            first = ([token] if copies else []) + [value]
            assert found[token][: len(set(first))] == list(dict.fromkeys(first)), token


@pytest.mark.parametrize(
    ("code", "language"),
    [
        *((language, language) for language in CONVENTIONS),
        *[
            ("de-AT", "de"),
            ("de-CH-1996", "de-CH"),
            ("DE-ch", "de-CH"),
            ("pt_BR", "pt"),
            ("zh-Hant-TW", "zh"),
        ],
        *[("bn", "und"), ("den", "und"), ("x-de", "und"), ("-de", "und"), ("", "und")],
    ],
)
def test_conventions_for_language_codes(code: str, language: str) -> None:
    assert convention_for(code) == language
