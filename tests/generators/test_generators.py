"""Tests of generated rules: numbers and dates in the conventions of two languages, and names."""

from __future__ import annotations

import gzip
import pickle
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiero import FormatError
from hiero.features.sentence import Sentence
from hiero.generators import (
    CONVENTIONS,
    NameRules,
    NumberRules,
)
from hiero.text import TextSide
from support.generated_rules import all_targets, generate_rules, targets

# Languages, source phrase, all translations.
CASES = [
    # Integers and decimals. The convention of the language decides how to read an ambiguous number.
    ("de en", "7", "7"),
    ("de en", "1.234", "1,234 | 1234"),
    ("de en", "1.234.567,89", "1,234,567.89 | 1234567.89"),
    ("de en", "3,5", "3.5"),
    ("de en", "-3,5", "-3.5"),
    ("de en", "2008", "2008"),
    ("de en", "20000", "20000 | 20,000"),
    ("de en", "0095", "0095"),
    ("en de", "1.234", "1,234"),
    ("en de", "1,234", "1.234 | 1234"),
    ("en de", "1,23", ""),
    ("en en", "1,234.5", "1,234.5 | 1234.5"),
    ("en fr", "1,234.5", "1 234,5 | 1234,5 | 1\u202f234,5"),
    ("fr en", "1\u202f234,5", "1,234.5 | 1234.5"),
    ("fr en", "1\u00a0234", "1,234 | 1234"),
    ("fr en", "1 234,5", "1 , 234 . 5 | 1234 . 5 | 1,234.5 | 1234.5"),
    ("fr en", "1 234", "1 , 234 | 1234 | 1,234"),
    ("en de-CH", "1,234.5", "1’234.5 | 1234.5 | 1'234.5"),
    ("de-CH en", "1'234", "1,234 | 1234"),
    ("hi en", "12,34,567", "1,234,567 | 1234567"),
    ("en hi", "1,234,567", "12,34,567 | 1234567 | १२,३४,५६७ | १२३४५६७"),
    ("fa en", "۳٫۵", "3.5"),
    ("ar en", "٣٫٥", "3.5"),
    ("en ar", "1,234.5", "١٬٢٣٤٫٥ | ١٢٣٤٫٥ | 1,234.5 | 1234.5"),
    ("ja en", "１２", "12"),
    ("ja en", "１，２３４．５", "1,234.5 | 1234.5"),
    ("en ja", "5", "5 | ５"),
    # In Urdu, ٫ and the comma also separate thousands.
    ("ur en", "62٫000", "62.000 | 62,000 | 62000"),
    ("ur en", "3 ، 527", "3 , 527 | 3527 | 3,527"),
    ("ur en", "94 اعشاریہ 04", "94 . 04 | 94.04"),
    # Marks that a tokeniser split off may be separate marks; in an enumeration they are.
    ("en de", "3 . 5", "3 , 5 | 3,5"),
    ("de en", "1 . 234 , 5", "1 , 234 . 5 | 1234 . 5 | 1,234.5 | 1234.5"),
    ("de en", "3 , 5 , 7", ""),
    ("de en", "5 , 7", ""),
    # Powers of ten as words and as characters.
    ("ur en", "4 لاکھ 25 ہزار 529", "425,529 | 425529"),
    ("ur en", "51 لاکھ 13 ہزار 1 سو 49", "5,113,149 | 5113149"),
    ("ur en", "5 ہزار 2008", ""),
    (
        "en ja",
        "1.5 million",
        "1,500,000 | 1500000 | 150 万 | 150万 | １，５００，０００ | １５０００００ | １５０ 万 | １５０万",
    ),
    ("de en", "1,5 Mio.", "1,500,000 | 1500000 | 1.5 million"),
    ("de en", "1,05 Millionen", "1,050,000 | 1050000 | 1.05 million"),
    ("en de", "2.07 billion", "2.070.000.000 | 2070000000 | 2,07 Milliarden"),
    ("en de", "1 million", "1.000.000 | 1000000 | 1 Million"),
    ("en es", "3 billion", "3.000.000.000 | 3000000000 | 3 mil millones"),
    ("es en", "3 mil millones", "3,000,000,000 | 3000000000 | 3 billion"),
    ("en en", "1,234,567 million", "1,234,567,000,000 | 1234567000000"),
    ("ja en", "３億５０００万", "350,000,000 | 350000000 | 350 million"),
    ("ja en", "１００ 万", "1,000,000 | 1000000 | 1 million"),
    ("ja en", "二千三百万", "23,000,000 | 23000000 | 23 million"),
    ("ja en", "八百", "800"),
    ("zh en", "六百 三十", "630"),
    ("zh en", "四千 四百 二十五", "4,425 | 4425"),
    ("zh en", "三十 五", ""),
    ("ja en", "二〇〇八", "2008"),
    ("zh en", "1.5亿", "150,000,000 | 150000000 | 150 million"),
    (
        "zh ja",
        "3 亿",
        "300,000,000 | 300000000 | 3 億 | 3億 | ３００，０００，０００ | ３００００００００ | ３ 億 | ３億",
    ),
    # Number characters that are words, or no numbers.
    ("ja en", "一", ""),
    ("ja en", "十", ""),
    ("ja en", "二三", ""),
    ("ja en", "万一", ""),
    ("ja en", "十千", ""),
    ("ja en", "２、３", ""),
    # Percentages and ordinals.
    ("de en", "3,5 %", "3.5 % | 3.5% | 3.5 percent | 3.5 per cent"),
    ("en de", "3.5%", "3,5 % | 3,5 Prozent"),
    (
        "de en",
        "3 , 5 %",
        "3 . 5 % | 3 . 5 percent | 3 . 5 per cent | 3.5 % | 3.5% | 3.5 percent | 3.5 per cent",
    ),
    ("ur en", "49 فیصد", "49 % | 49% | 49 percent | 49 per cent"),
    ("en fa", "5%", "۵٪ | ۵ ٪ | ۵ درصد | 5% | 5 % | 5 درصد"),
    ("de en", "3. x", "3rd"),
    ("de en", "21. x", "21st"),
    ("de en", "112. x", "112th"),
    ("en de", "3rd", "3. | 3 ."),
    ("en fr", "1st", "1er | 1re"),
    ("en fr", "2nd", "2e | 2ème"),
    ("en ja", "2nd", "第2 | 第 2 | 第２ | 第 ２"),
    ("ja en", "第 ２", "2nd"),
    ("zh en", "百分之 5", "5 % | 5% | 5 percent | 5 per cent"),
    ("en zh", "5%", "5% | 5 % | 百分之5 | 百分之 5 | ５％ | ５ ％ | 百分之５ | 百分之 ５"),
    ("en ar", "2nd", ""),
    ("ur en", "21 ویں", "21st"),
    # A full stop at the end of a sentence may be the end of the sentence; a separate one always is.
    ("de en", "28.", "28th | 28. | 28 ."),
    ("de en", "28 .", ""),
    ("en de", "28.", "28. | 28 ."),
    # Years.
    ("ur en", "1889ء", "1889"),
    ("ur en", "60ھ", "60 AH | AH 60"),
    ("ja ur", "２００８年", "2008ء | 2008 عیسوی | ۲۰۰۸ء | ۲۰۰۸ عیسوی"),
    # Dates, in the order of the convention.
    ("de en-GB", "24.12.08", "24/12/08 | 24 / 12 / 08"),
    ("de fr", "24.12.2008", "24/12/2008 | 24 / 12 / 2008 | 24 décembre 2008"),
    ("en de", "12/24/2008", "24.12.2008 | 24 . 12 . 2008 | 24. Dezember 2008"),
    ("en de", "24/12/2008", ""),
    ("en de", "12/13/14", "13.12.14 | 13 . 12 . 14"),
    ("en-GB de", "12/13/14", ""),
    ("de fr", "24.12. x", "24 décembre"),
    ("fr de", "2008-01-05", "2008-01-05 | 2008 - 01 - 05 | 05.01.2008 | 05 . 01 . 2008 | 5. Januar 2008"),
    ("en fr", "May 1", "1er mai"),
    ("fr de", "1er mai", "1. Mai"),
    ("en de", "december 24 , 2008", "24. Dezember 2008"),
    ("en de", "24th of December 2008", "24. Dezember 2008"),
    ("de es", "24. Dezember 2008", "24 de diciembre de 2008"),
    ("ur de", "23 جولائی 645ء", "23. Juli 645"),
    ("ur de", "7جولائی", "7. Juli"),
    ("ja de", "７ 月 １日", "1. Juli"),
    ("de ja", "24. Dezember", "12 月 24 日 | 12月24日 | １２ 月 ２４ 日 | １２月２４日"),
    ("en de", "December 32", ""),
    ("de en", "31.13.2008", ""),
    # Times, ranges and the like.
    ("en fr", "10:30", "10h30 | 10:30 | 10 : 30"),
    ("fr en", "10h30", "10:30 | 10 : 30"),
    # Hours are below 24, minutes below 60.
    ("en fr", "23:59", "23h59 | 23:59 | 23 : 59"),
    ("en fr", "0:00", "0h00 | 0:00 | 0 : 00"),
    ("en fr", "24:15", "24:15 | 24 : 15"),
    ("fr en", "24h15", ""),
    ("fr en", "23h60", ""),
    ("en de", "24:163", "24:163 | 24 : 163"),
    ("en de", "3 / 4", "3 / 4 | 3/4"),
    ("en de", "10 - 12", "10 - 12 | 10-12"),
    ("de en", "1,5-2,5", "1.5-2.5 | 1.5 - 2.5"),
    # Signs may have marks that say that there is no space beside them.
    ("en de", "10 :￭ 30", "10 :￭ 30 | 10:30"),
    ("en-GB en", "2 ￭/￭ 3 ￭/￭ 08", "3 ￭/￭ 2 ￭/￭ 08 | 3/2/08"),
    ("en de", "5 ￭% x", "5 ￭% | 5 Prozent"),
    ("en de", "￭-3.5 x", ""),
]  # fmt: skip


