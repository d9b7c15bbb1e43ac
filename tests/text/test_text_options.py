"""The options of raw text reach every command that takes it, and the model remembers them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import hiero
from hiero.cli import run as run_module
from hiero.cli.options.training import TextOptions
from hiero.cli.report.evaluation import Evaluation
from hiero.text import TextProcessing, TextSide
from support.commands import call, one_error_line, usage_error
from support.paths import FRENCH

TEXT = "Order #A-17: it’s ﬁne “now”\n"
OPTIONS = ("--unicode", "NFKC", "--keep-punctuation", "--protect", r"#[A-Z]-\d+")
TOKENS = "Order #A-17 : it ￭’￭ s fine “ now ￭”"
SIDE = TextSide("moses", "en", unicode="NFKC", punctuation=False, protect=(r"#[A-Z]-\d+",))


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


def test_tokenize_and_detokenize() -> None:
    done = call("hiero", "tokenize", "en:moses", *OPTIONS, stdin=TEXT)
    assert (done.returncode, done.stdout.decode()) == (0, f"{TOKENS}\n")
    assert SIDE.tokens(TEXT) == TOKENS.split(" ")
    back = call("hiero", "detokenize", "en:moses", *OPTIONS, stdin=f"{TOKENS}\n")
    assert back.stdout.decode() == SIDE.text(TOKENS.split(" ")) + "\n"
    plain = call("hiero", "tokenize", "en:moses", stdin=TEXT).stdout.decode()
    assert plain == 'Order #￭ A-17 : it \'s ﬁne " now "\n'


def test_corpora_and_truecasers(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT * 3)
    sides = (
        "--source",
        tmp_path / "text",
        "--target",
        tmp_path / "text",
        "--tokenize",
        "en:moses",
        "en:moses",
    )
    assert (
        call("hiero", "corpus", *sides, *OPTIONS, "-o", tmp_path / "s", tmp_path / "t", "--quiet").returncode
        == 0
    )
    assert (tmp_path / "s").read_text() == (tmp_path / "t").read_text() == f"{TOKENS}\n" * 3
    words = ("--tokenize", "en:moses", "-o", tmp_path / "truecaser", "--quiet")
    assert call("hiero", "truecaser", tmp_path / "text", *words, *OPTIONS).returncode == 0
    assert "fine" in (tmp_path / "truecaser").read_text() and "#A-17" in (tmp_path / "truecaser").read_text()


@pytest.mark.parametrize("option", [("--unicode", "NFKC"), ("--keep-punctuation",), ("--protect", "a")])
def test_tokens_are_left_as_they_are(option: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\n")
    sides = ("--source", tmp_path / "text", "--target", tmp_path / "text")
    done = call("hiero", "corpus", *sides, *option, "-o", tmp_path / "s", tmp_path / "t")
    assert "are for raw text, not for tokens" in usage_error(done)
    for command in (("tokenize", "und:none"), ("truecaser", tmp_path / "text", "-o", tmp_path / "t")):
        assert "are for raw text" in usage_error(call("hiero", *command, *option))
    # One side of raw text is enough; the other has none of the options.
    mixed = TextOptions(
        tokenize=("ja:none", "en:moses"), unicode="NFKC", keep_punctuation=True, protect=["x"]
    )
    assert mixed.processing.source == TextSide("none", "ja")
    assert mixed.processing.target == replace(SIDE, protect=("x",))
    wrong = call("hiero", "tokenize", "en:moses", "--protect", "(")
    assert "protected pattern" in usage_error(wrong)


def test_the_model_remembers_them(model: hiero.Model, tmp_path: Path) -> None:
    text = TextProcessing(SIDE, replace(SIDE, language="de", unicode="none", punctuation=True, protect=()))
    replace(model, text=text).save(tmp_path / "m")
    assert hiero.Model.load(tmp_path / "m").text == text
    info = call("hiero", "info", tmp_path / "m").stdout.decode()
    assert re.search(r"source +en, NFKC, tokenised by moses, protected: #\[A-Z\]-\\d\+", info)
    assert re.search(r"target +de, plain punctuation, tokenised by moses\n", info)


def test_a_model_of_an_earlier_version(model: hiero.Model, tmp_path: Path) -> None:
    side = TextSide("moses", "en")
    replace(model, text=TextProcessing(side, side)).save(tmp_path / "m")
    file = tmp_path / "m" / "model.toml"
    before = re.sub(r"(?m)^(unicode|punctuation|protect|rules) = .*\n", "", file.read_text())
    assert before.count("[text.") == 2 and "rules =" not in before.split("[text.")[1]
    file.write_text(before)
    loaded = hiero.Model.load(tmp_path / "m")
    assert loaded.text.source == loaded.text.target == TextSide("moses", "en", rules=1)
    assert loaded.text.source.tokens("he/she’s") == ["he", "/", "she", "’", "s"]
    assert re.search(
        r"source +en, tokenised by moses\n", call("hiero", "info", tmp_path / "m").stdout.decode()
    )
    loaded.save(tmp_path / "again")
    assert hiero.Model.load(tmp_path / "again").text == loaded.text


@pytest.mark.parametrize("rules", [2, 3])
def test_a_model_of_rules_that_are_gone(model: hiero.Model, tmp_path: Path, rules: int) -> None:
    for scheme in ("moses", "none"):
        side = TextSide(scheme, "en")
        replace(model, text=TextProcessing(side, side)).save(tmp_path / scheme)
        file = tmp_path / scheme / "model.toml"
        before = file.read_text()
        assert before.count("rules = 4") == 2
        file.write_text(before.replace("rules = 4", f"rules = {rules}"))
    assert hiero.Model.load(tmp_path / "none").text == TextProcessing(
        TextSide("none", "en"), TextSide("none", "en")
    )
    message = rf"moses/model.toml: text: rules {rules}, .* train the model again"
    with pytest.raises(hiero.FormatError, match=message):
        hiero.Model.load(tmp_path / "moses")


def test_run_passes_them_on() -> None:
    text = TextOptions(
        tokenize=("en:moses", "de:moses"), unicode="NFKC", keep_punctuation=True, protect=["x", "y z"]
    )
    words = run_module._text_words(text)
    assert words == {
        "tokenize": ("en:moses", "de:moses"),
        "lowercase": False,
        "unicode": "NFKC",
        "keep_punctuation": True,
        "protect": ["x", "y z"],
    }


def test_segments_of_a_run_are_scored_normalised(tmp_path: Path) -> None:
    for name, text in (
        ("source", "a"),
        ("references", "it’s his\u00a0“own” House"),
        ("output", 'it\'s his "own" house'),
    ):
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "scores").write_text("[]")
    source, references, output = (tmp_path / name for name in ("source", "references", "output"))
    side = TextSide("moses", "en", lowercase=True)
    read = Evaluation.read([], source, [references], {"mert": output}, side, "13a")
    assert read.by_segment == {"mert": [100.0]}
    assert read.bleu.score(read.statistics["mert"].sum(axis=0)) == pytest.approx(100)
    assert read.references == [["it’s his\u00a0“own” House"]]  # as they are shown
    swapped = Evaluation.read([], source, [output], {"mert": references}, side, "13a")
    assert swapped.by_segment == {"mert": [100.0]}


def test_scores_of_normalised_text(model: hiero.Model, tmp_path: Path) -> None:
    side = TextSide("moses", "en")
    replace(model, text=TextProcessing(side, side)).save(tmp_path / "m")
    (tmp_path / "references").write_text("it’s his\u00a0“own” house\n")
    (tmp_path / "output").write_text('it\'s his "own" house\n')
    files = ("--references", tmp_path / "references", "--hypothesis", tmp_path / "output")
    plain = call("hiero", "eval", *files, "--tokenize", "13a", "--quiet").stdout
    normalised = call("hiero", "eval", *files, "--tokenize", "13a", "--model", tmp_path / "m").stdout.decode()
    assert float(plain) < 50 and normalised.startswith("BLEU = 100.0000")
    assert normalised.splitlines()[2].endswith("|normalised:en:moses:NFC+punctuation")
    swapped = ("--references", tmp_path / "output", "--hypothesis", tmp_path / "references")
    done = call("hiero", "eval", *swapped, "--tokenize", "13a", "--model", tmp_path / "m", "--quiet")
    assert done.stdout == b"100.0000\n"
    own = replace(side, protect=("x",), punctuation=False)
    assert own.signature == "normalised:en:moses:NFC+1 patterns" and TextSide().signature == ""
    assert one_error_line(call("hiero", "eval", *files, "--model", tmp_path), 1).startswith("hiero: ")
