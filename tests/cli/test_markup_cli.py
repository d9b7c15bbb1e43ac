"""Marks in text, glossaries and protected parts of text through commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hiero
from hiero import Markup, Phrase, Rule, Sentence, Wall
from hiero.cli.io.sets import with_sentence_features
from hiero.evaluate import Terms
from hiero.features import Glossary, Term
from hiero.text import TextProcessing, TextSide
from support.commands import call, decode, one_error_line
from support.files import write

MARKED = """je vois <np translation="Felix||Tom" prob="0.01||0.99">le chat</np>
<np translation="x">il mange
il <x translate="no">mange</x>
il mange <wall/> <zone>le chat</zone>
"""


def test_markup_of_text(parts: list[object], tmp_path: Path) -> None:
    source = write(tmp_path / "source", MARKED.splitlines())
    done = decode(parts, "--source", source, "--markup", "exclusive")
    assert done.returncode == 1
    assert done.stderr.decode() == f"{source}:2: column 1: <np> is not closed\n"
    assert done.stdout.decode().splitlines()[:3] == ["i see Tom", "", "he mange"]
    for tokens in ((), ("--tokens",)):
        record = decode(
            parts, *tokens, "--markup", "exclusive", "--output-format", "jsonl", stdin=MARKED.splitlines()[0]
        )
        features = json.loads(record.stdout)["features"]
        assert features["Markup"] == 1
        assert features["MarkupProbability"] == pytest.approx(-0.01005, abs=1e-4)

    def first(*options: object) -> str:
        return decode(parts, *options, stdin=MARKED.splitlines()[0]).stdout.decode()

    inclusive = ("--markup", "inclusive", "--set-weight")
    assert first(*inclusive, "Markup=-30") == "i see the cat\n"
    assert first(*inclusive, "Markup=30") == "i see Tom\n"
    assert first(*inclusive[:2], "--set-weight", "Markup=30", "--set-weight", "MarkupProbability=-9") == (
        "i see Felix\n"
    )
    assert first("--markup", "ignore") == "i see the cat\n"
    assert first("--markup", "pass-through") == first() != "i see the cat\n"
    constraint = '<np translation="dog">le chat</np>'
    assert decode(parts, "--markup", "constraint", stdin=constraint).stdout == b"dog\n"
    known = '<np translation="cat">le chat</np>'
    alone = decode(parts, "--markup", "constraint", "--set-weight", "Markup=-30", stdin=known).stdout
    assert alone == b"the cat\n"


def test_markup_options_that_do_not_go_together(parts: list[object], tmp_path: Path) -> None:
    done = decode(parts, "--input-format", "jsonl", "--markup", "ignore")
    assert (
        done.returncode == 2 and b"--markup is for text; records of jsonl have a field markup" in done.stderr
    )
    done = decode(parts, "--soft-terms")
    assert done.returncode == 2 and b"--soft-terms needs --terms" in done.stderr
    done = decode(parts, "--set-weight", "Marks=1", stdin="le chat\n")
    assert b"no feature 'Marks'" in done.stderr


def test_markup_of_records(parts: list[object]) -> None:
    sentences = [
        Sentence("je vois le chat", markup=Markup([Phrase(8, 15, ["Tom"])])),
        Sentence(tokens=["le", "chat"], markup=Markup([Phrase(1, 2, [["big", "cat"]])], [(0, 2)], [Wall(1)])),
        Sentence(tokens=["le"], markup=Markup([Phrase(1, 2, ["x"])])),
        Sentence("le chat", markup=Markup([Phrase(0, 2, ["x"], label="NONE")])),
    ]
    lines = "".join(sentence.to_json() + "\n" for sentence in sentences)
    done = decode(parts, "--input-format", "jsonl", "--set-weight", "Markup=1", stdin=lines)
    assert done.stdout.decode().splitlines() == ["i see Tom", "the big cat", "", ""]
    assert done.stderr.decode().splitlines() == [
        "input:3: a mark at 2, in a sentence of 1 words",
        "input:4: sentence rules: the model has no nonterminal [NONE]",
    ]


def test_terms(parts: list[object], tmp_path: Path) -> None:
    terms = write(tmp_path / "terms", ["# animals", "le chat\tthe feline", "Chat\tTom"])
    source = write(tmp_path / "source", ["je vois le chat", "chat", "il mange"])
    options = ("--source", source, "--terms", terms)
    done = decode(parts, *options)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == ["i see the feline", "Tom", "he eats"]
    for weight, first in ((30, "i see the feline"), (-30, "i see the cat")):
        soft = decode(parts, *options, "--soft-terms", "--set-weight", f"Markup={weight}")
        assert soft.stdout.decode().splitlines()[0] == first
    lists = decode(parts, *options, "--nbest", 2, "--output-format", "nbest").stdout.decode()
    assert all("the feline" in line for line in lists.splitlines() if line.startswith("0 "))
    sure = decode(parts, *options, "--confidence", "--output-format", "jsonl").stdout.decode()
    tom = json.loads(sure.splitlines()[1])
    assert (tom["text"], tom["confidence"]) == ("Tom", [1.0])
    write(tmp_path / "terms", ["le chat\tthe feline", "chat"])
    assert f"hiero: {terms}:2: expected a term, a tab and its translation" in one_error_line(
        decode(parts, *options)
    )
    write(tmp_path / "terms", ["chat\tTom"])
    lattice = json.dumps({"lattice": hiero.Lattice([hiero.Arc("chat", 0, 1)]).to_json()})
    records = decode(parts, "--terms", terms, "--input-format", "jsonl", stdin=lattice)
    assert records.stdout.decode() == "cat\n"
    of_lattices = decode(parts, "--terms", terms, "--input-format", "plf")
    assert of_lattices.returncode == 2 and b"--markup and --terms are for text" in of_lattices.stderr
    write(tmp_path / "terms", ["le chat\tthe feline\tS"])
    assert "the model has no label S (labels: X)" in one_error_line(decode(parts, *options))
    write(tmp_path / "terms", ["le chat\tthe feline\tNP"])
    wrong = one_error_line(decode(parts, *options))
    assert f"hiero: {terms}: term 'le chat': the model has no label NP (labels: X)" in wrong
    write(tmp_path / "terms", ["a\tb", "\u00ad\tx"])
    lone = decode(parts, *options)
    assert (lone.returncode, lone.stdout.decode().splitlines()[1]) == (0, "cat")


def test_rate_of_terms(tmp_path: Path) -> None:
    terms = write(tmp_path / "terms", ["chat\tcat", "chat\ttom", "noir\tdark"])
    source = write(tmp_path / "source", ["le chat noir", "un Chat", "rien"])
    references = write(tmp_path / "references", ["the dark cat", "a cat", "nothing"])
    system = write(tmp_path / "system", ["the black Tom", "a dog", "nothing"])
    files = ("--references", references, "--hypothesis", system)
    done = call("hiero", "eval", *files, "--terms", terms, "--source", source, "--by", "segment")
    lines = done.stdout.decode().splitlines()
    assert "Terms = 33.3333 1 of 3 terms" in lines
    scores = [line.split()[-1] for line in lines if line.startswith("Terms\tsegment")]
    assert scores[-3:] == ["50.0000", "0.0000", "100.0000"]
    alone = call("hiero", "eval", *files, "--terms", terms)
    assert alone.returncode == 2 and b"--terms and --source go together" in alone.stderr
    short = write(tmp_path / "short", ["le chat noir"])
    wrong = call("hiero", "eval", *files, "--terms", terms, "--source", short)
    assert wrong.returncode == 1 and str(short).encode() in wrong.stderr


def test_terms_are_found_in_the_text_of_each_side() -> None:
    glossary = Glossary([Term("Haus", ("red house",))])
    sides = TextProcessing(TextSide("moses", "de"), TextSide())
    metric = Terms([["x"], ["x"]], ["Haus!", "Haus!"], glossary, sides)
    rows = metric.statistics(["a red house here", "a red house!"])
    assert rows.tolist() == [[1, 1], [1, 0]]
    assert float(metric.score(rows.sum(axis=0))) == 50 and float(metric.score([0, 0])) == 100
    other = Terms([["x"]], ["Haus!"], Glossary([Term("Haus", ("home",))]), sides)
    assert metric.signature != other.signature
    with pytest.raises(ValueError, match="1 lines of the source for 2 segments"):
        Terms([["x"], ["x"]], ["Haus!"], glossary, sides)


def test_features_that_sentences_bring_are_added() -> None:
    model = hiero.Model([hiero.RuleTable.from_rules([Rule("[X] ||| a ||| b ||| P=1")])], [], {"P": 1.0})
    marked = Sentence(tokens=["a"], markup=Markup([Phrase(0, 1, ["x"])]))
    lattice = Sentence(lattice=hiero.Lattice([hiero.Arc("a", 0, 1, (-1.0,))]))
    assert with_sentence_features(model, [([Sentence("a")], [])]) is model
    first = with_sentence_features(model, [([marked], [])])
    both = with_sentence_features(first, [([Sentence("a"), lattice], [])])
    assert {"P", "Markup", "MarkupProbability", "Lattice0"} <= set(both.feature_names)
    assert (both.weights["MarkupProbability"], both.weights["Lattice0"], both.weights["P"]) == (1, 1, 1)
    assert hiero.Decoder(both).translate(marked).score == hiero.Decoder(model).translate(marked).score


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> hiero.Model:
    """A model of truecased text with words that are protected."""
    case = tmp_path_factory.mktemp("case") / "case"
    case.write_text("the (9/9)\nhe (9/9)\n")
    sides = TextProcessing(
        TextSide("moses", "fr", protect=(r"\{\d+\}",)),
        TextSide("moses", "en", truecaser=str(case), protect=(r"\{\d+\}",)),
    )
    rules = [
        "[X] ||| le ||| the ||| P=-1 ||| 0-0",
        "[X] ||| téléphone ||| phone ||| P=-1 ||| 0-0",
        "[X] ||| {0} ||| nothing ||| P=5",
        "[X] ||| le {0} ||| the {0} {0} ||| P=9",
        "[X] ||| [X,1] {1} ||| {1} [X,1] ||| P=2",
        "[X] ||| [X,1] {0} bleu ||| {1} blue [X,1] ||| P=5",
        "[X] ||| bleu ||| blue ||| P=0",
    ]
    table = hiero.RuleTable.from_rules([Rule(rule) for rule in rules])
    return hiero.Model([table], [], {"P": 1.0}, text=sides)


def test_terms_are_written_as_given(texts: hiero.Model) -> None:
    decoder = hiero.Decoder(texts)
    assert decoder.translate("le téléphone").text == "The phone"
    marked = Sentence.from_markup('<t translation="iPhone">le téléphone</t> bleu')
    assert decoder.translate(marked).text == "iPhone blue"
    assert (
        decoder.translate(Sentence.from_markup('le <t translation="iPhone">téléphone</t>')).text
        == "The iPhone"
    )


def test_terms_in_tokens_are_written_as_given(texts: hiero.Model) -> None:
    side = replace(texts.text.target, scheme="none")
    assert side.text(["the", "iphone", ".", "he"]) == "The iphone . He"
    assert side.text(["iphone", "he", ".", "he"], {0, 3}) == "iphone he . he"


def test_raw_lattices_become_text(texts: hiero.Model) -> None:
    arcs = [hiero.Arc("le", 0, 1), hiero.Arc("téléphone", 1, 2)]
    decoder = hiero.Decoder(texts)
    assert decoder.translate(Sentence(lattice=hiero.Lattice(arcs, raw=True))).text == "The phone"
    assert decoder.translate(Sentence(lattice=hiero.Lattice(arcs))).text == "the phone"


def test_protected_parts_are_kept(texts: hiero.Model) -> None:
    """Each occurs as often as in the sentence, in place or moved, whatever the rules."""
    decoder = hiero.Decoder(texts)
    assert decoder.translate("le {0} téléphone").text == "The {0} phone"
    assert decoder.translate("le téléphone {1}").text == "The {1} phone"
    assert decoder.translate("{0} {0} {1} www.a.org/le bleu").text.count("{0}") == 2
    # Marks of joined tokens do not matter, and other words are not kept.
    assert decoder.translate("le/{0} téléphone").text == "The/{0} phone"
    for one in decoder.translate("le {0} téléphone {1} {0}", keep="forest").kbest(50):
        assert sorted(token for token in one.tokens if "{" in token) == ["{0}", "{0}", "{1}"]
    assert hiero.Decoder(texts, pass_through="none").translate("le {0}").text == "The {0}"
