"""Tests of words for powers of ten and months in all languages, against tables independent of the program."""

from __future__ import annotations

import itertools

import pytest

from hiero.generators import CONVENTIONS
from support.generated_rules import generate_rules, number_rules, targets

# By language and power of ten: the words that are written after one and after three, and words that are only
# read.
SCALES = {
    "en": {
        3: ("thousand", "thousand"),
        6: ("million", "million"),
        9: ("billion", "billion"),
        12: ("trillion", "trillion"),
    },
    "de": {6: ("Million", "Millionen"), 9: ("Milliarde", "Milliarden"), 12: ("Billion", "Billionen")},
    "fr": {6: ("million", "millions"), 9: ("milliard", "milliards")},
    "es": {6: ("millón", "millones"), 9: ("mil millones", "mil millones")},
    "it": {6: ("milione", "milioni"), 9: ("miliardo", "miliardi")},
    "pt": {6: ("milhão", "milhões")},
    "ur": {3: ("ہزار",) * 2, 5: ("لاکھ",) * 2, 7: ("کروڑ",) * 2, 9: ("ارب",) * 2},
    "fa": {3: ("هزار",) * 2, 6: ("میلیون",) * 2, 9: ("میلیارد",) * 2},
    "ar": {},
    "hi": {3: ("हजार",) * 2, 5: ("लाख",) * 2, 7: ("करोड़",) * 2, 9: ("अरब",) * 2},
    "ja": {4: ("万",) * 2, 8: ("億",) * 2, 12: ("兆",) * 2},
    "zh": {4: ("万",) * 2, 8: ("亿",) * 2},
}
ALSO_READ = {
    "en": {"lakh": 5, "lakhs": 5, "crore": 7, "crores": 7},
    "de": {"Tausend": 3, "Mio.": 6, "Mrd.": 9},
    "es": {"mil": 3},
    "pt": {"mil": 3, "mil milhões": 9, "bilhão": 9, "bilhões": 9},
    "ur": {"سو": 2, "ملین": 6, "بلین": 9},
    "ar": {"ألف": 3, "آلاف": 3, "مليون": 6, "ملايين": 6, "مليار": 9, "مليارات": 9},
    "hi": {"सौ": 2, "हज़ार": 3},
    "zh": {"萬": 4, "億": 8, "万亿": 12},
}
# Three of each power of ten, in English.
ENGLISH = {
    **{3: "3 thousand", 4: "30 thousand", 5: "3 lakh", 6: "3 million", 7: "3 crore", 8: "300 million"},
    **{9: "3 billion", 12: "3 trillion"},
}
# The fifth day of each month as it is written, and other names of months that are only read.
MONTHS = {
    "en": ("{} 5", "January February March April May June July August September October November December"),
    "de": ("5. {}", "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    "fr": ("5 {}", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    "es": (
        "5 de {}",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    ),
    "it": (
        "5 {}",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    ),
    "pt": (
        "5 de {}",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    ),
    "ur": ("5 {}", "جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر"),
    "fa": ("۵ {}", "ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر"),
    "ar": ("٥ {}", "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"),
    "hi": ("5 {}", "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर"),
    "ja": ("{}月5日", "1 2 3 4 5 6 7 8 9 10 11 12"),
    "zh": ("{}月5日", "1 2 3 4 5 6 7 8 9 10 11 12"),
}
OTHER_MONTHS = {
    "en": {
        **{"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Sept": 9},
        **{"Oct": 10, "Nov": 11, "Dec": 12, "Jan.": 1, "Feb.": 2, "Mar.": 3, "Apr.": 4, "Jun.": 6},
        **{"Jul.": 7, "Aug.": 8, "Sep.": 9, "Sept.": 9, "Oct.": 10, "Nov.": 11, "Dec.": 12},
    },
    "de": {
        **{"Jan.": 1, "Jänner": 1, "Feb.": 2, "Apr.": 4, "Aug.": 8, "Sept.": 9, "Okt.": 10},
        **{"Nov.": 11, "Dez.": 12},
    },
    "fr": {"aout": 8},
    "es": {"setiembre": 9},
    "ar": {
        **{"ابريل": 4, "إبريل": 4, "يونيه": 6, "يوليه": 7, "اغسطس": 8, "اكتوبر": 10},
    },
    "hi": {"फ़रवरी": 2, "सितम्बर": 9, "अक्तूबर": 10, "नवम्बर": 11, "दिसम्बर": 12},
}
LANGUAGES = sorted({*CONVENTIONS} - {"und"})


def language_entry(language: str, table: dict[str, dict]) -> dict:  # type: ignore[type-arg]
    """Returns the entry of a language. A language with a country has that of the language without it."""
    return table.get(language.partition("-")[0], {})


def translations(languages: str, phrase: str) -> list[str]:
    """Returns all translations of a phrase as a whole sentence."""
    return targets(generate_rules(number_rules(languages), phrase), phrase)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_for_powers_of_ten(language: str) -> None:
    written, read = language_entry(language, SCALES), dict(language_entry(language, ALSO_READ))
    read |= {word: power for power, words in written.items() for word in words}
    convention = CONVENTIONS[language]
    there = {word for scale in convention.scales for word in (scale.one, scale.many)}
    assert set(read) == there | set(convention.scales_read), "a word that no test knows, or one too few"
    for word, power in read.items():
        first, *_ = translations(f"{language} en", f"3 {word}")
        assert int(first.replace(",", "")) == 3 * 10**power, word
    for power, (one, many) in written.items():
        assert f"3 {many}" in translations(f"en {language}", ENGLISH[power])
        if ENGLISH[power].startswith("3 "):
            assert f"1 {one}" in translations(f"en {language}", ENGLISH[power].replace("3", "1"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_months(language: str) -> None:
    pattern, text = MONTHS[language.partition("-")[0]]
    names, others = text.split(), language_entry(language, OTHER_MONTHS)
    months = set(itertools.chain.from_iterable(CONVENTIONS[language].months))
    assert months == (set() if names[0] == "1" else {*names, *others})
    english = MONTHS["en"][1].split()
    for month, name in enumerate(names, start=1):
        phrase = pattern.format(name)
        assert translations(f"{language} en", phrase)[0] == f"{english[month - 1]} 5"
        results = translations(f"en {language}", f"{english[month - 1]} 5")
        assert phrase in (results[0], results[0].replace(" ", ""))
    for name, month in others.items():
        assert translations(f"{language} en", pattern.format(name))[0] == f"{english[month - 1]} 5"


def test_hundredths_of_a_power_of_ten() -> None:
    """Translates all numbers from 0.01 to 9.99 million."""
    for hundredths in range(1, 1000):
        whole, rest = divmod(hundredths, 100)
        text = f"{whole}.{rest:02}".rstrip("0").rstrip(".")
        results = translations("en de", f"{text} million")
        assert results[0] == f"{hundredths * 10_000:,}".replace(",", ".")
        if whole:
            word = "Million" if text == "1" else "Millionen"
            assert results[-1] == f"{text.replace('.', ',')} {word}"
