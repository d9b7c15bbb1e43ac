"""Numbers between conventions: what the digits and marks of one may mean, and how another writes that.

    numerals = Numerals(CONVENTIONS["de"])
    numerals.readings("1.234")             # [Number("1234", grouped=True)]
    written(number, convention, style)     # texts in one style of digits and marks: 1,234 and 1234

Digits are handled as text, so that numbers may have any number of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hiero.generators.conventions import ASCII, Convention, Style

# One character for one, so that positions stay.
_SAME = str.maketrans("．，、،％٪：／－＋", ".,,,%%:/-+")
_KANJI = str.maketrans("〇零一二三四五六七八九两兩", "0012345678922")
_SMALL_UNITS = re.compile("(?:([1-9]?)千)?(?:([1-9]?)百)?(?:([1-9]?)十)?([0-9])?")
# What has more digits is hardly an amount: it is not grouped, nor multiplied.
_LONGEST = 15
_SIGN = "[-+−]?+"


@dataclass(frozen=True)
class Number:
    """A decimal number: ASCII digits, and the sign as it was written.

    ``grouped`` says that thousands were marked, ``scaled`` that words or characters stood for powers of ten.
    """

    whole: str
    fraction: str = ""
    sign: str = ""
    grouped: bool = False
    scaled: bool = False


def plain(text: str) -> str:
    """The same text with digits in ASCII, and marks in one width."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text).translate(_SAME)


class Numerals:
    """The numbers of a convention: regular expressions for plain text in which blanks are where tokens end,
    and what they mean.

    ``tight`` are numbers without a blank, ``loose`` those whose marks tokenisers cut off (``3 . 5``) and
    thousands with a blank between them; ``expressions`` are for these and for numbers with words for powers
    of ten.
    """

    def __init__(self, convention: Convention) -> None:
        pairs = [(style.decimal, style.group) for style in convention.styles] + [*convention.also_read]
        self._pairs = list(dict.fromkeys((plain(decimal), plain(group)) for decimal, group in pairs))
        self._convention = convention
        decimals = any_of(decimal for decimal, _ in self._pairs)
        groups = sorted({group for _, group in self._pairs})
        tight = "|".join([*(_grouped(re.escape(g), convention.lakhs) for g in groups if g != " "), r"\d++"])
        loose = "|".join(
            _grouped(re.escape(g) if g == " " else f" {re.escape(g)} ", convention.lakhs) for g in groups
        )
        marks = sorted({mark for pair in self._pairs for mark in pair if mark != " "})
        # In an enumeration like 3 , 5 , 7 no comma is a mark of a number, and 234 567 no number in 1 234 567.
        apart = [f" {re.escape(mark)} " for mark in marks] + [" "] * (" " in groups)
        before = "".join(rf"(?<!\d{each})" for each in apart)
        self.tight = rf"{_SIGN}(?:{tight})(?:{decimals}\d++)?"
        self.loose = (
            rf"{before}{_SIGN}(?:(?:{loose})(?: ?{decimals} ?\d++)?|(?:{tight}) {decimals} \d++)"
            rf"(?! {any_of(marks)} \d)"
        )
        self._readers = [re.compile(self._reader(*pair)) for pair in self._pairs]
        self._scales = {name.casefold(): power for name, power in convention.scales_read.items()}
        for scale in convention.scales:
            self._scales |= {scale.one.casefold(): scale.power, scale.many.casefold(): scale.power}

    def plain(self, text: str) -> str:
        """Text as the expressions are for."""
        text = plain(text)
        return text.translate(_KANJI) if self._convention.kanji else text

    def expressions(self) -> list[str]:
        """One for each kind of number.

        In a language that chains powers of ten, what stands behind one is no number of its own: 25 thousand
        in ``4 lakh 25 thousand``.
        """
        chained = self._scales if self._convention.chain is not None else ()
        apart = "".join(rf"(?<!{re.escape(name)} )" for name in chained)
        return [apart + each for each in (self.tight, self.loose, *self._scaled_patterns())]

    def readings(self, text: str) -> list[Number]:
        """Lists the different numbers that a matched text may mean: in Urdu ``62٫000`` may be 62 or
        62,000."""
        return self._marked(text) or self._scaled(text)

    def _marked(self, text: str) -> list[Number]:
        matches = (reader.fullmatch(text) for reader in self._readers)
        return list(dict.fromkeys(_number(match) for match in matches if match is not None))

    def _scaled(self, text: str) -> list[Number]:
        """``4 lakh 25 thousand 529``: by falling powers of ten, each less than one of the power before."""
        value, least = 0, _LONGEST + 1
        for part, name in re.findall(rf"(.+?) ?({any_of(self._scales)}|$)", text, re.IGNORECASE):
            power = self._scales.get(name.casefold(), least) if name else 0
            amount = self._amount(part.strip(" "), power)
            if amount is None or power >= least or (value and amount >= 10**least):
                return []
            value, least = value + amount, power
        return [Number(str(value), scaled=True)]

    def is_word(self, text: str) -> bool:
        """Whether numerals as they stand are rather words, as single ones of Chinese characters are."""
        letters = text.replace(" ", "")
        if not self._convention.kanji or any(c.isdecimal() for c in letters):
            return False
        if all(c.translate(_KANJI).isdecimal() for c in letters):
            return len(letters) < 4 and not re.search("[〇零]", letters)
        return len(letters) < 2

    def _reader(self, decimal: str, group: str) -> str:
        mark = re.escape(group) if group == " " else f" ?{re.escape(group)} ?"
        whole = rf"(?P<grouped>{_grouped(mark, self._convention.lakhs)})|(?P<plain>\d++)"
        return rf"(?P<sign>{_SIGN})(?:{whole})(?: ?{re.escape(decimal)} ?(?P<fraction>\d++))?"

    def _scaled_patterns(self) -> Iterator[str]:
        """With one word for a power of ten, with several, and with the small units of Chinese characters."""
        if not self._scales:
            return
        number, rest = f"{self.loose}|{self.tight}", r"\d{1,4}+"
        if self._convention.kanji:
            units = r"(?:\d|(?=[十百千]))(?: ?[十百千]\d?(?: \d(?= ?[十百千]))?)++"
            number, rest = f"{units}|{number}", f"{units}|{rest}"
            yield units
        first = f"(?:{number}) ?{any_of(self._scales)}"
        yield first
        if self._convention.chain is not None:
            yield f"{first}(?: ?(?:{rest}) ?{any_of(self._scales)}){{0,4}}(?: ?(?:{rest}))?"

    def _amount(self, part: str, power: int) -> int | None:
        """A part of a number, times a power of ten."""
        if re.search("[十百千]", part):
            return _small(part, power)
        number = next(iter(self._marked(part)), None)
        if number is None or number.sign or len(number.whole) > _LONGEST or len(number.fraction) > power:
            return None
        return int(number.whole + number.fraction) * int(10 ** (power - len(number.fraction)))


