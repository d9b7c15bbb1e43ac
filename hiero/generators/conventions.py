"""The table of conventions for ``NumberRules``: how languages write numbers, ordinals, dates and times.

Templates describe the forms of a language, for reading and for writing: ``{d}.{m}.{y}`` is a German date. The
fields of templates are

    n; a, b             a number with its marks; two such numbers
    i, j                digits
    h, min, s           a time of day
    d, dd, day, dth     a day: unchanged, with two digits, without leading zero, as an ordinal
    m, mm, mon, month   a month: unchanged, with two digits, without leading zero, its name
    y, yyyy, year       a year: of two or four digits, of four, of three or four

A tokeniser may split or join text between fields; a blank in a template is always written. To add a language,
add a line here, its name to ``Language``, its words to ``tests/generators/test_number_words.py``, and cases
to ``tests/generators/test_generators.py``.

``und`` stands for any other language. It has the forms that most languages share, and reads numbers with
either meaning of the full stop and the comma. ``convention_for`` finds the convention for a language code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

Language = Literal[
    "ar", "de", "de-CH", "en", "en-GB", "es", "fa", "fr", "hi", "it", "ja", "pt", "und", "ur", "zh"
]  # fmt: skip

ASCII = "0123456789"
WIDE = "０１２３４５６７８９"
ARABIC = "٠١٢٣٤٥٦٧٨٩"
EASTERN_ARABIC = "۰۱۲۳۴۵۶۷۸۹"
DEVANAGARI = "०१२३४५६७८९"


class Style(NamedTuple):
    """The digits, the decimal mark, the mark between thousands, and the per cent sign."""

    digits: str
    decimal: str
    group: str
    percent: str = "%"


class Scale(NamedTuple):
    """A word for a power of ten: its form after one, and after other numbers."""

    power: int
    one: str
    many: str


@dataclass(frozen=True)
class Convention:
    """The forms that one language uses.

    All templates are used for reading. For writing, all templates that have the right fields are used, except
    that only the first such template in ``dates`` is used.
    """

    styles: tuple[Style, ...]
    # Other decimal marks and marks between thousands, for reading only.
    also_read: tuple[tuple[str, str], ...] = ()
    # Whether groups to the left of the thousands have two digits: 12,34,567.
    lakhs: bool = False
    # Whether such groups are also read where they are not written. They are never separated by blanks.
    lakhs_read: bool = False
    percents: tuple[str, ...] = ("{n}%",)
    # Templates for ordinals, by patterns of their digits. For writing, the first match is used.
    ordinals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Years with a word that marks them as years of the common era, or of the hijra.
    years: tuple[str, ...] = ()
    hijri_years: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    # Dates with the name of the month, or dates that are as easy to recognise; without any, dates with the
    # name of the month are written as ISO dates.
    named_dates: tuple[str, ...] = ()
    months: tuple[tuple[str, ...], ...] = ()
    # The text after the 1 of the first day of a month.
    first: str = ""
    times: tuple[str, ...] = ("{h}:{min}", "{h}:{min}:{s}")
    scales: tuple[Scale, ...] = ()
    # Other words for powers of ten, for reading only.
    scales_read: Mapping[str, int] = field(default_factory=dict)
    # The text between several scales of one number (3億5000万); None if a number has only one scale.
    chain: str | None = None
    # Whether numerals are written with 〇 to 九, 十, 百 and 千.
    kanji: bool = False


def _months(text: str) -> tuple[tuple[str, ...], ...]:
    """Parses names of months, such as ``January/Jan February/Feb``. The first name is used for writing."""
    names = tuple(tuple(month.split("/")) for month in text.split())
    assert len(names) == 12
    return names


_ENGLISH = Convention(
    styles=(Style(ASCII, ".", ","),),
    percents=("{n}%", "{n} percent", "{n} per cent"),
    ordinals={
        r"(.*[^1])?1": ("{i}st",),
        r"(.*[^1])?2": ("{i}nd",),
        r"(.*[^1])?3": ("{i}rd",),
        r".*": ("{i}th",),
    },
    hijri_years=("{i} AH", "AH {i}"),
    dates=("{m}/{d}/{y}", "{m}-{d}-{y}"),
    named_dates=(
        *("{month} {day}, {year}", "{month} {day} {year}", "{day} {month} {year}", "{dth} {month} {year}"),
        *("{dth} of {month} {year}", "{month} {dth}, {year}", "{month} {dth} {year}"),
        *("{month} {day}", "{day} {month}", "{dth} {month}", "{dth} of {month}", "{month} {dth}"),
    ),
    months=_months(
        "January/Jan/Jan. February/Feb/Feb. March/Mar/Mar. April/Apr/Apr. May June/Jun/Jun. July/Jul/Jul. "
        "August/Aug/Aug. September/Sept/Sept./Sep/Sep. October/Oct/Oct. November/Nov/Nov. December/Dec/Dec."
    ),
    scales=(
        Scale(12, "trillion", "trillion"),
        Scale(9, "billion", "billion"),
        Scale(6, "million", "million"),
        Scale(3, "thousand", "thousand"),
    ),
    scales_read={"lakh": 5, "lakhs": 5, "crore": 7, "crores": 7},
)
_GERMAN = Convention(
    styles=(Style(ASCII, ",", "."),),
    percents=("{n} %", "{n} Prozent"),
    ordinals={".*": ("{i}.",)},
    dates=("{d}.{m}.{y}", "{d}.{m}."),
    named_dates=("{dth} {month} {year}", "{dth} {month}"),
    months=_months(
        "Januar/Jan./Jänner Februar/Feb. März April/Apr. Mai Juni Juli August/Aug. September/Sept. "
        "Oktober/Okt. November/Nov. Dezember/Dez."
    ),
    scales=(
        Scale(12, "Billion", "Billionen"),
        Scale(9, "Milliarde", "Milliarden"),
        Scale(6, "Million", "Millionen"),
    ),
    scales_read={"Tausend": 3, "Mio.": 6, "Mrd.": 9},
)
_SPANISH_ORDINALS = ("{i}.º", "{i}.ª", "{i}º", "{i}ª")
_SPANISH_DATES = ("{day} de {month} de {year}", "{day} de {month}")
_EAST_ASIAN = Convention(
    styles=(Style(ASCII, ".", ","), Style(WIDE, "．", "，", "％")),
    ordinals={".*": ("第{i}",)},
    years=("{year}年",),
    dates=("{yyyy}/{m}/{d}",),
    named_dates=("{year}年{mon}月{day}日", "{mon}月{day}日"),
    scales=(Scale(12, "兆", "兆"), Scale(8, "億", "億"), Scale(4, "万", "万")),
    chain="",
    kanji=True,
)

CONVENTIONS: Mapping[Language, Convention] = {
    "en": _ENGLISH,
    "en-GB": replace(_ENGLISH, dates=("{d}/{m}/{y}", "{d}-{m}-{y}", "{d}.{m}.{y}")),
    "de": _GERMAN,
    "de-CH": replace(
        _GERMAN, styles=(Style(ASCII, ".", "’"), Style(ASCII, ".", "'")), also_read=((",", "’"),)
    ),
    "fr": Convention(
        styles=(Style(ASCII, ",", " "), Style(ASCII, ",", "\u202f")),
        also_read=((",", "\u00a0"), (",", "\u2009")),
        percents=("{n} %", "{n} pour cent"),
        ordinals={"1": ("{i}er", "{i}re"), ".*": ("{i}e", "{i}ème")},
        dates=("{d}/{m}/{y}", "{d}.{m}.{y}"),
        named_dates=("{day} {month} {year}", "{day} {month}"),
        months=_months(
            "janvier février mars avril mai juin juillet août/aout septembre octobre novembre décembre"
        ),
        first="er",
        times=("{h}h{min}", "{h}:{min}", "{h}:{min}:{s}"),
        scales=(Scale(9, "milliard", "milliards"), Scale(6, "million", "millions")),
    ),
    "es": Convention(
        styles=(Style(ASCII, ",", "."),),
        percents=("{n} %", "{n} por ciento"),
        ordinals={"[13]": ("{i}.º", "{i}.ª", "{i}.er", "{i}º", "{i}ª"), ".*": _SPANISH_ORDINALS},
        dates=("{d}/{m}/{y}", "{d}-{m}-{y}"),
        named_dates=_SPANISH_DATES,
        months=_months(
            "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre "
            "diciembre"
        ),
        scales=(
            Scale(9, "mil millones", "mil millones"),
            Scale(6, "millón", "millones"),
        ),
        scales_read={"mil": 3},
    ),
    "it": Convention(
        styles=(Style(ASCII, ",", "."),),
        percents=("{n}%", "{n} per cento"),
        ordinals={".*": ("{i}º", "{i}ª", "{i}°")},
        dates=("{d}/{m}/{y}",),
        named_dates=("{day} {month} {year}", "{day} {month}"),
        months=_months(
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
        ),
        first="º",
        scales=(Scale(9, "miliardo", "miliardi"), Scale(6, "milione", "milioni")),
    ),
    "pt": Convention(
        styles=(Style(ASCII, ",", "."),),
        percents=("{n}%", "{n} por cento"),
        ordinals={".*": _SPANISH_ORDINALS},
        dates=("{d}/{m}/{y}", "{d}-{m}-{y}"),
        named_dates=_SPANISH_DATES,
        months=_months(
            "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
        ),
        first="º",
        scales=(Scale(6, "milhão", "milhões"),),
        scales_read={"mil": 3, "mil milhões": 9, "bilhão": 9, "bilhões": 9},
    ),
    "ur": Convention(
        styles=(Style(ASCII, ".", ","), Style(EASTERN_ARABIC, "٫", "٬", "٪")),
        # ٫ is also used between thousands; اعشاریہ means "point".
        also_read=((".", "٫"), ("اعشاریہ", ",")),
        lakhs=True,
        percents=("{n}%", "{n} فیصد", "{n} فی صد"),
        ordinals={".*": ("{i}ویں", "{i}واں")},
        years=("{year}ء", "{year} عیسوی"),
        hijri_years=("{i}ھ", "{i} ہجری", "{i} ھجری"),
        dates=("{d}/{m}/{y}", "{d}-{m}-{y}"),
        named_dates=("{day} {month} {year}ء", "{day} {month} {year}", "{day} {month}"),
        months=_months("جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر"),
        scales=(
            Scale(9, "ارب", "ارب"),
            Scale(7, "کروڑ", "کروڑ"),
            Scale(5, "لاکھ", "لاکھ"),
            Scale(3, "ہزار", "ہزار"),
        ),
        scales_read={"سو": 2, "ملین": 6, "بلین": 9},
        chain=" ",
    ),
    "fa": Convention(
        styles=(Style(EASTERN_ARABIC, "٫", "٬", "٪"), Style(ASCII, ".", ",")),
        percents=("{n}%", "{n} درصد"),
        named_dates=("{day} {month} {year}", "{day} {month}"),
        months=_months("ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر"),
        scales=(Scale(9, "میلیارد", "میلیارد"), Scale(6, "میلیون", "میلیون"), Scale(3, "هزار", "هزار")),
    ),
    "ar": Convention(
        styles=(Style(ARABIC, "٫", "٬", "٪"), Style(ASCII, ".", ",")),
        percents=("{n}%", "{n} في المئة"),
        hijri_years=("{i} هـ", "{i} ه"),
        dates=("{d}/{m}/{y}", "{d}-{m}-{y}"),
        named_dates=("{day} {month} {year}", "{day} {month}"),
        months=_months(
            "يناير فبراير مارس أبريل/ابريل/إبريل مايو يونيو/يونيه يوليو/يوليه أغسطس/اغسطس سبتمبر "
            "أكتوبر/اكتوبر نوفمبر ديسمبر"
        ),
        # The forms of these words depend on the number, so they are only read.
        scales_read={"ألف": 3, "آلاف": 3, "مليون": 6, "ملايين": 6, "مليار": 9, "مليارات": 9},
    ),
    "hi": Convention(
        styles=(Style(ASCII, ".", ","), Style(DEVANAGARI, ".", ",")),
        lakhs=True,
        percents=("{n}%", "{n} प्रतिशत", "{n} फीसदी"),
        ordinals={".*": ("{i}वें", "{i}वीं", "{i}वां", "{i}वाँ")},
        dates=("{d}/{m}/{y}", "{d}-{m}-{y}"),
        named_dates=("{day} {month} {year}", "{day} {month}"),
        months=_months(
            "जनवरी फरवरी/फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर"
        ),
        scales=(
            Scale(9, "अरब", "अरब"),
            Scale(7, "करोड़", "करोड़"),
            Scale(5, "लाख", "लाख"),
            Scale(3, "हजार", "हजार"),
        ),
        scales_read={"सौ": 2, "हज़ार": 3},
        chain=" ",
    ),
    "ja": _EAST_ASIAN,
    "zh": replace(
        _EAST_ASIAN,
        percents=("{n}%", "百分之{n}"),
        scales=(Scale(8, "亿", "亿"), Scale(4, "万", "万")),
        scales_read={"億": 8, "萬": 4, "万亿": 12},
    ),
    "und": Convention(
        styles=(Style(ASCII, ".", ","), Style(ASCII, ",", ".")),
        also_read=(
            *((",", blank) for blank in (" ", "\u00a0", "\u202f", "\u2009")),
            *((".", apostrophe) for apostrophe in ("’", "'")),
        ),
        lakhs_read=True,
        # Most countries write the day first. Years of two digits are left out, as they may be days.
        dates=("{d}/{m}/{yyyy}", "{d}.{m}.{yyyy}", "{d}-{m}-{yyyy}", "{yyyy}/{m}/{d}"),
    ),
}


def convention_for(language: str) -> Language:
    """Returns the language whose convention is used for a language code such as ``pt-BR``.

    This is the language itself, whatever its case; else the language without its last subtags, such as that
    of the country; else ``und``.
    """
    names = {name.lower(): name for name in CONVENTIONS}
    code = language.replace("_", "-").lower()
    while code:
        if code in names:
            return names[code]
        code = code.rpartition("-")[0]
    return "und"
