"""Lattices as data: PLF, JSON, tokens in place of text, and arcs without words."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest

from hiero import Arc, FormatError, Lattice, Sentence
from hiero.features.lattice import is_lattice_feature
from hiero.text import TextSide, parse_side
from support.lattices import paths, random_lattice, same_paths


def test_plf() -> None:
    lattice = Lattice.from_plf(" ((('a',-0.1,2,1),('*EPS*',-2,0,2),),(('it\\'s',-0.5,1e-3,1),),) ")
    assert lattice.arcs == (
        Arc("a", 0, 1, (-0.1, 2.0)),
        Arc("", 0, 2, (-2.0, 0.0)),
        Arc("it's", 1, 2, (-0.5, 0.001)),
    )
    assert lattice.features == ["Lattice0", "Lattice1"] and lattice.has_empty_arcs
    assert Lattice.from_plf(lattice.to_plf()) == lattice
    assert Lattice.from_plf("((('a',1),),)").features == []
    for seed in range(200):
        rng = random.Random(seed)
        drawn = random_lattice(rng, "ab'", rng.randint(2, 6), rng.randint(0, 2), empty=0.2)
        assert Lattice.from_plf(drawn.to_plf()) == drawn


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "expected tuples"),
        ("((('a',1,1),),", "expected tuples"),
        ("__import__('os')", "expected tuples"),
        ("(" * 500, "expected tuples"),
        ("3", "expected a tuple of nodes"),
        ("()", "expected a tuple of nodes"),
        ("[[('a',1,1)]]", "expected a tuple of nodes"),
        ("((),)", "expected a tuple of arcs"),
        ("((('a',),),)", "expected an arc"),
        ("((('a',1.0),),)", "expected an arc"),
        ("(((3,0,1),),)", "expected an arc"),
        ("((('a',True,1),),)", "expected an arc"),
        ("((('a',0,True),),)", "expected an arc"),
        ("((('a','b',1),),)", "expected an arc"),
        ("((('a',0,2),),)", "beyond the last node, 1"),
        ("((('a',0,0),),)", "an arc from node 0 to 0"),
        ("((('a',0,-1),),)", "an arc from node 0 to -1"),
        ("((('a',0,2),),(('b',0,1),),)", "node 1 is on no path"),
        ("((('a',0,1),('b',1),),)", "not all as many scores"),
        ("((('a b',0,1),),)", "contains white space"),
        ("((('a',1e999,1),),)", "a score is not finite"),
        ("((('a\\q',0,1),),)", r"PLF: \\q is no escape"),
        ("((('a'," + "1" * 400 + ",1),),)", "a score is too large"),
        ("((('\\ud800',0,1),),)", "is not valid Unicode"),
    ],
)
def test_malformed_plf(line: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Lattice.from_plf(line)


def test_any_line_is_read_or_refused() -> None:
    pieces = [
        "(",
        ")",
        ",",
        "'a'",
        "'b c'",
        "'",
        "1",
        "-0.5",
        "2",
        "1e9",
        "'\\x'",
        "\0",
        " ",
        "lambda:0",
        "{}",
        "None",
    ]
    whole = "((('a',-0.1,1),('b',-2,2),),(('c',-0.5,1),),)"
    read = 0
    for seed in range(4000):
        rng = random.Random(seed)
        line = whole
        for _ in range(rng.randint(1, 3)):
            begin = rng.randrange(len(line))
            line = line[:begin] + rng.choice(["", *pieces]) + line[begin + rng.randint(0, 3) :]
        try:
            lattice = Lattice.from_plf(line)
        except FormatError:
            continue
        read += 1
        assert Lattice.from_plf(lattice.to_plf()) == lattice
    assert read > 50


def test_arcs_without_words() -> None:
    compared = 0
    for seed in range(600):
        rng = random.Random(seed)
        lattice = random_lattice(rng, "abc", rng.randint(2, 6), rng.randint(0, 2), empty=0.3)
        with_words = [one for one in paths(lattice) if one[0]]
        if not with_words:
            with pytest.raises(FormatError, match="no path has words"):
                lattice.without_empty_arcs()
            continue
        whole = lattice.without_empty_arcs()
        assert not whole.has_empty_arcs and same_paths(with_words, paths(whole))
        assert Sentence(lattice=lattice).tokens == whole.words
        compared += lattice.has_empty_arcs
    assert compared > 100
    # Ever so many ways of empty arcs.
    arcs = [Arc("", node, node + 1) for node in range(40) for _ in range(2)]
    with pytest.raises(FormatError, match="over 100000 paths of empty arcs from a node"):
        Lattice([*arcs, Arc("a", 40, 41)]).without_empty_arcs()


def test_tokens_in_place_of_text() -> None:
    side = replace(parse_side("en:moses"), lowercase=True)
    lattice = Lattice(
        [
            Arc("It's", 0, 2, (-1.0,)),
            Arc("He", 0, 1, (-2.0,)),
            Arc("is", 1, 2, (-3.0,)),
            Arc("\u00ad", 2, 3, (0.5,)),
            Arc("No.1", 3, 4, (0.0,)),
        ],
        raw=True,
    )
    tokens = lattice.with_tokens(side)
    assert paths(tokens.without_empty_arcs()) == paths(tokens)
    assert [words for words, _ in paths(tokens)] == [("he", "is", "no.1"), ("it", "'s", "no.1")]
    assert [scores for _, scores in paths(tokens)] == [(-4.5,), (-0.5,)]
    sentence = Sentence(lattice=lattice)
    assert sentence.is_raw and sentence.tokens == () and not sentence.is_blank
    ready = sentence.with_tokens(side)
    assert not ready.is_raw and ready.tokens == ready.lattice.words  # type: ignore[union-attr]
    assert ready.with_tokens(side) == ready
    assert paths(Lattice([Arc("a-b", 0, 1)], raw=True).with_tokens(TextSide())) == [(("a-b",), ())]


def test_arguments_of_other_types() -> None:
    for wrong, message in (
        (lambda: Arc(3, 0, 1), "word: expected a string, not int 3"),  # type: ignore[arg-type]
        (lambda: Arc("a", "0", 1), "begin: expected the number of a node, not the string '0'"),  # type: ignore[arg-type]
        (lambda: Arc("a", 0, 1.0), "end: expected the number of a node, not float 1.0"),  # type: ignore[arg-type]
        (lambda: Arc("a", 0, 1, -0.5), "scores: expected a list of numbers, not float -0.5"),  # type: ignore[arg-type]
        (lambda: Arc("a", 0, 1, ["0.5"]), "scores: expected a list of numbers, not one with"),  # type: ignore[list-item]
        (lambda: Arc("a", 0, 1, ("x",)), "scores: expected a list of numbers, not one with"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            wrong()
    with pytest.raises(FormatError, match="lattice: a score is too large"):
        Arc("a", 0, 1, (10**400,))
    assert Arc("a", 0, 1, [-1]).scores == (-1.0,)


def test_another_lattice() -> None:
    sentence = Sentence(lattice=Lattice([Arc("a", 0, 1)]), id=3)
    other = Sentence.from_source(sentence, lattice=Lattice([Arc("b", 0, 1)]))
    assert (other.tokens, other.id) == (("b",), 3)
    with pytest.raises(FormatError, match="a lattice, or text or tokens, not both"):
        Sentence.from_source(Sentence(tokens=["z"]), lattice=sentence.lattice)
    text = Sentence.from_source(sentence, lattice=None, text="c")
    assert (text.tokens, text.text, text.lattice) == ((), "c", None)


def test_json() -> None:
    lattice = Lattice([Arc("a", 0, 1, (-1.0,)), Arc("b", 0, 1, (-2.0,))])
    sentence = Sentence(lattice=lattice, id=3)
    record = json.loads(sentence.to_json())
    assert record["lattice"]["arcs"][0] == {"word": "a", "begin": 0, "end": 1, "scores": [-1.0]}
    assert Sentence.from_json(sentence.to_json()) == sentence
    raw = Sentence(lattice=replace(lattice, raw=True))
    assert Sentence.from_json(raw.to_json()) == raw
    for wrong in (
        {"lattice": {"arcs": []}},
        {"lattice": {"arcs": [{"word": "a", "begin": 0, "end": 0}]}},
        {"lattice": {"arcs": [{"word": "a", "begin": 0, "end": 1, "more": 1}]}},
        {"lattice": {"arcs": [{"word": "a", "begin": 0, "end": 1}]}, "text": "a"},
        {},
    ):
        with pytest.raises(FormatError):
            Sentence.from_json(json.dumps(wrong))
    assert (
        is_lattice_feature("Lattice12") and not is_lattice_feature("LatticeX") and not is_lattice_feature("0")
    )
