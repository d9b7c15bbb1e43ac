"""Tests of nonterminal labels with commas, as in treebank tags."""

from __future__ import annotations

from pathlib import Path

from hiero import Decoder, Model, Rule
from hiero.base.tables import search


def test_labels_with_commas() -> None:
    """Treebank tags such as ``$,`` in German and ``,`` in English become labels in Moses' target syntax."""
    moses = Rule("das [X][PUNC,] [X] ||| that [X][PUNC,] [S,] ||| 1 ||| 1-1")
    assert str(moses) == "[S,] ||| das [PUNC,,1] ||| that [PUNC,,1] ||| tm_sentence_0=0"
    indexed = Rule("[$,] ||| [$,,2] a [,,1] ||| [,,1] [2] b ||| A=1")
    assert (indexed.lhs, indexed.source, indexed.target) == (
        "$,",
        ["[$,,1]", "a", "[,,2]"],
        ["[,,2]", "[$,,1]", "b"],
    )
    assert (
        str(Rule("[X] ||| [$,] a [,] ||| [2] [1] ||| A=1"))
        == "[X] ||| [$,,1] a [,,2] ||| [,,2] [$,,1] ||| A=1"
    )
    for rule in (moses, indexed):
        assert str(Rule(str(rule))) == str(rule)


def test_labels_with_commas_derive(tmp_path: Path) -> None:
    """Labels with commas work in packed tables, searching them, decoding, and options that name labels."""
    (tmp_path / "rules").write_text(
        "[S] ||| das [$,,1] haus ||| the [$,,1] house ||| A=1\n"
        "[$,] ||| , ||| ; ||| A=1\n"
        "[X] ||| [$,,1] [$,,2] ||| [$,,2] [$,,1] ||| A=1\n"
    )
    model = Model.assemble([tmp_path / "rules"], weights={"A": 1.0}, copy_labels=["$,"])
    assert model.tables[0].labels == ["S", "$,", "X"]
    assert Decoder(model).translate("das , haus").text == "the ; house"
    assert Decoder(model).translate("das neu haus").text == "the neu house"
    without_goal = tmp_path / "more"
    without_goal.write_text("[$,] ||| , ||| ; ||| A=1\n")
    glued = Decoder(Model.assemble([without_goal], weights={"A": 1.0}, glue_labels=["$,"]))
    assert glued.translate(", ,").text == "; ;"
    matches: list[str] = []
    search(model.tables[0], matches.append, prefix="[$,] [$,]")
    search(model.tables[0], matches.append, prefix="[$,,1]", target="[$,,2] [$,,1]")
    assert matches == ["[X] ||| [$,,1] [$,,2] ||| [$,,2] [$,,1] ||| A=1"] * 2
