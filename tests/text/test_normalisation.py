"""Text in all the forms in which people write it becomes the same tokens, and comes back as normalised
text."""

from __future__ import annotations

import gzip
import random
import unicodedata
from collections.abc import Iterator

import pytest
import regex

from hiero.text import TextSide, parse_side
from hiero.text.normalisation import MARK, cleaned, plain_punctuation
from support.paths import SHARED

EN = TextSide("moses", "en")
FR = TextSide("moses", "fr")
SCRIPTS = [
    *(
        "Latin",
        "Greek",
        "Cyrillic",
        "Armenian",
        "Hebrew",
        "Arabic",
        "Syriac",
        "Thaana",
        "Devanagari",
        "Bengali",
    ),
    *("Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao"),
    *("Tibetan", "Myanmar", "Georgian", "Hangul", "Ethiopic", "Cherokee", "Khmer", "Mongolian", "Hiragana"),
    *("Katakana", "Bopomofo", "Han", "Yi", "Tifinagh", "Coptic", "Glagolitic", "Runic", "Ogham", "Javanese"),
    *("Nko", "Vai", "Common"),
]
SIGNS = [
    *".,:;!?'\"-()[]{}/&#@%_*+=<>|~`$^\\",
    *"     ",
    *"’“”‘„«»…–—ʼ‑",
    *"\u200d\u200c\u00a0\u0301\u200b\ufeff\u00ad",
]
PIECES = [
    "://",
    "www.",
    "http://a.org/",
    "a@b.org",
    "<b>",
    "...",
    "''",
    "&amp;",
    "0",
    "42",
    "ab",
    "XY",
    "don't",
]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("L\u2019e\u0301te\u0301", "L'été"),  # as a word processor and as a Mac writes it
        ("L\u02bcété", "L'été"),
        ("l&#39;été &amp; l&apos;hiver &quot;froid&quot;", "l'été & l'hiver \"froid\""),
        ("a\u00a0b\u202fc\u3000d\te", "a b c d e"),
        ("\ufeffa so\u00adft\u200b hy\u2060phen\u200e", "a soft hyphen"),
        ("«\u00a0oui\u00a0» “no” „nein“ ‹si›", '"oui" "no" "nein" \'si\''),
        ("e\u2011mail, 5\u22126 – 7", "e-mail, 5-6 - 7"),
        ("wait…", "wait..."),
        ("  spaces \r", "spaces"),
        ("ไป\u200bบ้าน a\u200bb", "ไป บ้าน ab"),  # a zero width space separates words of Thai alone
        ("a&b;c &copy=1 &nosuch;", "a&b;c &copy=1 &nosuch;"),
        ("&amp;amp;lt;b c", "<b c"),  # escaped three times
        ("a\ud800b", "a\ufffdb"),
        ("is ' ' this", 'is " this'),
    ],
)
def test_forms_of_the_same_text(written: str, plain: str) -> None:
    side = TextSide("moses", "und")
    assert side.tokens(written) == side.tokens(plain)
    assert side.text(side.tokens(written)) == side.normalised(plain)
    assert visible(plain_punctuation(cleaned(written, "NFC"))) == visible(plain)


@pytest.mark.parametrize("word", ["ไป", "ລາວ", "བོད", "မြန်", "ខ្មែរ", "ᦟᦲ", "ᨲ᩠ᩅ", "ꪼꪕ"])
def test_zero_width_spaces_between_words(word: str) -> None:
    """Thai, Lao, Tibetan, Myanmar, Khmer, New Tai Lue, Tai Tham and Tai Viet have no other sign for them."""
    assert cleaned(f"{word}\u200b{word}", "NFC") == cleaned(f"{word} {word}", "NFC")


