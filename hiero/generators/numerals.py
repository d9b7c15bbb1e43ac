"""Conversion of numbers between conventions: the meaning of digits and marks, and the forms of a number.

    numerals = Numerals(CONVENTIONS["de"])
    numerals.readings("1.234")                 # [Number("1234", grouped=True)]
    format_number(number, convention, style)   # ["1,234", "1234"]

Digits are handled as text, so that numbers may have any number of digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hiero.generators.conventions import ASCII, Convention, Style

# Each character is replaced by exactly one, so that positions stay the same.
_NARROW = str.maketrans("．，、،％٪：／－＋", ".,,,%%:/-+")
_KANJI = str.maketrans("〇零一二三四五六七八九两兩", "0012345678922")
_SMALL_UNITS = re.compile("(?:([1-9]?)千)?(?:([1-9]?)百)?(?:([1-9]?)十)?([0-9])?")
# A number with more digits is probably not an amount: its thousands are not marked, and it has no scale.
_MAX_DIGITS = 15
_SIGN = "[-+−]?+"
# These marks are of Arabic digits. They are read in all languages, as digits of all scripts are.
_ARABIC_MARKS = ("٫", "٬")


@dataclass(frozen=True)
class Number:
    """A decimal number with ASCII digits, and its sign as it was written.

    ``grouped`` says that thousands were marked, ``scaled`` that words or characters stood for powers of ten.
    """

    whole: str
    fraction: str = ""
    sign: str = ""
    grouped: bool = False
    scaled: bool = False


def normalise(text: str) -> str:
    """Replaces all digits by ASCII digits and wide marks by narrow ones."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text).translate(_NARROW)