@pytest.mark.parametrize(("languages", "phrase", "expected"), CASES)
def test_numbers(languages: str, phrase: str, expected: str) -> None:
    assert all_targets(languages, phrase) == {expected}


@pytest.mark.parametrize(
    "sentence", ["", "---", "1.2.3", "|||", "[X,1]", "a1b", "G-8", "²", "%", "a b", "1\u00a02"]
)
def test_what_is_no_number(sentence: str) -> None:
    for source in CONVENTIONS:
        assert generate_rules(NumberRules(source=source, target="en"), sentence) == [], source


def test_parts_of_larger_numbers() -> None:
    """A number is not translated alone if a word before it makes it a part of a larger number."""
    generator = NumberRules(source="ur", target="en")
    for phrase in ("ایک لاکھ 37 ہزار 687", "4 لاکھ 37 ہزار 687"):
        rules = generate_rules(generator, phrase)
        assert not targets(rules, "37 ہزار 687") and not targets(rules, "687")
    assert targets(generate_rules(generator, "687 ہزار"), "687") == ["687"]
    rules = generate_rules(NumberRules(source="fr", target="en"), "1 234 567,5")
    assert not targets(rules, "234 567,5") and "1,234,567.5" in targets(rules, "1 234 567,5")


@pytest.mark.parametrize("target", ["de", "fr", "zh"])
@pytest.mark.parametrize(
    ("sentence", "phrase"),
    [
        ("in March 2008 ,", "March 2008"),
        ("the 21st of March 2008", "March 2008"),
        ("in July 15000 people", "July 15000"),
    ],
)
def test_a_year_is_no_day_and_a_year(target: str, sentence: str, phrase: str) -> None:
    """A date does not split the digits of a number."""
    rules = generate_rules(NumberRules(source="en", target=target), sentence)
    assert rules and targets(rules, phrase) == []


