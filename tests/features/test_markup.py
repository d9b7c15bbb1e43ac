"""Marks in text as Moses has them, their places in tokens, and glossaries."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from hiero import FormatError, Markup, Phrase, Sentence, Wall
from hiero.features.glossary import Glossary, Term
from hiero.features.markup import character_places
from hiero.features.moses_markup import read_markup
from hiero.text import TextProcessing, TextSide, parse_side

GERMAN = parse_side("de:moses")
PLAIN = TextSide()


def test_markup_of_moses() -> None:
    sentence = Sentence.from_markup(
        'Das <np translation="the &quot;thing&quot;||it" prob=".25||0.75" label="NP">kleine  Ding</np> ist '
        "<x translate='no'>Größe &amp; <b>Ehre</b></x> <br> 3 < 4",
        "inclusive",
        id=7,
    )
    assert sentence.text == "Das kleine  Ding ist Größe &amp; <b>Ehre</b> <br> 3 < 4" and sentence.id == 7
    np, x = sentence.markup.phrases
    assert np == Phrase(4, 16, ['the "thing"', "it"], [0.25, 0.75], "inclusive", "NP")
    assert x == Phrase(21, 44, ["Größe &amp; <b>Ehre</b>"]) and sentence.text[21:44] == x.translations[0]
    ignored = Sentence.from_markup(
        '<np translation="x">Ding</np> <y translate="no">a</y> <wall/> b', "ignore"
    )
    assert ignored.markup == Markup([Phrase(5, 6, ["a"])], [], [Wall(7)])


def test_zones_and_walls() -> None:
    sentence = Sentence.from_markup(
        '<wall/> er sagte <zone> " ja <wall/> gern <wall/> " </zone> , <wall/> und ging'
    )
    text = sentence.text or ""
    (zone,) = sentence.markup.zones
    assert text[slice(*zone)].split() == ['"', "ja", "gern", '"']
    inner, again, outer = sentence.markup.walls
    assert (inner.begin, inner.end) == (again.begin, again.end) == zone and outer.begin is None
    assert [text[wall.position :].split()[0] for wall in (inner, again, outer)] == ["gern", '"', "und"]
    # What is at the edges divides nothing.
    assert (
        Sentence.from_markup("<wall/> a <zone> <wall/> b <wall/> </zone> <wall/>").markup.walls
        == (Wall(3),)[:0]
    )
    tokens = sentence.with_tokens(PLAIN)
    assert tokens.markup.zones == ((2, 6),)
    assert tokens.markup.walls == (Wall(4, 2, 6), Wall(5, 2, 6), Wall(7))


def test_zones_within_zones_and_walls_at_their_ends() -> None:
    text, markup = read_markup("x <zone> a <zone> b <wall/> c </zone> d </zone>", "exclusive")
    assert [text[begin:end] for begin, end in markup.zones] == ["b  c", "a  b  c  d"]
    (wall,) = markup.walls
    assert text[wall.begin : wall.end] == "b  c" and text[wall.position :].startswith(" c")
    assert read_markup("a <zone> b <wall/> </zone> c", "exclusive")[1].walls == ()
    assert len(read_markup("a <wall> b", "exclusive")[1].walls) == 1
    with pytest.raises(FormatError, match="column 3: </wall> closes nothing"):
        read_markup("a </wall> b", "exclusive")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a <t translation="b">c', "column 3: <t> is not closed"),
        ('a <t translation="b"></t>', "column 3: <t> has no words"),
        ('a <t translation="b"> </t> c', "column 3: <t> has no words"),
        ('<t translation="b"/>', "column 1: <t> has no words"),
        ("a <zone> b", "column 3: <zone> is not closed"),
        ("a </zone>", "column 3: </zone> closes nothing"),
        ('<t translation="b"><zone>c</t></zone>', "column 27: </t> before <zone> is closed"),
        ('<t translation="a||b" prob="1">c</t>', "column 1: <t>: 2 translations with 1 probabilities"),
        ('<t translation="">c</t>', "column 1: <t>: a translation has no words"),
        ('<t translation="a|| ">c</t>', "column 1: <t>: a translation has no words"),
        ('<t translation="a" prob="x">c</t>', "column 1: <t>: prob: not a number: x"),
        ('<t translation="a" prob="0">c</t>', "column 1: <t>: probabilities: expected positive numbers"),
        ('<t translation="a" prob="nan">c</t>', "column 1: <t>: probabilities: expected positive numbers"),
        ("ö <t translation=a>c</t>", "column 3: not a tag with attributes in quotes; &lt; is a plain <"),
        ('<t translation="a" translation="b">c</t>', "column 1: attribute translation twice"),
    ],
)
def test_malformed_markup(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        Sentence.from_markup(text)
    assert str(error.value) == message


def test_any_text_is_read_or_refused() -> None:
    """Marks that are read can be taken out by hand, and what is said of them holds for the text."""
    pieces = ['<t translation="b">', '<u translation="c||d">', "</t>", "</u>", "<zone>", "</zone>", "<wall/>"]
    pieces += [
        "<b>",
        "</b>",
        "<br/>",
        " ",
        "a",
        "ü\u0301",
        "語",
        "<",
        ">",
        "&lt;",
        '"',
        "</",
        '<x translate="no">',
        "</x>",
    ]
    read = 0
    for seed in range(4000):
        rng = random.Random(seed)
        text = "".join(rng.choices(pieces, k=rng.randint(1, 9)))
        if rng.random() < 0.2:
            cut = rng.randrange(len(text))
            text = text[:cut] + rng.choice(["", "\0", "\u2028", "="]) + text[cut + 1 :]
        try:
            sentence = Sentence.from_markup(text)
        except FormatError as error:
            assert re.match(r"column \d+: ", str(error))
            continue
        assert sentence.text is not None
        without = [re.sub(r"</?(t|u|zone|wall|x)\b[^<>]*>", "", one) for one in (text, sentence.text)]
        assert without[0] == without[1]
        for phrase in sentence.markup.phrases:
            words = sentence.text[phrase.begin : phrase.end]
            assert words.strip() == words != ""
        try:
            tokens = sentence.with_tokens(GERMAN)
        except FormatError:
            continue
        read += bool(tokens.markup)
        assert all(phrase.end <= len(tokens.tokens) for phrase in tokens.markup.phrases)
    assert read > 100


def test_places_in_tokens() -> None:
    def words(text: str, side: TextSide = GERMAN) -> list[list[str]]:
        sentence = Sentence.from_markup(text.replace("[", '<t translation="x">').replace("]", "</t>"))
        tokens = sentence.with_tokens(side)
        return [list(tokens.tokens[phrase.begin : phrase.end]) for phrase in tokens.markup.phrases]

    assert words("Das [kleine Haus], ja!") == [["kleine", "Haus"]]
    assert words("[Das] kleine [Haus.]") == [["Das"], ["Haus", "."]]
    # Text is split where a mark ends within a word.
    assert words("Das [Haus]tür") == [["Haus"]]
    assert words("[Fisch &amp; Chips], cafe\u0301 [e\u0301clair]") == [["Fisch", "&", "Chips"], ["éclair"]]
    assert words("(das „[Haus]“) [10:30]") == [["Haus"], ["10", ":￭", "30"]]
    assert words("[ İstanbul ] ist", replace(GERMAN, lowercase=True)) == [["i̇stanbul"]]
    assert words("a [b c] d", PLAIN) == [["b", "c"]]
    assert words("我[喜欢]书", parse_side("zh:jieba")) == [["喜欢"]]
    with pytest.raises(FormatError, match="a marked phrase from 1 to 1 has no words"):
        words("e[\u0301]")
    # Addresses are one word.
    assert words("siehe [www.a.org/x]!") == [["www.a.org/x"]]
    with pytest.raises(FormatError, match=r"a mark begins or ends within www\.a\.org/x, which is one word"):
        words("siehe www.[a.org/x] dort")
    for text in ("www.b.org/y www.[a.org/x]", "www.a.org/x und www.[a.org/x]"):
        with pytest.raises(FormatError, match="which is one word"):
            words(text)
    assert words("[Ha]us[tür]en [fe]n a[b]c") == [["Ha"], ["tür"], ["fe"], ["b"]]


def test_places_of_words() -> None:
    text = "  Das „kleine&amp;feine“ cafe\u0301 (www.a.org/x)\u00a0 ist 10:30. "
    words = GERMAN.words(text)
    places = character_places(text, words, GERMAN)
    shown = [text[begin:end] for begin, end in places]
    assert shown[0] == "Das" and "&amp;" in shown and "cafe\u0301" in shown and "www.a.org/x" in shown
    assert "".join(shown) == "".join(text.split())


def test_json(tmp_path: Path) -> None:
    markup = Markup(
        [Phrase(0, 2, ["a b", ["c", "d"]], [0.5, 1.0], "constraint", "X"), Phrase(2, 3, ["e"])],
        [(0, 3)],
        [Wall(1), Wall(2, 0, 3)],
    )
    sentence = Sentence(tokens=["x", "y", "z"], markup=markup)
    line = sentence.to_json()
    assert Sentence.from_json(line) == sentence and Sentence.from_json(line).to_json() == line
    assert "markup" not in json.loads(Sentence("x").to_json())
    assert sentence.is_constrained and not Sentence("x").is_constrained
    for wrong in (
        {"phrases": [{"begin": 1, "end": 1, "translations": ["a"]}]},
        {"phrases": [{"begin": 0, "end": 1, "translations": []}]},
        {"phrases": [{"begin": 0, "end": 1, "translations": ["a"], "mode": "strict"}]},
        {"phrases": [{"begin": 0, "end": 1, "translations": ["a"], "more": 1}]},
        {"phrases": [{"begin": "0", "end": 1, "translations": ["a"]}]},
        {"phrases": 3},
        {"zones": [[0]]},
        {"zones": [[2, 1]]},
        {"walls": [{"position": "x"}]},
        {"other": []},
    ):
        with pytest.raises(FormatError, match="markup"):
            Sentence.from_json(json.dumps({"text": "x y", "markup": wrong}))


def test_glossary(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(
        "# comment\n\nrotes Haus\tred house\nrotes Haus\tcrimson house\nHaus\thome\tNP\nSIE\tSIE\t\texact\n"
        "Haus-Tür\tdoor\n",
        encoding="utf-8",
    )
    glossary = Glossary.read(path)
    assert glossary.terms == (
        Term("rotes Haus", ("red house", "crimson house")),
        Term("Haus", ("home",), "NP"),
        Term("SIE", ("SIE",), "", "exact"),
        Term("Haus-Tür", ("door",)),
    )
    sentence = Sentence("Sie sah ROTES  Haus, haus; SIE: die Haus-tür.")
    marked = glossary.marked(sentence, GERMAN)
    assert [sentence.text[p.begin : p.end] for p in marked.markup.phrases] == [  # type: ignore[index]
        "ROTES  Haus",
        "haus",
        "SIE",
        "Haus-tür",
    ]
    assert [p.label for p in marked.markup.phrases] == ["", "NP", "", ""]
    assert {p.mode for p in glossary.marked(sentence, GERMAN, "inclusive").markup.phrases} == {"inclusive"}
    # In tokens, and beside phrases that are marked already.
    tokens = Sentence(tokens=["rotes", "haus", "haus"], markup=Markup([Phrase(1, 2, ["x"])], [(0, 2)]))
    both = glossary.marked(tokens, PLAIN).markup
    assert [(p.begin, p.end) for p in both.phrases] == [(1, 2), (2, 3)] and both.zones == ((0, 2),)
    assert glossary.marked(Sentence("nichts"), GERMAN) == Sentence("nichts")
    for wrong, message in (
        ("a", ":2: expected a term"),
        ("a\t", ":2: expected a term"),
        ("\tb", ":2: expected a term"),
        ("a\tb\tX\tany\tmore", ":2: expected a term"),
        ("a\tb\t\tno", ":2: case 'no': expected any or exact"),
    ):
        path.write_text(f"x\ty\n{wrong}\n")
        with pytest.raises(FormatError, match=re.escape(f"{path}{message}")):
            Glossary.read(path)
    path.write_bytes(b"x\ty\n\xff\tb\n")
    with pytest.raises(FormatError, match=re.escape(f"{path}:2: ")):
        Glossary.read(path)


def test_any_glossary_is_read_or_refused(tmp_path: Path) -> None:
    """Terms that are read are those of the lines, and can be looked for."""
    path = tmp_path / "terms.tsv"
    pieces = ["a", "B ", "\t", "#", "語", "e\u0301", "\u00ad", "\u00a0", "\r", " "]

    def line(rng: random.Random) -> str:
        fields = [
            "".join(rng.choices(pieces, k=rng.randint(1, 3))) for _ in range(rng.choice([1, 2, 2, 2, 2]))
        ]
        return "\t".join([*fields, *rng.choice([[], [], ["X"], ["", "exact"], ["Y", "no"]])])

    text = TextProcessing(GERMAN, parse_side("en:moses"))
    read = refused = found = 0
    for seed in range(2000):
        rng = random.Random(seed)
        lines = [line(rng) for _ in range(rng.randint(1, 2))]
        path.write_bytes("\n".join(lines).encode() + rng.choice([b"", b"\n", b"\n\xff\n", b"\0"]))
        try:
            glossary = Glossary.read(path)
            glossary.check(text, ["X"])
        except FormatError as error:
            refused += 1
            assert re.match(re.escape(f"{path}:") + r"(\d+:| term) ", str(error))
            continue
        content = path.read_bytes().decode()
        assert all(one in content for term in glossary.terms for one in (term.source, *term.targets))
        sentence = Sentence("a B 語 exact \u00e9 X")
        marked = glossary.marked(sentence, GERMAN)
        read += bool(glossary.terms)
        found += bool(marked.markup)
        assert marked.with_tokens(GERMAN).tokens
    assert min(read, refused, found) > 100


def test_arguments_of_other_types() -> None:
    for wrong, message in (
        (lambda: Term("Haus", "house"), "targets: expected a list of texts, not the string 'house'"),  # type: ignore[arg-type]
        (lambda: Markup(zones=[(0, 1, 2)]), "zones: expected pairs of begin and end, not"),  # type: ignore[list-item]
        (lambda: Markup(zones=[3]), "zones: expected a list of pairs of begin and end"),  # type: ignore[list-item]
        (lambda: Markup(zones=[(0,)]), "zones: expected pairs of begin and end, not"),  # type: ignore[list-item]
        (lambda: Markup(zones=[(0.0, 1.5)]), "zones: expected pairs of begin and end"),  # type: ignore[list-item]
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            wrong()


def test_zones_are_pairs() -> None:
    assert Markup(zones=[[0, 2]]).zones == ((0, 2),)  # type: ignore[list-item]


def test_glossaries_that_do_not_fit_a_model() -> None:
    text = TextProcessing(GERMAN, parse_side("en:moses"))
    glossary = Glossary([Term("a", ("b",)), Term("c", ("d",), "NP")], "terms.tsv")
    glossary.check(text, ["X", "NP"])
    with pytest.raises(FormatError, match=r"terms.tsv: term 'c': the model has no label NP \(labels: X\)"):
        glossary.check(text, ["X"])
    with pytest.raises(FormatError, match=r"term 'a': the model has no label NPX \(labels: NP\)"):
        Glossary([Term("a", ("b",), "NPX"), Term("c", ("d",))]).check(text, [*map(str, range(99)), "NP"])
    for term, message in (
        (Term("\u00ad", ("b",)), r"terms.tsv: term '\\xad' has no words"),
        (Term("a", ("b", "\u00ad")), r"terms.tsv: term 'a': its translation '\\xad' has no words"),
    ):
        with pytest.raises(FormatError, match=message):
            Glossary([term], "terms.tsv").check(text, ["X"])


def test_terms_that_are_translated_as_asked() -> None:
    glossary = Glossary(
        [Term("rotes Haus", ("red house", "Red cottage")), Term("SIE", ("SIE",), case="exact")]
    )

    def count(source: str, hypothesis: str) -> tuple[int, int]:
        return glossary.count(source, hypothesis, PLAIN, PLAIN)

    assert count("ein Rotes Haus", "a RED House") == (1, 1)
    assert count("rotes haus rotes haus", "a red cottage") == (2, 1)
    assert count("rotes haus rotes haus", "red house red cottage") == (2, 2)
    assert count("SIE", "sie") == (1, 0) and count("SIE", "SIE") == (1, 1) and count("sie", "x") == (0, 0)
    assert glossary.count("Rotes Haus!", "The red house!", GERMAN, parse_side("en:moses")) == (1, 1)
    # Two terms with the same translation need two of it, and the one with a choice takes the other.
    same = Glossary([Term("a", ("x", "y")), Term("b", ("X",)), Term("c", ("x",), case="exact")])
    for terms, words, right in (
        ("a b", "x", 1),
        ("a b", "x y", 2),
        ("a b", "x X", 2),
        ("c b", "X X", 1),
        ("b c", "x X", 2),
    ):
        assert same.count(terms, words, PLAIN, PLAIN) == (2, right)
    choice = Glossary([Term("a", ("x", "y"), case="exact"), Term("b", ("X",))])
    assert choice.count("a b", "x y", PLAIN, PLAIN) == (2, 2)
    longest = Glossary([Term("a", ("x", "x y")), Term("b", ("x z", "q"))])
    assert longest.count("a b", "x z x y", PLAIN, PLAIN) == (2, 2)
    # Words of both sides are compared without marks, and before casing.
    english, lower = parse_side("en:moses"), replace(GERMAN, lowercase=True)
    assert Glossary([Term("a", ("and/or",))]).count("a", "one and/or two", GERMAN, english) == (1, 1)
    exact = Glossary([Term("SIE", ("IT",), case="exact")])
    assert exact.count("SIE", "IT", lower, replace(english, lowercase=True)) == (1, 1)
    # Lengths that do not fit, and a translation that is a part of another.
    nested = Glossary([Term("a", ("x", "x y"))])
    assert nested.count("a a", "x y x", PLAIN, PLAIN) == (2, 2)
