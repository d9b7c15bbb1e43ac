"""Input of `hiero-decode` for single sentences: additional rules, and references to force."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiero
from hiero.forest.files import ForestFile
from hiero.rerank import Reranker
from support.commands import call, decode, one_error_line
from support.files import write
from support.paths import FRENCH

SOURCE = "je vois le chat\n\nil mange\nle chat\n"


def test_rules_for_single_sentences(parts: list[object], tmp_path: Path) -> None:
    plain = decode(parts, stdin=SOURCE).stdout.decode().splitlines()
    assert plain[0] == "i see the cat" and plain[3] == "the cat"
    rules = write(
        tmp_path / "rules",
        [
            "3 ||| [X] ||| le chat ||| tom ||| Term=1 ||| 1-0",
            "0 ||| [X] ||| le chat ||| felix ||| PhraseFE=9",
        ],
    )
    own = ("--rules", rules, "--set-weight", "Term=20")
    archive, steps = tmp_path / "forests", tmp_path / "steps"
    done = decode(parts, *own, "--forests", archive, "--derivations", steps, stdin=SOURCE)
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.decode().splitlines() == ["i see felix", "", plain[2], "tom"]
    last = [step["features"] for step in json.loads(steps.read_text().splitlines()[-1])["derivation"]]
    assert [features["Term"] for features in last if "Term" in features] == [1]
    for threads in (1, 3):
        links = decode(parts, *own, "--output-format", "alignment", "--threads", threads, stdin=SOURCE)
        assert links.stdout.decode().splitlines()[3] == "1-0"
    # A second stage knows them not, and takes what they are given.
    second = tmp_path / "reranker.json"
    model = hiero.Model.assemble(parts[1:2], parts[3:4], parts[5])  # type: ignore[arg-type]
    Reranker(weights=model.weights, score=1.0, ngrams={"felix": -1.0}).save(second)
    reranked = decode(parts, *own, "--reranker", second, stdin=SOURCE)
    assert reranked.stdout == done.stdout
    saved = call("hiero", "rerank", archive, "--reranker", second)
    assert saved.stdout == done.stdout
    # The archive knows their weights too, and each of its forests those of its own features.
    lists = call("hiero", "forest", "kbest", archive, "-k", 1).stdout.decode().splitlines()
    assert [line.split(" ||| ")[1] for line in lists] == ["i see felix", plain[2], "tom"]
    nbest = decode(parts, *own, "--nbest", 1, "--output-format", "nbest", stdin=SOURCE).stdout.decode()
    assert lists == [line for line in nbest.splitlines() if not line.startswith("1 ")]


def test_weights_of_rules_from_a_file(parts: list[object], tmp_path: Path) -> None:
    """A weights file may name features of rules, as --set-weight does; the option goes first."""
    rules = write(tmp_path / "rules", ["0 ||| [X] ||| le chat ||| tom ||| Term=1"])
    known = Path(str(parts[5])).read_text().splitlines()
    weights = write(tmp_path / "weights", [*known, "Term 20"])
    own = (*parts[:4], "--rules", rules, "--weights", weights)
    command = ("hiero-decode", *own, "--quiet")
    done = call(*command, stdin="le chat\n")
    assert (done.returncode, done.stdout) == (0, b"tom\n")
    assert call(*command, "--set-weight", "Term=-20", stdin="le chat\n").stdout == b"the cat\n"
    misspelt = write(tmp_path / "weights", [*known, "Term 20", "LMO 1"])
    assert f"hiero: {misspelt}: no feature 'LMO', but LM0, " in one_error_line(
        call(*command, stdin="le chat\n")
    )


def test_blank_references(parts: list[object], tmp_path: Path) -> None:
    """A blank line is a missing reference; where there is no other, an empty translation is asked for, which
    a rule that leaves its words out yields. What cannot be had is said of its sentence alone."""
    rules = write(tmp_path / "rules", ["1 ||| [X] ||| le chat ||| ||| Gone=1"])
    one = write(tmp_path / "r1", ["", "  ", "it eats", ""])
    other = write(tmp_path / "r2", ["the cat", "", "", ""])
    own = (
        "--rules",
        rules,
        "--set-weight",
        "Gone=-9",
        "--output-format",
        "jsonl",
        "--references",
        one,
        other,
    )
    done = decode(parts, *own, stdin="le chat\nle chat\nil mange\nle chat\n")
    assert done.returncode == 1
    error = (
        "its references are blank, and no derivation yields nothing; no rule that agrees translates: le chat"
    )
    assert done.stderr.decode() == f"input:4: {error}\n"
    records = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [record["text"] for record in records] == ["the cat", "", "it eats", ""]
    assert [record["error"] for record in records] == [None, None, None, error]
    assert records[1]["features"]["Gone"] == 1
    weights = {**hiero.read_weights(str(parts[5])), "Gone": -9.0}
    score = sum(weights.get(name, 0.0) * value for name, value in records[1]["features"].items())
    assert records[1]["score"] == pytest.approx(score) and score < -8


def test_the_best_derivation_of_a_reference(parts: list[object], tmp_path: Path) -> None:
    first = write(tmp_path / "r1", ["i see the cat", "x", "it eats", "no such thing"])
    second = write(tmp_path / "r2", ["i see the dog", "x", "he eats", "the black cat"])
    archive = tmp_path / "forests"
    outputs = ("--output-format", "jsonl", "--forests", archive, "--nbest", 5)
    done = decode(parts, "--references", first, second, *outputs, stdin=SOURCE)
    assert done.returncode == 1
    assert done.stderr == b"input:4: no derivation yields a reference\n"
    records = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [record["text"] for record in records[:2]] == ["i see the cat", ""]
    assert (records[3]["text"], records[3]["nbest"], records[3]["score"]) == ("", [], None)
    assert records[3]["error"] == "no derivation yields a reference"
    twice = decode(parts, "--references", first, first, stdin=SOURCE).stderr.decode()
    assert twice.startswith(f"hiero: warning: {first}: is given twice\n")
    # What it should have found: the best of all derivations of either string.
    free = decode(parts, "--nbest", 1000, "--output-format", "jsonl", stdin=SOURCE).stdout.decode()
    for number, texts in ((0, {"i see the cat"}), (2, {"it eats", "he eats"})):
        hypotheses = json.loads(free.splitlines()[number])["nbest"]
        wanted = [each for each in hypotheses if " ".join(each["tokens"]) in texts]
        assert records[number]["nbest"] == wanted[:5]
        assert records[number]["score"] == wanted[0]["score"]
        assert records[number]["features"] == wanted[0]["features"]
    with ForestFile(archive) as forests:
        texts = [{each.text for each in forest.kbest(1000, forests.weights or {})} for forest in forests]
    assert texts == [{"i see the cat"}, set(), {"it eats", "he eats"}, set()]
    assert call("hiero", "forest", "stats", archive).returncode == 0


def test_prefixes(parts: list[object], tmp_path: Path) -> None:
    """Each line begins as its line of the file: the last word may be unfinished, unless a blank follows."""
    prefixes = write(tmp_path / "prefixes", ["i see t", "", "i", "no such"])
    done = decode(parts, "--prefixes", prefixes, stdin=SOURCE)
    assert done.stdout.decode() == "i see the cat\n\nit eats\nno such\n"
    # Tokens are whole words.
    words = write(tmp_path / "words", ["i see the", "", "it", "the"])
    done = decode(parts, "--tokens", "--prefixes", words, stdin=SOURCE)
    assert done.stdout.decode() == "i see the cat\n\nit eats\nthe cat\n"
    done = decode(parts, "--tokens", "--prefixes", write(words, ["i see t", "", "i", "the"]), stdin=SOURCE)
    assert done.stdout.decode() == "i see t the cat\n\ni eats\nthe cat\n"
    for wrong in (["i"], ["i"] * 5):
        done = decode(parts, "--prefixes", write(prefixes, wrong), stdin=SOURCE)
        assert f"{prefixes}: {len(wrong)} lines, where the source has" in done.stderr.decode()
    # JSON lines say it of their own sentences.
    records = [
        {"text": "il mange", "prefix": "it "},
        {"text": "il mange", "required": ["eat"], "forbidden": ["it"]},
        {"text": "il mange", "references": ["it eat", "the cat", "it eats"]},
        {"text": "il mange", "required": ["cat"]},
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    done = decode(parts, "--input-format", "jsonl", stdin=text)
    assert done.stdout.decode().splitlines() == ["it eats", "he eat", "it eats", ""]
    assert done.stderr.decode().startswith("input:4: no derivation obeys what is said of the translation")


def test_references_are_raw_where_text_is(parts: list[object], tmp_path: Path) -> None:
    french = FRENCH
    model = tmp_path / "model"
    grammar = ("--grammar", french / "grammar.txt", "--lm", french / "lm.arpa")
    weights = ("--weights", french / "weights.txt")
    made = call("hiero", "assemble", "-o", model, *grammar, *weights, "--tokenize", "fr:moses", "en:moses")
    assert made.returncode == 0, made.stderr
    reference = write(tmp_path / "r", ["i see the cat.".replace(".", " .")])
    raw = write(tmp_path / "raw", ["i see the cat."])
    for given, more in ((raw, ()), (reference, ("--tokens",))):
        line = "je vois le chat .\n" if more else "je vois le chat.\n"
        command = ("hiero-decode", "--model", model, "--references", given, *more, "--quiet")
        done = call(*command, stdin=line)
        assert (done.returncode, done.stdout.decode().strip()) == (0, given.read_text().strip())
    # As tokens, the last two of the raw reference are one.
    command = ("hiero-decode", "--model", model, "--references", raw, "--tokens", "--quiet")
    done = call(*command, stdin="je vois le chat .\n")
    assert "no derivation yields a reference" in one_error_line(done)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[X] ||| a ||| b", "{}:1: expected the number of a sentence, from 0, ||| and a rule"),
        ("-1 ||| [X] ||| a ||| b", "{}:1: expected the number of a sentence, from 0, ||| and a rule"),
        ("0 ||| [X] ||| [X,1] b ||| a [X,2]", "{}:1: "),
        (
            "0 ||| [X] ||| a ||| b ||| New=1",
            "{}: features that the model has not need weights, by --weights or --set-weight: New",
        ),
        ("4 ||| [X] ||| a ||| b", "{}: rules of sentence 4, where the source has 4, from 0"),
    ],
)
def test_bad_rules(parts: list[object], tmp_path: Path, line: str, message: str) -> None:
    rules = write(tmp_path / "rules", [line])
    output = tmp_path / "out"
    done = decode(parts, "--rules", rules, "-o", output, stdin=SOURCE)
    assert message.format(rules) in one_error_line(done) and not output.exists()


@pytest.mark.parametrize("lines", [3, 5])
def test_other_numbers_of_references(parts: list[object], tmp_path: Path, lines: int) -> None:
    references = write(tmp_path / "r", ["the cat"] * lines)
    source = "le chat\n" * 4
    error = one_error_line(decode(parts, "--references", references, stdin=source))
    assert (
        error
        == f"hiero: {references}: {lines} segments, where the source has {'4' if lines > 4 else 'more'}\n"
    )


def test_matrix_of_a_forest_without_derivations(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    forest = hiero.Decoder(model).translate("le chat", keep="forest").forest
    assert forest is not None
    assert forest.constrain([["dog"]]).features.shape == (0, len(model.feature_names))