def test_letters_that_are_like_others() -> None:
    """Regular expressions that ignore case match ı as i, and ſ as s."""
    for phrase in ("3 mıllion", "Aprıl 5", "5 Auguſt"):
        rules = generate_rules(NumberRules(source="en", target="de"), phrase)
        assert len(targets(rules, phrase)) == ("ſ" in phrase)


def test_links() -> None:
    rules = {
        " ".join(rule.target): rule.links
        for rule in generate_rules(NumberRules(source="de", target="en"), "24 . 12 . 2008")
        if len(rule.source) == 5
    }
    assert rules["12 / 24 / 2008"] == [(0, 2), (1, 1), (2, 0), (3, 3), (4, 4)]
    assert rules["December 24 , 2008"] == [(0, 1), (1, 1), (2, 0), (3, 0), (4, 3)]
    assert rules["12/24/2008"] == [(s, 0) for s in range(5)]
    (rule, *_) = generate_rules(NumberRules(source="ja", target="en"), "第 ２")
    assert rule.links == [(0, 0), (1, 0)]
    (rule, *_) = generate_rules(NumberRules(source="de", target="en"), "5 %")
    assert rule.links == [(0, 0), (1, 1)]


def test_every_rule_once_and_on_its_tokens() -> None:
    sentence = "am 24.12.2008 3 , 5 % 1.234 1.234 24.12.2008 und 10 - 12 Uhr 1. Mai"
    rules = generate_rules(NumberRules(source="de", target="en", label="NUM"), sentence)
    assert len({str(rule) for rule in rules}) == len(rules) > 20
    for rule in rules:
        assert (rule.lhs, rule.features) == ("NUM", {"NumberRule": 1.0})
        assert f" {' '.join(rule.source)} " in f" {sentence} "
        assert {s for s, _ in rule.links} == set(range(len(rule.source)))


def test_text_of_a_tokeniser() -> None:
    """Times and dates are read in tokens, and their translations become text without spaces."""
    side = TextSide("moses", "en")
    tokens = " ".join(side.tokens("at 10:30 on 3/2/2008, 1/2"))
    rules = generate_rules(NumberRules(source="en", target="en-GB"), tokens)
    for phrase, expected in (("10:30", "10:30"), ("3/2/2008", "2/3/2008"), ("1/2", "1/2")):
        results = targets(rules, " ".join(side.tokens(phrase)))
        assert side.text(results[0].split(" ")) == side.text(results[1].split(" ")) == expected


