"""Tests of tokenisation, case and detokenisation, and of models that store how their text is processed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import hiero
from hiero.base.text import looks_untokenised
from hiero.text import TextProcessing, TextSide, parse_side, segmenters
from hiero.train import TrainInputs, TrainSettings, train
from hiero.train.truecaser import train_truecaser
from support.commands import call, one_error_line
from support.seeds import each_seed

CASED = [
    "The house is old.",
    "We saw the house in Paris.",
    "Paris is where the old house is.",
    "In summer we go to Paris.",
    '"The summer is old," said the old Paul.',
]


@pytest.mark.parametrize("language", ["en", "de"])
def test_detokenised_text_is_text_again(language: str) -> None:
    side = TextSide("moses", language)
    for line in ["This is (quite) good, 3.5 or so.", 'He said: "No."', "a & b < c | [d]"]:
        assert side.text(side.tokens(line)) == line


def test_sides_by_name() -> None:
    assert parse_side("ja:none") == TextSide("none", "ja")
    assert parse_side("en:moses", True) == TextSide("moses", "en", lowercase=True)
    assert parse_side("en:moses", truecaser=Path("t")) == TextSide("moses", "en", truecaser="t")
    for bad in ("en", "en:", ":moses", "en:other", "moses"):
        with pytest.raises(ValueError, match="such as en:moses"):
            parse_side(bad)


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("ur:moses", "moses does not support ur, only as bn .* te; und:moses splits by the rules of English"),
        ("zh:moses", "use zh:jieba"),
        ("ja:moses", "use ja:janome"),
        ("en:jieba", "jieba supports only zh"),
        ("zh:janome", "janome supports only ja"),
    ],
)
def test_languages_that_a_tokeniser_does_not_know_are_refused(side: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_side(side)


def test_every_language_of_moses_is_one_that_it_knows() -> None:
    from sacremoses.corpus import NonbreakingPrefixes

    languages = {name for name in NonbreakingPrefixes().available_langs.values()} | {"ko", "und"}
    for language in languages - {"zh", "yue"}:  # written without spaces
        assert TextSide("moses", language).tokens("a b") == ["a", "b"]


def test_segmenters() -> None:
    side = TextSide("jieba", "zh")
    tokens = side.tokens("他买了两本书, USB 3.0。 Hello world")
    assert tokens == ["他", "买", "了", "两本书", ",", "USB", "3.0", "。", "Hello", "world"]
    assert side.text(tokens) == "他买了两本书, USB 3.0。Hello world"
    side = TextSide("janome", "ja")
    tokens = side.tokens("すもももももももものうち。 3.5 km")
    assert tokens == ["すもも", "も", "もも", "も", "もも", "の", "うち", "。", "3", ".", "5", "km"]
    assert side.text(tokens) == "すもももももももものうち。3.5 km"
    assert side.text(["(", "A", ")", "and", ",", "b"]) == "(A) and, b"


def test_a_segmenter_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    segmenters._jieba.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "jieba", None)
    with pytest.raises(hiero.Error, match=r"^zh:jieba needs the package jieba: pip install jieba$"):
        TextSide("jieba", "zh").tokens("他")


@pytest.fixture(scope="module")
def truecaser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truecaser")
    (folder / "text").write_text("".join(f"{line}\n" for line in CASED))
    assert train_truecaser([folder / "text"], folder / "truecaser", TextSide("moses", "en")) > 5
    return folder / "truecaser"


def test_truecasing_is_applied_and_undone(truecaser: Path) -> None:
    side = TextSide("moses", "en", truecaser=str(truecaser))
    assert side.tokens("The house in Paris is old.") == ["the", "house", "in", "Paris", "is", "old", "."]
    assert side.tokens("Paris is old.") == ["Paris", "is", "old", "."]
    # A known form is kept unless it begins the sentence; an unknown form is replaced by the usual one.
    assert side.tokens("We go to PARIS") == ["we", "go", "to", "Paris"]
    assert side.tokens("Old. The house: We saw.") == ["old", ".", "the", "house", ":", "we", "saw", "."]
    assert side.text(["the", "house", "in", "Paris", "is", "old", "."]) == "The house in Paris is old."
    assert side.text(["we", "saw", "it", ".", "the", "house", "!"]) == "We saw it. The house!"
    assert side.text([]) == "" and side.tokens("  ") == []
    # The library takes quadratic time for a line in one piece.
    assert side.tokens("The house is old. " * 20_000) == ["the", "house", "is", "old", "."] * 20_000


@pytest.mark.parametrize(
    "text",
    ["The <?> , if The", "The x<y> The", "<<The>>", "The a|b | The", "The ><", "The <b> <i The x> The", "<"],
)
def test_signs_of_tags_are_words_in_truecasing(truecaser: Path, text: str) -> None:
    """Moses' truecaser splits such words, which must not lose or move others."""
    for plain in (TextSide("moses", "en"), TextSide("none", "en")):
        side = replace(plain, truecaser=str(truecaser))
        tokens = side.tokens(text)
        assert [token.lower() for token in tokens] == [token.lower() for token in plain.tokens(text)]
        assert side.text(tokens).lower() == plain.text(plain.tokens(text)).lower()


