"""Decoding says when much of a text is unknown to the model."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hiero
from hiero.text import TextProcessing, TextSide
from support.commands import call

GRAMMAR = "[X] ||| la maison ||| the house ||| 0\n[X] ||| maison ||| house ||| 0\n[X] ||| la ||| the ||| 0\n"
WARNING = "hiero: warning: standard input: 66.7 % of the words are unknown to the model, such as zut bof"


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    (tmp_path / "grammar").write_text(GRAMMAR)
    return tmp_path / "grammar"


def said(done: CompletedProcess[bytes]) -> list[str]:
    """Returns what a command printed on stderr, but for features without a weight."""
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if "without a weight" not in line]


def test_much_unknown_text(grammar: Path) -> None:
    decode = ("hiero-decode", "--grammar", grammar)
    text = "la zut zut\nbof maison zut\n"
    done = call(*decode, stdin=text)
    assert done.returncode == 0 and done.stdout == b"the zut zut\nbof house zut\n"
    assert said(done) == [WARNING]
    assert call(*decode, "--quiet", stdin=text).stderr == b""


def test_what_is_to_be_copied_is_not_unknown(tmp_path: Path) -> None:
    """Tags and addresses; and words are shown, and marked in translations, without marks of joining."""
    side = TextSide("moses", "en")
    rules = [hiero.Rule("[X] ||| a ||| a ||| P=0")]
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {}, text=TextProcessing(side, side))
    model.save(tmp_path / "model")
    command = ("hiero-decode", tmp_path / "model")
    done = call(*command, "--unknown-words", "mark", stdin="a <b>a</b> www.x.org b/c\n")
    assert done.stdout == b"a <b>_OOVa</b>_OOV www.x.org_OOV b_OOV/_OOVc_OOV\n"
    (warning,) = said(done)
    # Of the eight tokens, b, / and c are unknown.
    assert "standard input: 37.5 % of the words are unknown to the model, such as b / c" in warning


def test_a_tenth_is_usual(grammar: Path) -> None:
    lines = "la maison la maison la maison la maison la zut\n"
    assert call("hiero-decode", "--grammar", grammar, stdin=lines).stderr.count(b"unknown") == 0
    assert "20.0 % of" in said(call("hiero-decode", "--grammar", grammar, stdin="la la la la zut\n"))[0]
    stats = call("hiero-decode", "--grammar", grammar, "--stats", stdin=lines).stderr.decode()
    assert ", 10.0 % unknown\n" in stats
    assert said(call("hiero-decode", "--grammar", grammar, stdin="\n")) == []