def test_lower_case() -> None:
    rules = generate_rules(NumberRules(source="de", target="en", lowercase=True), "24. dezember")
    assert targets(rules, "24. dezember")[0] == "december 24"


@pytest.mark.parametrize("source", CONVENTIONS)
def test_long_sentences(source: str) -> None:
    """Time is linear in the length; quadratic time would be hours."""
    generator = NumberRules(source=source, target="en")
    digits = "1" * 50_000
    assert targets(generate_rules(generator, digits), digits) == [digits]
    for sentence in (
        [str(i) for i in range(1_000)],
        ["111"] * 5_000,
        ["3", "."] * 5_000,
        ["4", "لاکھ", "25", "ہزار"] * 1_000,
        ["3億2千" * 5_000],
        ["1.234," * 10_000],
    ):
        assert len(generator.rules(Sentence(tokens=sentence))) < 10 * len(sentence)


# The decimal mark and the thousands separator.
MARKS = {"en": ".,", "de": ",.", "fr": ", ", "de-CH": ".’", "es": ",.", "ja": ".,", "hi": ".,"}
SCALES = {
    **{"thousand": 3, "million": 6, "billion": 9, "trillion": 12},
    **{"Million": 6, "Millionen": 6, "Milliarde": 9, "Milliarden": 9, "Billion": 12, "Billionen": 12},
}


def value_of(text: str, language: str) -> Decimal:
    """Computes the value of a number with or without a word for a power of ten."""
    number, _, scale = text.replace(f" {MARKS[language][0]} ", MARKS[language][0]).partition(" ")
    plain = number.replace(MARKS[language][1], "").replace(MARKS[language][0], ".")
    return Decimal(plain) * 10 ** (SCALES[scale] if scale else 0)


@given(
    st.sampled_from(sorted(MARKS)),
    st.sampled_from(["en", "de"]),
    st.one_of(
        st.decimals(min_value=0, max_value=10**14, places=0),
        st.decimals(min_value=0, max_value=10**9, places=2),
        st.integers(1, 9999).map(lambda n: Decimal(n * 10**6)),
    ),
    st.booleans(),
)
def test_numbers_keep_their_value(source: str, target: str, value: Decimal, with_groups: bool) -> None:
    decimal, group = MARKS[source]
    text = f"{value:,f}" if with_groups and source != "hi" else f"{value:f}"
    text = text.translate({ord(","): group.strip(" "), ord("."): decimal})
    translations = targets(generate_rules(NumberRules(source=source, target=target), text), text)
    assert translations and all(
        value_of(translation, target) == value for translation in translations if " . " not in translation
    )


NAMES = """# persons
anna schmidt\tAnna Schmidt
anna\tAnna

anna\tAnne
new york\tNewYork
[X,1] |||\tsyntax
anna\tAnna
"""


def test_names(tmp_path: Path) -> None:
    (tmp_path / "names.gz").write_bytes(gzip.compress(NAMES.encode()))
    generator = NameRules(dictionary=tmp_path / "names.gz", label="NP")
    rules = generate_rules(generator, "new york , anna schmidt and anna : [X,1] |||")
    assert [str(rule) for rule in rules] == [
        "[NP] ||| anna ||| Anna ||| NameRule=1 ||| 0-0",
        "[NP] ||| anna ||| Anne ||| NameRule=1 ||| 0-0",
        "[NP] ||| new york ||| NewYork ||| NameRule=1 ||| 0-0 1-0",
        "[NP] ||| anna schmidt ||| Anna Schmidt ||| NameRule=1 ||| 0-0 1-1",
        r"[NP] ||| \[X,1] \||| ||| syntax ||| NameRule=1 ||| 0-0 1-0",
    ]
    assert generate_rules(generator, "york new Anna") == generate_rules(generator, "") == []
    assert generate_rules(pickle.loads(pickle.dumps(generator)), "anna") == rules[:2]


@pytest.mark.parametrize("line", ["anna", "a\tb\tc", "\tb", "a\t", "a\t "])
def test_lines_that_are_no_names(tmp_path: Path, line: str) -> None:
    (tmp_path / "names").write_text(f"a\tb\n{line}\n")
    with pytest.raises(FormatError, match="names:2: expected a source phrase, a tab and a target phrase"):
        generate_rules(NameRules(dictionary=tmp_path / "names"), "a")


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match=r"^target: Input should be"):
        NumberRules(source="de", target="xx")  # type: ignore[arg-type]
    for label in ("", "X Y", "[X]", "X,1"):
        with pytest.raises(ValueError, match=r"^label: "):
            NumberRules(source="de", target="en", label=label)