@each_seed(range(200))
def test_truecasing_changes_case_alone(truecaser: Path, seed: int) -> None:
    rng = random.Random(seed)
    words = [
        "The",
        "the",
        "It",
        "<",
        ">",
        "|",
        "<?>",
        "<b>",
        "a>",
        "b.",
        ".",
        "?",
        "￭",
        "\u00a0",
        "\u3000",
        "x",
    ]
    text = "".join(rng.choice(words) + rng.choice(["", " ", " "]) for _ in range(rng.randint(1, 8)))
    for plain in (TextSide("moses", "en"), TextSide("none", "en"), TextSide("moses", "en", rules=1)):
        tokens = replace(plain, truecaser=str(truecaser)).tokens(text)
        assert [token.lower() for token in tokens] == [token.lower() for token in plain.tokens(text)]


def test_text_without_case_has_no_truecaser(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("他 买 了 书 。\n" * 3)
    assert train_truecaser([tmp_path / "text"], tmp_path / "truecaser", TextSide()) == 0
    assert (tmp_path / "truecaser").read_bytes() == b""


def test_a_damaged_truecaser(tmp_path: Path) -> None:
    (tmp_path / "truecaser").write_text("the (2/2) The\n")
    with pytest.raises(hiero.FormatError, match=r"truecaser: malformed truecase model"):
        TextSide(truecaser=str(tmp_path / "truecaser")).tokens("The")


def test_only_one_kind_of_case() -> None:
    with pytest.raises(ValueError, match="lowercased or truecased, not both"):
        TextSide(lowercase=True, truecaser="t")
    settings = TrainSettings(text=TextProcessing(TextSide(), TextSide(lowercase=True)), truecase=True)
    with pytest.raises(ValueError, match="lowercased or truecased, not both"):
        train(TrainInputs("a", "b"), "m", settings=settings)


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory, demo: Path) -> Path:
    """A folder with raw text from the demo corpus, Chinese without spaces and English with capitals, and a
    model."""
    folder = tmp_path_factory.mktemp("raw")
    english = TextSide("moses", "en")
    for name, target in (("train", "train.en"), ("test", "test.en.0")):
        lines = (demo / f"{name}.zh").read_text().splitlines()[:600]
        (folder / f"{name}.zh").write_text("".join(line.replace(" ", "") + "\n" for line in lines))
        lines = (demo / target).read_text().splitlines()[:600]
        cased = (english.text(line.replace("beijing", "Beijing").split()) for line in lines)
        (folder / f"{name}.en").write_text("".join(line[:1].upper() + line[1:] + "\n" for line in cased))
    sides = ("--source", folder / "train.zh", "--target", folder / "train.en")
    text = ("--tokenize", "zh:jieba", "en:moses", "--truecase")
    done = call("hiero", "train", *sides, *text, "-o", folder / "model", "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")
    return folder