class Numerals:
    """The numbers of a convention: regular expressions to find them, and their meanings.

    The expressions are for normalised text in which a blank separates tokens. ``tight`` matches numbers
    without a blank. ``loose`` matches numbers whose marks are separate tokens (``3 . 5``), or that have a
    blank between thousands. ``expressions`` matches these and numbers with words for powers of ten.
    """

    def __init__(self, convention: Convention) -> None:
        pairs = [(style.decimal, style.group) for style in convention.styles]
        pairs += [*convention.also_read, _ARABIC_MARKS]
        self._pairs = list(dict.fromkeys((normalise(decimal), normalise(group)) for decimal, group in pairs))
        self._convention = convention
        self._lakhs = convention.lakhs or convention.lakhs_read
        decimals = alternatives(decimal for decimal, _ in self._pairs)
        groups = sorted({group for _, group in self._pairs})
        tight = "|".join([*(_grouped(re.escape(g), self._lakhs) for g in groups if g != " "), r"\d++"])
        loose = "|".join(
            _grouped(" ") if g == " " else _grouped(f" {re.escape(g)} ", self._lakhs) for g in groups
        )
        marks = sorted({mark for pair in self._pairs for mark in pair if mark != " "})
        # In an enumeration like 3 , 5 , 7 a comma does not belong to a number, and 1 234 567 does not contain
        # the number 234 567.
        separators = [f" {re.escape(mark)} " for mark in marks] + [" "] * (" " in groups)
        before = "".join(rf"(?<!\d{separator})" for separator in separators)
        self.tight = rf"{_SIGN}(?:{tight})(?:{decimals}\d++)?"
        self.loose = (
            rf"{before}{_SIGN}(?:(?:{loose})(?: ?{decimals} ?\d++)?|(?:{tight}) {decimals} \d++)"
            rf"(?! {alternatives(marks)} \d)"
        )
        self._readers = [re.compile(self._reader(*pair)) for pair in self._pairs]
        self._scales = {name.casefold(): power for name, power in convention.scales_read.items()}
        for scale in convention.scales:
            self._scales |= {scale.one.casefold(): scale.power, scale.many.casefold(): scale.power}

    def normalise(self, text: str) -> str:
        """Returns the text for which the expressions are made; positions stay the same."""
        text = normalise(text)
        return text.translate(_KANJI) if self._convention.kanji else text

    def expressions(self) -> list[str]:
        """Returns an expression for each kind of number.

        If a language chains powers of ten, a number after a power of ten is not a number of its own, like
        25 thousand in ``4 lakh 25 thousand``.
        """
        chained = self._scales if self._convention.chain is not None else ()
        before = "".join(rf"(?<!{re.escape(name)} )" for name in chained)
        return [before + expression for expression in (self.tight, self.loose, *self._scaled_patterns())]

    def readings(self, text: str) -> list[Number]:
        """Returns the different numbers that a matched text may mean.

        For example, ``62٫000`` in Urdu may be 62 or 62,000.
        """
        return self._parse_marked(text) or self._parse_scaled(text)

    def _parse_marked(self, text: str) -> list[Number]:
        matches = (reader.fullmatch(text) for reader in self._readers)
        return list(dict.fromkeys(_number(match) for match in matches if match is not None))

    def _parse_scaled(self, text: str) -> list[Number]:
        """Parses numbers such as ``4 lakh 25 thousand 529``.

        Powers of ten must fall, and each part must be less than the previous power of ten.
        """
        value, previous_power = 0, _MAX_DIGITS + 1
        for part, name in re.findall(rf"(.+?) ?({alternatives(self._scales)}|$)", text, re.IGNORECASE):
            power = self._scales.get(name.casefold(), previous_power) if name else 0
            amount = self._amount(part.strip(" "), power)
            if amount is None or power >= previous_power or (value and amount >= 10**previous_power):
                return []
            value, previous_power = value + amount, power
        return [Number(str(value), scaled=True)]

    def is_word(self, text: str) -> bool:
        """Returns whether numerals are probably a word, like most single Chinese characters."""
        letters = text.replace(" ", "")
        if not self._convention.kanji or any(c.isdecimal() for c in letters):
            return False
        if all(c.translate(_KANJI).isdecimal() for c in letters):
            return len(letters) < 4 and not re.search("[〇零]", letters)
        return len(letters) < 2

    def _reader(self, decimal: str, group: str) -> str:
        mark = re.escape(group) if group == " " else f" ?{re.escape(group)} ?"
        whole = rf"(?P<grouped>{_grouped(mark, self._lakhs)})|(?P<plain>\d++)"
        return rf"(?P<sign>{_SIGN})(?:{whole})(?: ?{re.escape(decimal)} ?(?P<fraction>\d++))?"

    def _scaled_patterns(self) -> Iterator[str]:
        """Yields expressions for the small units of Chinese characters, and for one or more powers of ten."""
        if not self._scales:
            return
        number, remainder = f"{self.loose}|{self.tight}", r"\d{1,4}+"
        if self._convention.kanji:
            units = r"(?:\d|(?=[十百千]))(?: ?[十百千]\d?(?: \d(?= ?[十百千]))?)++"
            number, remainder = f"{units}|{number}", f"{units}|{remainder}"
            yield units
        first = f"(?:{number}) ?{alternatives(self._scales)}"
        yield first
        if self._convention.chain is not None:
            parts = rf"(?: ?(?:{remainder}) ?{alternatives(self._scales)}){{0,4}}"
            yield f"{first}{parts}(?: ?(?:{remainder}))?"

    def _amount(self, part: str, power: int) -> int | None:
        """Returns the value of a part of a number times a power of ten; None if it is not an integer."""
        if re.search("[十百千]", part):
            return _parse_small_units(part, power)
        number = next(iter(self._parse_marked(part)), None)
        if number is None or number.sign or len(number.whole) > _MAX_DIGITS or len(number.fraction) > power:
            return None
        return int(number.whole + number.fraction) * int(10 ** (power - len(number.fraction)))