@pytest.mark.parametrize(
    ("side", "text", "tokens"),
    [
        ("en:moses", "he/she, 10:30. C# #19 a_b", "he ￭/￭ she , 10 :￭ 30 . C ￭# #￭ 19 a ￭_￭ b"),
        ("en:moses", 'He said: "No."', 'He said : " No . "'),
        ("en:moses", "others,if and this , too", "others , if and this , too"),
        ("en:moses", "the dogs' food 'in here'", "the dogs ' food ' in here '"),
        ("en:moses", "the cat' is 'here'", "the cat ￭' is '￭ here ￭'"),
        ("en:moses", "‘Hello there’ and ‘Yesterday’", "' Hello there ' and ' Yesterday '"),
        ("fr:moses", "‘Oui’", "' Oui '"),
        ("en:moses", "'90s rock 'em", "'90s rock ' em"),
        ("en:moses", "<i>so</i>, <b> no", "<i>￭ so ￭</i> , <b> no"),
        ("de:moses", "bei McDonald's „BBQ“-Stand", 'bei McDonald ￭\'￭ s " BBQ " ￭-Stand'),
        ("fr:moses", "Quoi ? L'été : 5 %", "Quoi ? L' été : 5 %"),
        ("bn:moses", "র‍্যাব ও র‌্যাব", "র‍্যাব ও র‌্যাব"),
        ("und:moses", "می‌شود 👩‍💻👍🏽 🇩🇪🇫🇷 é", "می‌شود 👩‍💻 ￭👍🏽 🇩🇪 ￭🇫🇷 é"),
        ("und:moses", "\u200cab\u200c c\u200d\u200dd", "ab c\u200dd"),  # joiners that join nothing
        ("und:moses", "a￭b", "a ￭■￭ b"),  # the mark itself
        ("en:moses", "word(s) (in)valid ab[c] (d)", "word ￭( s ) ( in )￭ valid ab ￭[ c ] ( d )"),
        ("en:moses", "5 m² of H₂O, 2½ cups", "5 m ￭² of H ￭₂￭ O , 2 ￭½ cups"),
        ("zh:jieba", "我去过Zürich和Москва", "我 去过 Zürich 和 Москва"),
        ("zh:jieba", "हिन्दी भाषा naïve 서울", "हिन्दी भाषा naïve 서울"),
        ("zh:jieba", "你好——世界……2020—2024年", "你好 — ￭— 世界 … … 2020 ￭—￭ 2024 年"),
        ("ja:janome", "「――」という。…", "「 ―― 」 と いう 。 …"),
        ("zh:jieba", "A/B f(x) don't", "A ￭/￭ B f ￭( x ) don ￭'￭ t"),
    ],
)
def test_tokens(side: str, text: str, tokens: str) -> None:
    made = parse_side(side)
    assert made.tokens(text) == tokens.split(" ")
    assert made.normalised(made.normalised(text)) == made.normalised(text)


def test_chinese_ellipses_have_no_space() -> None:
    for text in ("世界……2020年", "……A"):
        assert parse_side("zh:jieba").normalised(text) == text


def test_text_comes_back_as_it_was() -> None:
    for text in (
        "he/she, 10:30. C# #19 a_b",
        "the dogs' food 'in here'",
        "📞👩‍💻👍🏽 <i>x</i>@ 50% of $5 & a+b=c",
    ):
        assert EN.text(EN.tokens(text)) == text
    assert FR.normalised("Quoi? L'été: oui") == "Quoi ? L'été : oui"


@pytest.mark.parametrize(
    "text",
    [
        "他在New York Times工作，喜欢São Paulo的咖啡",
        "हिन्दी भाषा 서울 시청 Нью Йорк",
        "3.5 km (ok) at 10:30, No. 5 & C++ C# 50% off",
        '他说："Hello, world!" "and" \'so\' on, don\'t',
        "word(s), (in)valid, f(x) = 5 m², 10 - 20 USD/kg, e-mail",
    ],
)
@pytest.mark.parametrize("name", ["zh:jieba", "ja:janome"])
def test_words_of_other_scripts_come_back_with_their_spaces(name: str, text: str) -> None:
    side = parse_side(name)
    assert side.text(side.tokens(text)) == text


def test_letters_of_parts_are_not_joined() -> None:
    side = TextSide("moses", "en", protect=(r"\{\w+\}", "Х+"))
    assert side.tokens("v{name}s ЖХХЩ") == ["v", "￭{name}￭", "s", "Ж", "￭ХХ￭", "Щ"]


def test_halves_of_characters() -> None:
    for side in (TextSide(), TextSide("moses", "en", rules=1), TextSide("jieba", "zh", rules=1)):
        assert "".join(side.tokens("a\ud800b \udfffc")) == "a\ufffdb\ufffdc"


