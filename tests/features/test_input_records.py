"""Tests of input records: short forms, JSON lines, and parses from a file beside the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiero
from hiero import FormatError, Rule, Sentence, Tree
from hiero.features import FineSyntax
from hiero.text import TextSide
from support.commands import call, one_error_line

CHAT = "(NP (DT le) (NN chat))"
DORT = "(S (NP (DT le) (NN chat)) (VP (VB dort)))"


def test_short_forms() -> None:
    tree = Tree.read(CHAT)
    assert Sentence.from_source("le chat") == Sentence(text="le chat")
    assert Sentence.from_source(["le", "chat"], id=3) == Sentence(tokens=["le", "chat"], id=3)
    whole = Sentence("le chat", parse=tree)
    assert Sentence.from_source(whole) is whole and Sentence.from_source(whole, id="a") == Sentence(
        "le chat", id="a", parse=tree
    )
    assert Sentence() == Sentence(tokens=[]) != Sentence("")
    with pytest.raises(ValueError, match="text or tokens, not both"):
        Sentence("le", tokens=["le"])
    with pytest.raises(TypeError, match="a list of tokens, not the string 'le chat'"):
        Sentence(tokens="le chat")
    with pytest.raises(FormatError, match="tokens: 'le chat' is empty or contains white space"):
        Sentence.from_source(["le chat"])


def test_features_see_tokens_and_the_parse_over_them() -> None:
    sentence = Sentence("Le CHAT", parse=Tree.read(CHAT)).with_tokens(TextSide(lowercase=True))
    assert sentence.text is None and list(sentence.tokens) == ["le", "chat"]
    assert sentence.parse is not None and sentence.parse.tokens == ("le", "chat")
    with pytest.raises(FormatError, match="chien"):
        Sentence("le chien", parse=Tree.read(CHAT)).with_tokens(TextSide())


def test_json_holds_all_of_it() -> None:
    rule = Rule("[X] ||| chat [X,1] ||| [X,1] cat ||| NameRule=1 ||| 0-1")
    every = Sentence(
        tokens=["le", "chat", "|||"],
        id="a b",
        rules=[rule],
        parse=Tree.read("(NP (DT le) (NN chat) (SYM |||))"),
        annotations={"topic": "pets", "at": [1, 2.5, None]},
    )
    line = every.to_json()
    assert Sentence.from_json(line) == every and "\n" not in line
    assert json.loads(line)["rules"] == [str(rule)]
    for short in (Sentence(""), Sentence(), Sentence("é\u2028x", id=0), Sentence(tokens=["a"])):
        assert Sentence.from_json(short.to_json()) == short


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Invalid JSON"),
        ("[]", "object"),
        ("{}", "expected either text or tokens"),
        ('{"text": "a", "tokens": ["a"]}', "expected either text or tokens"),
        ('{"tokens": "a b"}', "tokens: Input should be a valid (list|array)"),
        ('{"tokens": ["a", "b c"]}', "tokens: 'b c' is empty or contains white space"),
        ('{"tokens": [" a"]}', "tokens: ' a' is empty"),
        ('{"tokens": [""]}', "tokens: '' is empty"),
        ('{"tokens": [1]}', r"tokens\.0: Input should be a valid string"),
        ('{"text": "a", "pars": ""}', "pars: no such name: is it parse?"),
        ('{"text": "a", "rules": ["[X] ||| a"]}', "fields"),
        ('{"text": "a", "parse": "(NP (NN a)"}', "bracket"),
        ('{"text": "a", "id": [1]}', "id"),
    ],
)
def test_bad_records(line: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Sentence.from_json(line)


@pytest.fixture
def model(french: Path, tmp_path: Path) -> Path:
    """A directory with the French model and soft syntax features."""
    weights = hiero.read_weights(french / "weights.txt") | {"Syntax_NP_Match": 0.5, "NameRule": 0.25}
    local = [FineSyntax(labels=("NP",))]
    model = hiero.Model.assemble(
        [french / "grammar.txt"], [french / "lm.arpa"], weights, local_features=local
    )
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_decoding_json_lines(model: Path, tmp_path: Path) -> None:
    records = [
        Sentence("le chat", id="first", parse=Tree.read(CHAT)),
        Sentence(tokens=["le", "chat", "dort"], parse=Tree.read(DORT)),
        Sentence("le chat"),  # without a parse
        Sentence(
            "wug",
            id=7,
            rules=[Rule("[X] ||| wug ||| the wug ||| NameRule=1 Own=1")],
            parse=Tree.read("(NP (NN wug))"),
        ),
    ]
    lines = [record.to_json() for record in records]
    lines.insert(2, '{"text": 1, "id": "third"}')
    lines += ["", '{"text": "le chat", "id": 9, "parse": "(NP (NN"}', '{"text": "a", "id": [0]}']
    path = tmp_path / "in.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    common = (
        "hiero-decode",
        "--model",
        model,
        "--quiet",
        "--output-format",
        "jsonl",
        "--set-weight",
        "Own=2",
    )
    done = call(*common, "-i", path)
    assert done.returncode == 1
    records = [json.loads(line) for line in done.stdout.splitlines()]
    # The number of a line may be the id of another record.
    assert [record["id"] for record in records] == ["first", 1, "third", 3, 7, None, 9, None]
    errors = done.stderr.decode().splitlines()
    assert errors[0].startswith(f"{path}:3: text: Input should be a valid string")
    assert errors[1] == f"{path}:4: local features Syntax_NP_Match, Syntax_NP_Cross: no parse"
    assert errors[2].startswith(f"{path}:6: Invalid JSON") and len(errors) == 5
    assert records[0]["features"]["Syntax_NP_Match"] >= 1 and records[1]["error"] is None
    assert records[4]["text"] == "the wug" and records[4]["features"]["Own"] == 1
    again = call(*common, "--input-format", "jsonl", stdin=path.read_text())
    assert again.stdout == done.stdout
    # A weight without a feature.
    done = call(*common, "-i", path, "--set-weight", "Onw=2")
    assert (
        done.returncode == 1
        and "weights of Onw: the model has no such features, nor had the rules" in done.stderr.decode()
    )


def test_parses_beside_the_text(model: Path, tmp_path: Path) -> None:
    text, parses = tmp_path / "text", tmp_path / "parses"
    text.write_text("le chat\nle chat dort\n")
    parses.write_text(f"{CHAT}\n{DORT}\n")
    command = ("hiero-decode", "--model", model, "--quiet", "-i", text, "--parses", parses)
    done = call(*command, "--output-format", "jsonl")
    assert done.returncode == 0
    records = [json.loads(line) for line in done.stdout.splitlines()]
    decoder = hiero.Decoder(hiero.Model.load(model))
    twins = [Sentence("le chat", parse=Tree.read(CHAT)), Sentence("le chat dort", parse=Tree.read(DORT))]
    assert [record["features"] for record in records] == [decoder.translate(twin).features for twin in twins]
    for wrong, message, lines in (
        (f"{CHAT}\n", f"{text}:2: no tree: {parses} has 1", 2),
        (f"{CHAT}\n{DORT}\n{DORT}\n", f"{parses}: 3 trees for 2 sentences", 2),
        (f"{CHAT}\n{CHAT}\n", "dort", 2),  # a tree of other words
        (f"{CHAT}\n\n", f"{text}:2: local features Syntax_NP_Match, Syntax_NP_Cross: no parse", 2),
        (f"{CHAT}\n(S (NP\n", f"{parses}:2: ", 0),
    ):
        parses.write_text(wrong)
        done = call(*command)
        assert message in one_error_line(done)
        assert len(done.stdout.splitlines()) == lines
    # Where the file has no tree, the tree of the record is used.
    sentences = [Sentence("le chat", parse=Tree.read(CHAT)), Sentence("le chat dort")]
    text.write_text("".join(f"{sentence.to_json()}\n" for sentence in sentences))
    parses.write_text(f"\n{DORT}\n")
    again = call(*command, "--input-format", "jsonl", "--output-format", "jsonl")
    assert [json.loads(line)["features"] for line in again.stdout.splitlines()] == [
        record["features"] for record in records
    ]


def test_tuning_reads_the_same(model: Path, tmp_path: Path) -> None:
    texts, trees = ["le chat", "le chat dort"], [CHAT, DORT]
    (tmp_path / "text").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "parses").write_text("".join(f"{tree}\n" for tree in trees))
    records = [Sentence(a, parse=Tree.read(b)).to_json() for a, b in zip(texts, trees, strict=True)]
    (tmp_path / "records").write_text("".join(f"{record}\n" for record in records))
    (tmp_path / "references").write_text("the cat\nthe cat sleeps\n")
    common = ("hiero", "tune", model, "--method", "mert", "--references", tmp_path / "references", "--quiet")
    common += ("--iterations", 2)
    one = call(
        *common, "--source", tmp_path / "text", "--parses", tmp_path / "parses", "-o", tmp_path / "one"
    )
    assert one.returncode == 0
    records_of = ("--source", tmp_path / "records", "--input-format", "jsonl")
    other = call(*common, *records_of, "-o", tmp_path / "other")
    assert other.returncode == 0
    written = [(tmp_path / run / "weights.txt").read_text() for run in ("one", "other")]
    assert written[0] == written[1]
    # A held-out set takes parses in both ways too.
    held_out = ("--held-out-references", tmp_path / "references", "--held-out-source")
    parses = ("--parses", tmp_path / "parses", "--held-out-parses", tmp_path / "parses")
    tuned_on = ("--source", tmp_path / "text", *held_out, tmp_path / "text", *parses)
    assert call(*common, *tuned_on, "-o", tmp_path / "held").returncode == 0
    assert call(*common, *records_of, *held_out, tmp_path / "records", "-o", tmp_path / "out").returncode == 0
    scores = [(tmp_path / run / "iteration-001" / "scores.json").read_text() for run in ("held", "out")]
    assert scores[0] == scores[1] and '"held_out":null' not in scores[0]
    # The run recognises its parses and continues.
    assert call(*common, *records_of, "-o", tmp_path / "one").returncode == 0
    missing = call(*common, "--source", tmp_path / "text", "-o", tmp_path / "none")
    errors = missing.stderr.decode().splitlines()
    what = "local features Syntax_NP_Match, Syntax_NP_Cross: no parse"
    assert errors[:2] == [f"{tmp_path / 'text'}:{line}: {what}" for line in (1, 2)]
    assert errors[2:] == ["hiero: none of the sentences can be decoded"] and missing.returncode == 1
    # A sentence that cannot be decoded does not stop the others.
    (tmp_path / "parses").write_text(f"{CHAT}\n\n")
    parsed = ("--source", tmp_path / "text", "--parses", tmp_path / "parses")
    for method, out in (("mert", "alone"), ("mira", "mira")):
        alone = call(*common, *parsed, "-o", tmp_path / out, "--method", method)
        assert alone.stderr.decode().splitlines() == [
            f"{tmp_path / 'text'}:2: {what}",
            "hiero: 1 sentence could not be decoded and had no translation",
        ]
        assert alone.returncode == 1 and (tmp_path / out / "weights.txt").is_file()
        # The result is the same if nothing is left to do, or if the note is truncated.
        for more in ("", "x"):
            with (tmp_path / out / "failures.tsv").open("a") as file:
                file.write(more)
            again = call(*common, *parsed, "-o", tmp_path / out, "--method", method)
            assert (again.returncode, again.stderr) == (1, alone.stderr)
        assert (tmp_path / out / "failures.tsv").read_text() == f"{tmp_path / 'text'}:2\t{what}\n"
        assert (tmp_path / out / "translations.txt").read_text().splitlines()[1] == ""
    (tmp_path / "parses").write_text(f"{CHAT}\n{CHAT}\n")
    other_words = one_error_line(call(*common, *parsed, "-o", tmp_path / "none"))
    assert f"{tmp_path / 'parses'}:2: the parse has " in other_words
    (tmp_path / "records").write_text(f"{records[0]}\n{{}}\n")
    bad = call(*common, *records_of, "-o", tmp_path / "none")
    assert f"{tmp_path / 'records'}:2: expected either text or tokens" in one_error_line(bad)
    (tmp_path / "parses").write_text(f"{CHAT}\n")
    few = call(
        *common, "--source", tmp_path / "text", "--parses", tmp_path / "parses", "-o", tmp_path / "none"
    )
    assert f"{tmp_path / 'parses'}: 1 trees for 2 sentences" in one_error_line(few)


def test_parses_of_raw_text_fit_its_tokens() -> None:
    """Tokens have marks, plain punctuation and no entities; leaves of trees are as the text is."""
    side = TextSide("moses", "en", lowercase=True)
    leaves = "(S (NP (X He/she) (X 10:30)) (VP (V is) (. –) (. &amp;) (. ’s) (X <i>É</i>)) (. .))"
    sentence = Sentence("He/she 10:30 is – &amp; ’s <i>E\u0301</i>.", parse=Tree.read(leaves)).with_tokens(
        side
    )
    assert " ".join(sentence.tokens) == "he ￭/￭ she 10 :￭ 30 is - & ' s <i>￭ é ￭</i> ."
    assert sentence.parse is not None and sentence.parse.tokens == sentence.tokens
    assert str(sentence.parse).startswith(
        "(S (NP (X he) (X ￭/￭) (X she) (X 10) (X :￭) (X 30)) (VP (V is) (. -)"
    )
    with pytest.raises(FormatError, match='the parse has "We"'):
        Sentence("You are.", parse=Tree.read("(S (X We) (X are) (. .))")).with_tokens(side)
