"""Lattices through commands, and tuning of what sentences bring: lattices, terms and rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiero
from hiero import Arc, Lattice, Sentence, read_weights
from hiero.cli.io.sets import read_alignments
from hiero.forest.files import ForestFile
from hiero.generators import SentenceFeatures
from hiero.pages.outline import applied_rules
from support.commands import call, decode
from support.files import write
from support.tune_command import arguments

PLF = [
    "((('le',-0.1,1),('la',-2,1),),(('chat',-0.1,2),('cha',-3,1),),(('ts',0,1),),)",
    "()",
    "((('il',0,1),),(('mange',0,2),),)",
    "",
    "((('il',0,1),),(('*EPS*',0,1),('ne',-9,1),),(('mange',0,1),),)",
]


def test_lattices_are_translated(parts: list[object], tmp_path: Path) -> None:
    source = write(tmp_path / "input.plf", PLF)
    archive = tmp_path / "forests"
    done = decode(parts, "--source", source, "--forests", archive, "--output-format", "jsonl")
    assert done.returncode == 1
    assert done.stderr.decode() == f"{source}:3: PLF: an arc leads beyond the last node, 2\n"
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["text"] for record in records] == ["the cat", "", "", "", "he eats"]
    assert records[0]["path"] == [0, 2] and records[0]["features"]["Lattice0"] == pytest.approx(-0.2)
    assert records[0]["alignment"] == [[0, 0], [2, 1]] and "path" not in records[1]
    with ForestFile(archive) as forests:
        assert forests[0].source_nodes.tolist() == [[0, 1], [0, 1], [1, 3], [1, 2], [2, 3]]
    for options in (("--set-weight", "Lattice0=-50"), ("--tokens", "--set-weight", "Lattice0=-50")):
        turned = decode(parts, "--source", source, *options).stdout.decode().splitlines()
        assert turned[0].endswith("cha ts")
    page = call("hiero", "forest", "show", archive, "--sentence", 0, "-o", tmp_path / "page.html")
    assert page.returncode == 0, page
    # A rule points at the words of its arcs, and not at those of other paths.
    with ForestFile(archive) as forests:
        best = forests[0].kbest(1, forests.weights)[0]
        rules = applied_rules(best, best.alignment)
    words = {name for rule in rules for name in rule.elements if name.startswith("s")}
    assert words == {"s0", "s2"}
    unknown = decode(parts, "--source", source, "--set-weight", "Latice0=1")
    assert unknown.returncode == 1 and b"weights of Latice0" in unknown.stderr
    trees = write(tmp_path / "trees", ["(S (X le) (X chat))", "", "", "", ""])
    parsed = decode(parts, "--source", source, "--parses", trees)
    assert f"{source}:1: a lattice has neither a parse nor marks" in parsed.stderr.decode()
    assert parsed.stdout.decode().splitlines() == ["", "", "", "", "he eats"]
    both = json.dumps({"lattice": Lattice.from_plf(PLF[0]).to_json(), "parse": "(S (X le) (X chat))"})
    record = decode(parts, "--input-format", "jsonl", stdin=both)
    assert (
        record.stderr.decode()
        == "input:1: a lattice has neither a parse nor marks, which are of one string\n"
    )
    marked = decode(parts, "--input-format", "plf", "--markup", "ignore")
    assert marked.returncode == 2 and b"--markup and --terms are for text" in marked.stderr


def two_readings(line: str) -> Lattice:
    """Makes a lattice of the words of a line, and of another in the place of each, with a better score."""
    arcs = []
    for place, word in enumerate(line.split()):
        arcs += [Arc(word, place, place + 1, (-1.0,)), Arc("un", place, place + 1, (0.0,))]
    return Lattice(arcs)


def test_lattices_are_tuned(tuning_set: Path, tmp_path: Path) -> None:
    """A score that points the wrong way gets a negative weight."""
    lines = (tuning_set / "source").read_text().splitlines()
    lattices = [two_readings(line) for line in lines]
    source = write(tmp_path / "source.plf", [lattice.to_plf() for lattice in lattices])
    words = [str(word) for word in arguments(tuning_set, tmp_path / "out", "mert", "--iterations", 8)]
    words[words.index("--source") + 1] = str(source)
    done = call("hiero", *words, "--save", tmp_path / "model")
    assert (done.returncode, done.stderr) == (0, b""), done
    weights = read_weights(tmp_path / "out" / "weights.txt")
    assert weights["Lattice0"] < 0
    model = hiero.Model.load(tmp_path / "model")
    assert list(model.generators) == [SentenceFeatures(names=("Lattice0",))]
    decoder = hiero.Decoder(model)
    right = sum(
        decoder.translate(Sentence(lattice=one)).text == decoder.translate(line).text
        for one, line in zip(lattices, lines, strict=True)
    )
    assert right > len(lines) // 2
    # The weights go with the model that lacks the feature, for lattices, for text, and to compare.
    options = ("--model", tuning_set / "model", "--weights", tmp_path / "out", "--quiet")
    for input_ in (lattices[0].to_plf(), lines[0]):
        kind = "plf" if "(" in input_ else "text"
        text = call("hiero-decode", *options, "--input-format", kind, stdin=f"{input_}\n")
        assert (text.returncode, text.stderr) == (0, b"")
    table = call(
        *("hiero", "analyse", tuning_set / "model", "--source", source, "--weights", tmp_path / "out"),
        *("--references", tuning_set / "references"),
    )
    assert (table.returncode, table.stderr) == (0, b"") and str(tmp_path / "out") in table.stdout.decode()
    plain = call(
        *("hiero", "analyse", tuning_set / "model", "--source", tuning_set / "source"),
        *("--weights", tmp_path / "out", "--references", tuning_set / "references"),
    )
    assert (plain.returncode, plain.stderr) == (0, b"")


@pytest.mark.parametrize("measure", ["guided", "top-down", "concatenation", "partial-full"])
def test_lattices_are_tuned_on_spans(tuning_set: Path, tmp_path: Path, measure: str) -> None:
    lines = (tuning_set / "source").read_text().splitlines()
    source = write(tmp_path / "source.plf", [two_readings(line).to_plf() for line in lines])
    words = [str(word) for word in arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 2)]
    words[words.index("--source") + 1] = str(source)
    done = call("hiero", *words, "--search-aware", measure)
    assert (done.returncode, done.stderr) == (0, b""), done
    assert read_weights(tmp_path / "out" / "iteration-001" / "weights.txt")["Lattice0"] != 1


def test_word_links_are_not_of_lattices(tuning_set: Path, tmp_path: Path) -> None:
    links = write(tmp_path / "links", ["0-0", "0-0"])
    sentences = [Sentence(tokens=["le"]), Sentence(lattice=Lattice([Arc("le", 0, 1)]))]
    model = hiero.Model.load(tuning_set / "model")
    with pytest.raises(hiero.FormatError, match=f"{links}:2: word links are of one string"):
        read_alignments([links], (sentences, [["the"], ["the"]]), model)


def test_lattices_of_the_held_out_set_alone_have_features(tuning_set: Path, tmp_path: Path) -> None:
    held_out = write(tmp_path / "held.plf", ["((('chat',-0.5,1),),)"])
    reference = write(tmp_path / "held.en", ["cat"])
    options = ("--held-out-source", held_out, "--held-out-references", reference)
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 1), *options)
    assert (done.returncode, done.stderr) == (0, b""), done
    assert "Lattice0" in read_weights(tmp_path / "out" / "weights.txt")


def test_terms_and_rules_are_tuned(tuning_set: Path, tmp_path: Path) -> None:
    for label in ("NP", "S"):
        terms = write(tmp_path / "terms", [f"chat\tcat\t{label}"])
        done = call("hiero", *arguments(tuning_set, tmp_path / "no", "pro"), "--terms", terms)
        assert done.returncode == 1 and f"the model has no label {label}".encode() in done.stderr
    terms = write(tmp_path / "terms", ["chat\tcat", "maison\thouse"])
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 3), "--terms", terms)
    assert (done.returncode, done.stderr) == (0, b""), done
    weights = read_weights(tmp_path / "out" / "weights.txt")
    assert weights["Markup"] != 0 and "MarkupProbability" in weights
    # The weights go with a model that lacks the features.
    model = hiero.Model.load(tuning_set / "model")
    assert "Markup" not in model.feature_names
    options = ("--model", tuning_set / "model", "--weights", tmp_path / "out", "--quiet")
    text = call("hiero-decode", *options, "--terms", terms, "--soft-terms", stdin="chat\n")
    assert (text.returncode, text.stdout) == (0, b"cat\n")
    lines = (tuning_set / "source").read_text().splitlines()
    rules = ["[X] ||| chat ||| cat ||| Own=1"]
    records = [json.dumps({"text": line, "rules": rules}) for line in lines]
    source = write(tmp_path / "source.jsonl", records)
    words = [str(word) for word in arguments(tuning_set, tmp_path / "rules", "pro", "--iterations", 2)]
    words[words.index("--source") + 1] = str(source)
    done = call("hiero", *words)
    assert (done.returncode, done.stderr) == (0, b""), done
    assert "Own" in read_weights(tmp_path / "rules" / "weights.txt")