def _parse_small_units(text: str, power: int) -> int | None:
    """Returns the value of a number such as ``2千3百`` times a power of ten."""
    match = _SMALL_UNITS.fullmatch(text.replace(" ", ""))
    if match is None:
        return None
    thousands, hundreds, tens, ones = (digit or "1" for digit in match.groups("0"))
    return int(thousands + hundreds + tens + ones) * int(10**power)


def alternatives(texts: Iterable[str]) -> str:
    """Returns an expression that matches one of several texts, the longest possible."""
    return f"(?:{'|'.join(map(re.escape, sorted(set(texts), key=lambda text: (-len(text), text))))})"


def _grouped(mark: str, lakhs: bool = False) -> str:
    """Returns an expression for digits with marks between thousands; with ``lakhs``, also groups of two."""
    thousands = rf"(?!0)\d{{1,3}}(?:{mark}\d{{3}}){{1,6}}(?!\d)"
    return rf"{thousands}|(?!0)\d{{1,2}}(?:{mark}\d\d){{1,6}}{mark}\d{{3}}(?!\d)" if lakhs else thousands


def _number(match: re.Match[str]) -> Number:
    grouped = match["grouped"]
    whole = match["plain"] if grouped is None else re.sub(r"\D", "", grouped)
    return Number(whole, match["fraction"] or "", match["sign"], grouped is not None)


def format_number(number: Number, convention: Convention, style: Style) -> list[str]:
    """Returns the forms of a number with the marks of a style, those most similar to its source first.

    Digits are still ASCII.
    """
    wholes = [number.whole]
    if number.grouped or number.scaled:
        wholes.insert(0, _with_marks(number.whole, style.group, convention.lakhs))
    elif 5 <= len(number.whole) <= _MAX_DIGITS and not number.whole.startswith("0"):
        wholes.append(_with_marks(number.whole, style.group, convention.lakhs))
    texts = [whole + (style.decimal + number.fraction if number.fraction else "") for whole in wholes]
    amount = int(number.whole) if len(number.whole) <= 2 * _MAX_DIGITS and not number.fraction else 0
    if amount and (number.scaled or (convention.chain is not None and amount % 10_000 == 0)):
        texts += _in_scales(amount, convention, style)
    return [number.sign + text for text in dict.fromkeys(texts)]


def apply_style(text: str, style: Style) -> str:
    """Replaces ASCII digits and the per cent sign by those of a style."""
    return text.translate(str.maketrans(ASCII + "%", style.digits + style.percent))


def space_marks(text: str, style: Style) -> str:
    """Puts blanks around the marks of a number."""
    return re.sub(rf"(?<=\d)[{re.escape(style.decimal + style.group)}](?=\d)", r" \g<0> ", text)


def _with_marks(whole: str, mark: str, lakhs: bool) -> str:
    step = 2 if lakhs else 3
    return re.sub(rf"(?<=\d)(?=(?:\d{{{step}}})*\d{{3}}$)", mark, whole)


def _in_scales(value: int, convention: Convention, style: Style) -> list[str]:
    """Returns forms such as ``1.5 million``, with the largest possible scale, and the form with all scales.

    The form with all scales is used only in conventions that chain them.
    """
    blank = " " if convention.chain is None else convention.chain
    texts = []
    for scale in convention.scales:
        count, rest = divmod(value, 10**scale.power)
        hundredths, below = divmod(rest, 10 ** (scale.power - 2))
        if 0 < count < 10_000 and not below:
            fraction = f"{style.decimal}{hundredths:02}".rstrip("0") if hundredths else ""
            name = scale.one if count == 1 and not fraction else scale.many
            texts.append(f"{count}{fraction}{blank}{name}")
            break
    if convention.chain is not None:
        parts = []
        for scale in convention.scales:
            count, value = divmod(value, 10**scale.power)
            parts += [f"{count}{blank}{scale.many}"] if count else []
        texts.append(blank.join([*parts, *([str(value)] if value else [])]))
    return texts
