"""Tags, addresses and patterns of one's own are one token, in any scheme and case, and come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiero.text import TextSide
from hiero.text.protection import Protection
from hiero.train.truecaser import train_truecaser

TEXT = 'See www.A.org/x?a=1&b=2, or <a href="http://B.de/ü">Me@a-b.co.uk</a>.'


def found(text: str, *patterns: str) -> list[str]:
    return [text[begin:end] for begin, end in Protection(patterns).spans(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http://a.org.", ["http://a.org"]),
        ("(https://a.org/b_(c)), ftp://x/y!", ["https://a.org/b_(c)", "ftp://x/y"]),
        ("www.a.org を見る", ["www.a.org"]),
        ("me@a.org, x@y, @name", ["me@a.org"]),
        ("a < b and c > d", []),
        ("<b>x</b><br/> <p class='q r'>", ["<b>", "</b>", "<br/>", "<p class='q r'>"]),
        ("HTTP://A.ORG/Köln_am, Müller@a.de", ["HTTP://A.ORG/Köln_am", "Müller@a.de"]),
        ("http://ja.org/日本 é@a.org", ["http://ja.org/", "é@a.org"]),
        ('<a title="x > y"> <!x>', ['<a title="x > y">']),
        ("<s> </s> <unk> <UNK> <span>", ["<span>"]),  # names of language models are not tags
        ("www.a.org\u0301 x", []),  # an accent after it: it would be torn off
    ],
)
def test_what_is_protected(text: str, parts: list[str]) -> None:
    assert found(text) == parts


def test_patterns_of_ones_own() -> None:
    assert found("order #A-17 of {name}", r"#[A-Z]-\d+", r"\{\w+\}") == ["#A-17", "{name}"]
    assert found("x www.a.org/17", r"\d+") == ["www.a.org/17"]
    with pytest.raises(ValueError, match=r"protected pattern '\(': missing \)"):
        TextSide("moses", "en", protect=("(",))
    with pytest.raises(ValueError, match="matches the empty string"):
        TextSide("moses", "en", protect=("a*",))
    side = TextSide("moses", "en", protect=(r"#[A-Z]-\d+",), lowercase=True)
    assert side.tokens("Order #A-17!") == ["order", "#A-17", "!"]
    assert side.text(["order", "#A-17", "!"]) == "order #A-17!"


@pytest.mark.parametrize("scheme", ["moses", "jieba", "janome"])
def test_protected_parts_are_tokens(scheme: str) -> None:
    side = TextSide(scheme, {"jieba": "zh", "janome": "ja"}.get(scheme, "en"), lowercase=True)  # type: ignore[arg-type]
    tokens = [token.strip("￭") for token in side.tokens(TEXT)]
    for part in ("www.A.org/x?a=1&b=2", '<a\u00a0href="http://B.de/ü">', "Me@a-b.co.uk", "</a>"):
        assert part in tokens
    for part in ("www.A.org/x?a=1&b=2", '<a href="http://B.de/ü">', "Me@a-b.co.uk", "</a>"):
        assert part in side.text(side.tokens(TEXT))


def test_the_name_of_parts_is_not_in_the_text() -> None:
    side = TextSide("moses", "en")
    tokens = side.tokens("Zprotectedz www.a.org Zprotectedzz me@a.org")
    assert tokens == ["Zprotectedz", "www.a.org", "Zprotectedzz", "me@a.org"]
    assert side.text(tokens) == "Zprotectedz www.a.org Zprotectedzz me@a.org"


def test_case_leaves_them(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("We see the house. The House is here.\n" * 3)
    train_truecaser([tmp_path / "text"], tmp_path / "t", TextSide("moses", "en"))
    side = TextSide("moses", "en", truecaser=str(tmp_path / "t"))
    tokens = ["www.The.org", "is", "<b>￭", "the", "￭</b>", "house", "."]
    assert side.tokens("www.The.org is <b>The</b> house.") == tokens
    assert side.text(tokens) == "www.The.org is <b>the</b> house."
    assert side.text(["www.a.org", "is", "it", "."]) == "www.a.org is it."
    assert side.text(["the", "house", ".", "<b>", "it"]) == "The house. <b> It"
    for text in ("<b>The house</b> is here.", "www.The.org is here."):
        assert side.text(side.tokens(text)) == text
    # Only the first letter of a word changes.
    assert side.text(["a\u3000b", "", "c d"]) == "A\u3000b  c d"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\{\w+\}", "{name}s, v{version}, {a}{b}, Hello{name}!"),
        (r"%\w", "50%d of %s"),
        ("New York", "I love New York, the city"),
        (r"\d+ kg", "it has 5 kg or 6 kg"),
        (" b ", "a b c"),  # without the spaces at its edges
        ("(?i)FOO", "Foo foo"),
        (r"(?<=x)yz", "xyz yz"),
        (r"(['\"])q\1", "a 'q' b"),
        ("<unk>", "a <unk> b"),
    ],
)
def test_texts_with_patterns_come_back(pattern: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("the (2/2)\n")
    for side in (
        TextSide("moses", "en", protect=(pattern, r"<<(\w+)>>")),
        TextSide("moses", "en", protect=(pattern,), truecaser=str(tmp_path / "t")),
    ):
        tokens = side.tokens(text)
        assert " " not in "".join(tokens) and side.text(tokens)[1:] == text[1:]


def test_what_is_no_list_of_patterns() -> None:
    with pytest.raises(TypeError, match="expected a sequence of regular expressions, not a string"):
        TextSide("moses", "en", protect="ab")  # type: ignore[arg-type]
    side = TextSide("moses", "en", protect=["a"])  # type: ignore[arg-type]
    assert hash(side) == hash(TextSide("moses", "en", protect=("a",)))


def test_addresses_stand_alone() -> None:
    side = TextSide("moses", "ko")
    assert side.tokens("http://a.org에서")[:2] == ["http://a.org", "에서"]
    assert side.normalised("http://a.org에서 (me@a.org)") == "http://a.org 에서 (me@a.org)"


def test_long_texts() -> None:
    """Texts of kinds that once took time by the square of their length."""
    side = TextSide("moses", "und")
    assert len(side.tokens("🇩🇪" * 20_000)) == 20_000
    assert side.tokens("http://a.b Zprotectedz" + "z" * 100_000)[0] == "http://a.b"
    assert len(side.tokens("www.a.org " * 20_000)) == 20_000