def _small(text: str, power: int) -> int | None:
    """``2千3百``, times a power of ten."""
    match = _SMALL_UNITS.fullmatch(text.replace(" ", ""))
    if match is None:
        return None
    thousands, hundreds, tens, ones = (digit or "1" for digit in match.groups("0"))
    return int(thousands + hundreds + tens + ones) * int(10**power)


def any_of(texts: Iterable[str]) -> str:
    """An expression for one of several texts, the longest that is there."""
    return f"(?:{'|'.join(map(re.escape, sorted(set(texts), key=lambda text: (-len(text), text))))})"


def _grouped(mark: str, lakhs: bool) -> str:
    thousands = rf"(?!0)\d{{1,3}}(?:{mark}\d{{3}}){{1,6}}(?!\d)"
    return rf"{thousands}|(?!0)\d{{1,2}}(?:{mark}\d\d){{1,6}}{mark}\d{{3}}(?!\d)" if lakhs else thousands


def _number(match: re.Match[str]) -> Number:
    grouped = match["grouped"]
    whole = match["plain"] if grouped is None else re.sub(r"\D", "", grouped)
    return Number(whole, match["fraction"] or "", match["sign"], grouped is not None)


def written(number: Number, convention: Convention, style: Style) -> list[str]:
    """The texts of a number with the marks of a style, those most like what was read first; their digits are
    still ASCII's."""
    wholes = [number.whole]
    if number.grouped or number.scaled:
        wholes.insert(0, _with_marks(number.whole, style.group, convention.lakhs))
    elif 5 <= len(number.whole) <= _LONGEST and not number.whole.startswith("0"):
        wholes.append(_with_marks(number.whole, style.group, convention.lakhs))
    texts = [whole + (style.decimal + number.fraction if number.fraction else "") for whole in wholes]
    amount = int(number.whole) if len(number.whole) <= 2 * _LONGEST and not number.fraction else 0
    if amount and (number.scaled or (convention.chain is not None and amount % 10_000 == 0)):
        texts += _in_scales(amount, convention, style)
    return [number.sign + text for text in dict.fromkeys(texts)]


def in_digits(text: str, style: Style) -> str:
    """ASCII digits and per cent as a style has them."""
    return text.translate(str.maketrans(ASCII + "%", style.digits + style.percent))


def spread(text: str, style: Style) -> str:
    """The same number with blanks around its marks."""
    return re.sub(rf"(?<=\d)[{re.escape(style.decimal + style.group)}](?=\d)", r" \g<0> ", text)


def _with_marks(whole: str, mark: str, lakhs: bool) -> str:
    step = 2 if lakhs else 3
    return re.sub(rf"(?<=\d)(?=(?:\d{{{step}}})*\d{{3}}$)", mark, whole)


def _in_scales(value: int, convention: Convention, style: Style) -> list[str]:
    """``1.5 million`` in the largest scale that is at most the value; in a chain, all that there are."""
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