def test_forms_that_are_a_choice() -> None:
    text = "ﬁne “x” ② e\u0301"
    assert TextSide("moses", "en", unicode="NFKC").tokens(text) == ["fine", '"', "x", '"', "2", "é"]
    assert TextSide("moses", "en").tokens(text)[0] == "ﬁne"
    assert TextSide("moses", "en", unicode="none").words(text)[-1] == "e\u0301"
    assert (
        TextSide("moses", "en", punctuation=False).text(
            TextSide("moses", "en", punctuation=False).tokens(text)
        )
        == "ﬁne “x” ② é"
    )
    for side in (TextSide(), TextSide("none", "fr")):
        assert side.tokens("L’e\u0301te\u0301 &amp; x") == ["L’e\u0301te\u0301", "&amp;", "x"]
        assert side.normalised("a\u00a0 b") == "a\u00a0 b"


def test_the_first_version_of_the_rules() -> None:
    side = TextSide("moses", "en", rules=1)
    assert " ".join(side.tokens("he/she saw www.a.org, it’s")) == "he / she saw www.a.org , it ’ s"
    assert side.text(["he", "/", "she", "￭/￭"]) == "he / she ￭/￭"
    assert side.normalised("it’s") == "it’s"


def random_text(rng: random.Random, letters: dict[str, list[str]]) -> str:
    script = letters[rng.choice(SCRIPTS)]
    kinds = rng.choices((script, SIGNS, PIECES), (6, 3, 1), k=rng.randint(1, 40))
    return "".join(rng.choice(kind) for kind in kinds)


def letters_of_scripts() -> dict[str, list[str]]:
    """Returns the characters of each script, without those that Unicode has not assigned."""
    letters: dict[str, list[str]] = {name: [] for name in SCRIPTS}
    patterns = {name: regex.compile(rf"\p{{Script={name}}}") for name in SCRIPTS}
    for code in [*range(0x3400), *range(0x4E00, 0x5000), *range(0xA000, 0x11700)]:
        if 0xD800 <= code < 0xE000 or unicodedata.category(chr(code)) in ("Cn", "Cc", "Co"):
            continue
        for name, pattern in patterns.items():
            if pattern.match(chr(code)):
                letters[name].append(chr(code))
                break
    return letters


def visible(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace(" ", "").replace("\u00a0", ""))


def plain(text: str) -> str:
    """Returns text in which protected parts are normalised, too."""
    # Two apostrophes are a quote, also where spaces between them were left out.
    return visible(plain_punctuation(cleaned(text, "NFC"))).replace("''", '"')


@pytest.mark.parametrize("count", [150, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [*(f"{language}:moses" for language in ("en", "fr", "cs", "fi", "und")), "zh:jieba", "ja:janome"],
)
def test_random_text_comes_back(name: str, count: int) -> None:
    """Normalised text is left as it is, and no character is lost but by the normalisation."""
    side, letters, rng = parse_side(name), letters_of_scripts(), random.Random(name)
    assert all(letters.values()) and len(letters) > 40
    for _ in range(count):
        text = random_text(rng, letters)
        tokens = side.tokens(text)
        once = side.normalised(text)
        assert side.text(side.tokens(once)) == side.normalised(once) == once, ascii(text)
        assert plain(side.text(tokens)) == plain(once)
        assert plain(once) == plain(text), ascii(text)
        assert all(token.strip(" \t\n") == token and " " not in token for token in tokens)


def corpora() -> Iterator[tuple[str, list[str]]]:
    """Yields languages, and the lines of a corpus."""
    for language in ("de", "en"):
        with gzip.open(SHARED / "de-en" / "raw" / f"train.{language}.gz", "rt", encoding="utf-8") as file:
            yield language, file.read().splitlines()
    for language, path in (("es", "es-en/train.es"), ("en", "es-en/train.en"), ("und", "ur-en/train.ur")):
        yield language, (SHARED / path).read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data")
def test_corpora_come_back() -> None:
    count = exact = 0
    for language, lines in corpora():
        side = TextSide("moses", language)
        for line in lines:
            once, expected = side.text(side.tokens(line)), plain_punctuation(cleaned(line, "NFC"))
            assert side.text(side.tokens(once)) == once and visible(once) == visible(expected)
            exact += once == expected
            count += 1
    assert count > 100_000
    # In the others, spaces beside punctuation are not as the language has them.
    assert exact > 0.99 * count


def test_marks_of_translations() -> None:
    """A decoder may put tokens in any order."""
    assert EN.text(["￭/￭", "a"]) == "/a" and EN.text(["a", "￭/￭"]) == "a/"
    assert EN.text(["￭", "a", "￭￭"]) == "￭ a￭￭"
    assert EN.text(["x", "￭'", "y", "'￭", "z"]) == "x' y 'z"
    assert MARK == "￭" and EN.text([]) == ""