@pytest.mark.slow
def test_raw_text_is_the_default_of_a_model_of_raw_text(chinese: Path, tmp_path: Path) -> None:
    decode = ("hiero-decode", "--model", chinese / "model", "--quiet")
    done = call(*decode, "--input", chinese / "test.zh", "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = (tmp_path / "out").read_text().splitlines()
    assert all(line[0] == line[0].upper() for line in lines) and any("Beijing" in line for line in lines)
    assert sum(line.endswith((".", "?")) and not line.endswith(" .") for line in lines) > 190
    decoder = hiero.Decoder(hiero.Model.load(chinese / "model"))
    assert decoder.translate((chinese / "test.zh").read_text().splitlines()[0]).text == lines[0]
    scored = call(
        *("hiero", "eval", "--references", chinese / "test.en", "--hypothesis", tmp_path / "out"),
        *("--tokenize", "13a", "--quiet"),
    )
    assert float(scored.stdout) > 30


@pytest.mark.slow
def test_case_and_words_are_the_models(chinese: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(chinese / "model")
    assert model.text.source == TextSide("jieba", "zh")  # there is no case to learn
    assert Path(model.text.target.truecaser) == chinese / "model" / "truecaser.target"
    corpus = (chinese / "model.train" / "corpus.target").read_text().splitlines()
    assert sum(line[:1].islower() for line in corpus) > 500
    assert any("Beijing" in line for line in corpus)
    model.save(tmp_path / "copy")
    assert call("hiero", "check", tmp_path / "copy").returncode == 0
    copy = hiero.Model.load(tmp_path / "copy")
    assert copy.text.target.text(["he", "came", "."]) == "He came."
    assert Path(copy.text.target.truecaser).parent == tmp_path / "copy"


@pytest.mark.slow
def test_training_again_knows_the_truecaser(chinese: Path) -> None:
    sides = ("--source", chinese / "train.zh", "--target", chinese / "train.en")
    text = ("--tokenize", "zh:jieba", "en:moses", "--truecase")
    before = (chinese / "model" / "manifest.json").read_bytes()
    done = call("hiero", "train", *sides, *text, "-o", chinese / "model")
    assert done.returncode == 0
    assert all(line.endswith(b"done before") for line in done.stderr.splitlines())
    assert (chinese / "model" / "manifest.json").read_bytes() == before


def test_truecasers_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in CASED))
    command = ("hiero", "truecaser", tmp_path / "text", "--tokenize", "en:moses", "-o", tmp_path / "t")
    done = call(*command)
    assert (done.returncode, done.stderr) == (0, b"hiero: 14 words with case\n")
    options = ("en:moses", "--truecaser", tmp_path / "t")
    assert call("hiero", "tokenize", *options, stdin="The house.\n").stdout == b"the house .\n"
    assert call("hiero", "detokenize", *options, stdin="the house .\n").stdout == b"The house.\n"
    twice = call("hiero", "tokenize", *options, "--lowercase", stdin="The house.\n")
    assert twice.returncode == 2 and b"not both" in twice.stderr
    sides = ("--source", tmp_path / "text", "--target", tmp_path / "text")
    text = ("--tokenize", "en:moses", "en:moses", "--truecaser", tmp_path / "t", tmp_path / "t")
    outputs = ("-o", tmp_path / "s", tmp_path / "e", "--quiet")
    assert call("hiero", "corpus", *sides, *text, *outputs).returncode == 0
    assert (tmp_path / "e").read_text().splitlines()[0] == "the house is old ."


@pytest.mark.slow
def test_a_language_that_is_refused_is_said_in_one_line(tmp_path: Path, chinese: Path) -> None:
    assert b"Invalid value: moses does not support ur" in call("hiero", "tokenize", "ur:moses").stderr
    config = chinese / "model" / "model.toml"
    broken = tmp_path / "model"
    hiero.Model.load(chinese / "model").save(broken)
    (broken / "model.toml").write_text(config.read_text().replace('"en"', '"ur"'))
    message = one_error_line(call("hiero", "info", broken), 1)
    assert message.startswith(f"hiero: {broken / 'model.toml'}: text.target: moses does not support ur")


def test_what_looks_untokenised() -> None:
    assert looks_untokenised(["It is here.", "", "Is it?", "yes"])
    assert looks_untokenised(["एक घर है।", "یہ ایک گھر ہے۔"])
    assert not looks_untokenised(["it is here .", "u.s. troops left at 3.5 % .", "is it ?", "mr. smith"])
    assert not looks_untokenised([])


def test_joining_by_the_first_rules() -> None:
    """Models from before normalisation put no spaces around the signs of Chinese and Japanese text."""
    for scheme, language, texts in (
        (
            "jieba",
            "zh",
            ["COVID-19疫情", "A&B公司R&D", "$5.00", "24/7", "e-mail", "-5度", "hello, world"],
        ),
        ("janome", "ja", ["C++で", "Tom's本"]),
    ):
        side = TextSide(scheme, language, rules=1)
        assert [side.text(side.tokens(text)) for text in texts] == texts


def test_capitals_that_are_one_character(tmp_path: Path) -> None:
    (tmp_path / "truecaser").write_text("x (1/1)\n")
    side = TextSide("moses", "en", truecaser=str(tmp_path / "truecaser"))
    words = ["ßtest", "ﬁnd", "ქართული", "ǆep", "éa"]
    assert [side.text([word]) for word in words] == ["ßtest", "ﬁnd", "ქართული", "ǅep", "Éa"]


def test_settings_that_there_are_not() -> None:
    for settings, message in (
        ({"scheme": "foo"}, "scheme 'foo': expected one of none, moses, jieba, janome"),
        ({"unicode": "nfkc"}, "unicode 'nfkc': expected one of NFC, NFKC, none"),
        ({"rules": 3}, "rules 3: expected one of 1, 4"),
    ):
        with pytest.raises(ValueError, match=message):
            TextSide(**settings)
