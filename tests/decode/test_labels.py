"""Labels that are chosen: goal, copied words and glue; and what becomes of unknown words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import hiero
from support.commands import call
from support.grammars import GLUE, decoder, table, texts


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"copy_labels": ["G"]}, r"copied words: the goal \[G\] opens sentences"),
        ({"copy_labels": ["G</s>"]}, r"copied words: the goal \[G</s>\] opens sentences"),
        ({"copy_labels": ["[X]"]}, r'copied words: "\[X\]" is not a label'),
        ({"glue_labels": ["X"]}, r"a table has rules of the goal \[G\], so that no glue is made"),
        ({"copy_labels": "NP"}, "copy_labels: expected a list of labels, not the string 'NP'"),
        ({"glue_labels": "NP"}, "glue_labels: expected a list of labels, not the string 'NP'"),
    ],
)
def test_labels_that_cannot_be(settings: dict[str, Sequence[str]], message: str) -> None:
    tables = [table("[X] ||| a ||| A ||| W=1"), table(*GLUE)]
    with pytest.raises((hiero.FormatError, TypeError), match=message):
        hiero.Model(tables, [], {}, **settings)  # type: ignore[arg-type]


def test_models_put_together_with_labels(tmp_path: Path) -> None:
    texts(tmp_path, rules="[Y] ||| a ||| A ||| -1\n[Z] ||| a ||| B ||| 0\n")
    assemble = ("hiero", "assemble", "--grammar", tmp_path / "rules", "-o", tmp_path / "m")
    done = call(*assemble, "--goal", "TOP", "--copy-label", "Z", "--glue-label", "Y", "Z")
    assert (done.returncode, done.stderr) == (0, b"")
    model = hiero.Model.load(tmp_path / "m")
    assert (model.goal, model.copy_labels, model.glue_labels) == ("TOP", ("Z",), ("Y", "Z"))
    done = call("hiero-decode", "--model", tmp_path / "m", "--quiet", stdin="a q\n")
    assert (done.returncode, done.stdout) == (0, b"B q\n")


def test_a_label_twice_copies_once() -> None:
    model = hiero.Model([table("[X] ||| a ||| A ||| W=1")], [], {}, copy_labels=["X", "X"])
    forest = decoder(model, {}).translate("a q", keep="forest").forest
    assert forest is not None and forest.derivation_count == 1


def test_copy_labels_say_what_passes_through() -> None:
    rules = table(
        "[X] ||| a ||| A ||| W=1",
        "[Y] ||| b ||| B ||| W=1",
        "[S] ||| x [Y,1] ||| y [Y,1] ||| W=1",
        "[S] ||| z [X,1] ||| x [X,1] ||| W=1",
    )

    def parses(sentence: str, *labels: str) -> bool:
        model = hiero.Model([rules], [], {}, copy_labels=labels)
        return hiero.Decoder(model).translate(sentence).has_parse

    assert [parses("x q"), parses("z q")] == [False, True]
    assert [parses("x q", "Y"), parses("z q", "Y")] == [True, False]
    assert [parses("x q", "X", "Y"), parses("z q", "X", "Y")] == [True, True]


def test_glue_labels_say_what_is_glued() -> None:
    rules = table("[X] ||| a ||| A ||| W=1", "[Y] ||| a ||| B ||| W=2")

    def outputs(*labels: str) -> set[str]:
        decoder = hiero.Decoder(hiero.Model([rules], [], {}, glue_labels=labels), pop_limit=0)
        return {d.text for d in decoder.translate("a a", keep="forest").kbest(9)}

    assert outputs() == {"A A", "A B", "B A", "B B"}
    assert outputs("X") == {"A A"}
    assert outputs("Y") == {"B B"}
    with pytest.raises(hiero.FormatError, match=r"glue: no rule derives \[Z\]"):
        outputs("Z")


def test_labels_and_unknown_words_from_the_command_line(tmp_path: Path) -> None:
    (rules,) = texts(
        tmp_path,
        rules="[X] ||| a ||| A ||| W=1\n[Y] ||| a ||| B ||| W=2\n[T] ||| [Y,1] a ||| C [Y,1] ||| W=-9\n",
    )

    def decode(*options: object, stdin: str = "a a q\n") -> str:
        weights = ("--set-weight", "W=1", "--set-weight", "OOV=-1", "--quiet")
        done = call("hiero-decode", "--grammar", rules, *weights, *options, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode().removesuffix("\n")

    assert decode() == "B B q"
    assert decode("--glue-label", "X") == "A A q"
    assert decode("--copy-label", "Y", "--glue-label", "X", "--glue-label", "Y") == "B B q"
    only = call(
        "hiero-decode", "--grammar", rules, "--copy-label", "Y", "--glue-label", "X", "--quiet", stdin="q\n"
    )
    assert (only.returncode, only.stdout) == (1, b"\n")  # copied as Y, which is not glued
    assert decode("--goal", "T", stdin="a a\n") == "C B"
    assert decode("--unknown-words", "copy") == "B B q"
    assert decode("--unknown-words", "mark") == "B B q_OOV"
    assert decode("--unknown-words", "drop") == "B B"
    record = json.loads(decode("--output-format", "jsonl", "--unknown-words", "drop"))
    assert (record["features"]["OOV"], record["features"].get("Identity", 0)) == (1, 0)
    hiero.Model.assemble([rules]).save(tmp_path / "m")
    for option in ("--goal", "--copy-label", "--glue-label"):
        done = call("hiero-decode", "--model", tmp_path / "m", option, "X", stdin="a\n")
        assert done.returncode == 2
        assert "a model has its own" in " ".join(done.stderr.decode().replace("│", "").split())
    marked = call(
        "hiero-decode", "--model", tmp_path / "m", "--unknown-words", "mark", "--quiet", stdin="q\n"
    )
    assert marked.stdout == b"q_OOV\n"
    assert call("hiero-decode", "--grammar", rules, "--unknown-words", "no", stdin="a\n").returncode == 2
