"""Tests of NIST's XML and SGML: sets of evaluation campaigns, and malicious files."""

from __future__ import annotations

import gzip
import random
import re
import socket
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiero import FormatError
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.nist_xml import SegmentSet, aligned, parse_sets, read_sets, write_tstset
from support.nist_sets import SGML, SOURCE
from support.paths import SHARED

UR_EN = SHARED / "ur-en"


def parse(text: str) -> list[SegmentSet]:
    return parse_sets(text.encode(), "set.xml")


def test_xml() -> None:
    (source,) = parse(SOURCE)
    assert (source.kind, source.name, source.attributes["srclang"]) == ("srcset", "demo", "French")
    assert list(source) == [("d1", "1", "le chat"), ("d1", "2", "AT&T <s> é"), ("d2", "1", "x")]
    assert [d.attributes["genre"] for d in source.documents] == ["nw", "wb"]


def test_old_sgml() -> None:
    first, second = parse(SGML)
    assert (first.kind, first.system, second.system) == ("refset", "r1", "r2")
    assert list(first) == [("d1", "1", "the cat"), ("d1", "2", "AT&T café a < b"), ("d2", "1", "x")]
    assert list(second) == [("d1", "1", "a cat"), ("d1", "2", ""), ("d2", "1", "y")]


def test_what_mteval_refuses_or_joins() -> None:
    """Checks rows of the column of hiero in the table of docs/evaluation.md."""
    lines = SOURCE.replace("le chat", "\n\tle porte-\nclef").replace('id="2"', 'id="0"')
    (source,) = parse(lines)
    assert list(source)[:2] == [("d1", "1", "le porte- clef"), ("d1", "0", "AT&T <s> é")]
    bare = re.sub("</?mteval>|<!DOCTYPE[^>]*>", "", lines)
    assert list(parse(bare)[0]) == list(source)
    # The names of the sets may differ.
    renamed = parse(lines.replace('setid="demo"', 'setid="other"'))[0]
    assert aligned(source, renamed, "r") == [text for _, _, text in source]


def test_encodings() -> None:
    for encoding in ("UTF-8", "ISO-8859-1", "UTF-16"):
        text = SOURCE.replace("UTF-8", encoding)
        assert parse_sets(text.encode(encoding), "x")[0].documents[0].segments["2"] == "AT&T <s> é"
    assert parse_sets(b"\xef\xbb\xbf" + SGML.encode(), "x")[0].system == "r1"
    with pytest.raises(FormatError, match=r"set\.sgm:6: invalid UTF-8"):
        parse_sets(SGML.encode("latin-1").replace(b"AT&T", b"\xff"), "set.sgm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('<seg id="2">', '<seg id="1">'), "document 'd1': segment 1 is there twice"),
        (('docid="d2"', 'docid="d1"'), "document 'd1' is there twice"),
        (('docid="d2"', ""), "a document without a docid"),
        (('<seg id="2">', "<seg>"), "document 'd1': a segment without an id"),
        (("&lt;s&gt;", "<s/>"), "document 'd1': segment 2: <s> inside a segment"),
        (("</doc>\n</srcset>", "</srcset>"), ""),
        (("</seg></p></doc>", "</p></doc>"), ""),
        (("<doc docid=", "<dok docid="), ""),
        (("srcset", "sauce"), "a document outside sets"),
        (("le chat", "le &chat;"), "document 'd1': segment 1: unknown entity &chat;"),
        (('docid="d2"', 'x="&amp;>" docid="d&chat;"'), "set.xml:6: unknown entity &chat; in an attribute"),
        (('<doc docid="d1" genre="nw">', ""), ""),
        (("le chat", "le \x01chat"), ""),
    ],
)
def test_bad_xml(change: tuple[str, str], message: str) -> None:
    with pytest.raises(FormatError, match=r"^set\.xml") as raised:
        parse(SOURCE.replace(*change))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("AT&T", "<unk>"), "set.xml:6: document 'd1': segment 2: <unk> inside a segment"),
        (("AT&T", "<![CDATA[x"), "a marked section"),
        (("</seg></p></DOC>", "</p></DOC>"), "</p> inside a segment"),
        (("</REFSET>", ""), "ends inside a refset"),
        (("docid=d1", "docid"), "a document without a docid"),
        (("<p>", "<!-- one --> <!-- two -> <p>"), "set.xml:6: a comment that does not end"),
        (("<seg id=2> AT", "<seg id=1> AT"), "segment 1 is there twice"),
    ],
)
def test_bad_sgml(change: tuple[str, str], message: str) -> None:
    with pytest.raises(FormatError, match=r"^set\.xml") as raised:
        parse(SGML.replace(*change))
    assert message in str(raised.value)


def bomb(depth: int) -> str:
    levels = [f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(depth)]
    return f"<!DOCTYPE mteval [{''.join(levels)}]>"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE mteval [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE mteval [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>',
        '<!DOCTYPE mteval [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
        '<!DOCTYPE mteval [<!ENTITY x "short">]>',
        bomb(20),
    ],
)
@pytest.mark.parametrize("xml", [True, False])
def test_entities_are_not_expanded(declaration: str, xml: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "socket", fetched)
    text = SOURCE.replace(SOURCE.splitlines()[1], declaration).replace("le chat", "le &x; &e19; chat")
    if not xml:
        text = text.split("\n", 1)[1]
    with pytest.raises(FormatError, match="declares entities of its own"):
        parse(text)


def test_a_dtd_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    for address in ("http://127.0.0.1:9/x.dtd", "file:///etc/passwd", "/dev/zero"):
        text = SOURCE.replace("ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd", address)
        assert parse(text)[0].documents[0].segments["1"] == "le chat"
    # The DTD is not read, so expat knows no entities. Those of HTML are replaced, and others are an error.
    assert parse(SOURCE.replace("le chat", "caf&eacute;"))[0].documents[0].segments["1"] == "café"


def test_entities_in_comments_and_marked_sections_are_text() -> None:
    text = SOURCE.replace("le chat", '<!-- <a b="&x;"> -->le <![CDATA[<a b="&x;">]]>')
    assert parse(text)[0].documents[0].segments["1"] == 'le <a b="&x;">'


def test_mutations_end_in_errors_or_sets() -> None:
    rng = random.Random(1)
    outcomes = {True: 0, False: 0}
    for original in (SOURCE, SGML):
        for _ in range(1500):
            content = bytearray(original.encode())
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(content))
                if rng.random() < 0.3:
                    del content[at : at + rng.randint(1, 60)]
                else:
                    content[at] = rng.choice(b'<>&"/ \x00\xff=!-[]?a')
            try:
                outcomes[bool(parse_sets(bytes(content), "x"))] += 1
            except FormatError as error:
                assert str(error).startswith("x:")
                outcomes[False] += 1
    assert min(outcomes.values()) > 100


def test_alignment_of_sets() -> None:
    (source,) = parse(SOURCE)
    first, _ = parse(SGML)
    assert aligned(source, first, "r") == ["the cat", "AT&T café a < b", "x"]
    # The order of documents and segments is that of the source.
    first.documents.reverse()
    assert aligned(source, first, "r") == ["the cat", "AT&T café a < b", "x"]
    for change, message in (
        (('<DOC docid="d2" sysid="r1"><seg id=1> x </seg></DOC>', ""), "refset 'r1' lacks document 'd2'"),
        (('"d2" sysid="r1"><seg id=1>', '"d2" sysid="r1"><seg id=7>'), "lacks segment 1 of document 'd2'"),
        (('"d2" sysid="r1"><seg id=1>', '"d2" sysid="r1"><seg id=7></seg><seg id=1>'), "extra segment 7 of"),
    ):
        with pytest.raises(FormatError, match="r: ") as raised:
            aligned(source, parse(SGML.replace(*change))[0], "r")
        assert message in str(raised.value)
    first.documents.append(parse(SGML.replace("d1", "d9"))[0].documents[0])
    with pytest.raises(FormatError, match="extra document 'd9'"):
        aligned(source, first, "r")


@given(st.lists(st.text(max_size=20), min_size=3, max_size=3), st.text(max_size=10), st.text(max_size=10))
@settings(max_examples=200, deadline=None)
def test_written_sets_are_read_again(texts: list[str], language: str, system: str) -> None:
    (source,) = parse(SOURCE)
    written = write_tstset(source, texts, language, system)
    ElementTree.fromstring(written.encode())
    (test_set,) = parse_sets(written.encode(), "out.xml")
    assert test_set.kind == "tstset" and test_set.name == "demo"
    illegal = "[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    expected = [" ".join(re.sub(illegal, "\ufffd", text).split()) for text in texts]
    assert aligned(source, test_set, "out.xml") == expected
    assert [d.attributes["genre"] for d in test_set.documents] == ["nw", "wb"]


def test_wrong_numbers_of_translations() -> None:
    (source,) = parse(SOURCE)
    with pytest.raises(ValueError, match="2 translations"):
        write_tstset(source, ["a", "b"], "en", "s")


def test_sets_of_references(tmp_path: Path) -> None:
    (tmp_path / "r.sgm").write_text(SGML)
    (tmp_path / "h.txt").write_text("a\nb\nc\n")
    test_set = EvaluationSet.read([tmp_path / "r.sgm"])
    assert test_set.references == [["the cat", "a cat"], ["AT&T café a < b", ""], ["x", "y"]]
    assert test_set.documents() == [("d1", [0, 1]), ("d2", [2])]
    assert test_set.name(1) == "document 'd1': segment 2"
    assert test_set.place(1, "r.xml") == "r.xml: document 'd1': segment 2"
    # Lines of text may be in another order than the segments of the references.
    with pytest.raises(FormatError, match=r"h\.txt: no .* or tstset; references are NIST's, and hypotheses"):
        test_set.hypotheses(tmp_path / "h.txt")
    (tmp_path / "t").write_text(write_tstset(parse_sets(SGML.encode(), "r")[0], ["a", "b", "c"], "en", "us"))
    assert test_set.hypotheses(tmp_path / "t") == ["a", "b", "c"]
    (tmp_path / "r.sgm.gz").write_bytes(gzip.compress(SGML.encode()))
    (tmp_path / "t.xml.gz").write_bytes(gzip.compress((tmp_path / "t").read_bytes()))
    packed = EvaluationSet.read([tmp_path / "r.sgm.gz"])
    assert packed.references == test_set.references
    assert packed.hypotheses(tmp_path / "t.xml.gz") == ["a", "b", "c"]
    (tmp_path / "cut.xml.gz").write_bytes((tmp_path / "t.xml.gz").read_bytes()[:50])
    with pytest.raises(FormatError, match=r"cut\.xml\.gz: damaged or truncated"):
        packed.hypotheses(tmp_path / "cut.xml.gz")
    with pytest.raises(FormatError, match="no tstset"):
        test_set.hypotheses(tmp_path / "r.sgm")
    with pytest.raises(FormatError, match=r"h\.txt: text among references"):
        EvaluationSet.read([tmp_path / "r.sgm", tmp_path / "h.txt"])
    (tmp_path / "short").write_text("a\n")
    with pytest.raises(FormatError, match="short: 1 segments, expected 3"):
        EvaluationSet.read([tmp_path / "h.txt"]).hypotheses(tmp_path / "short")
    (tmp_path / "empty").write_text("")
    with pytest.raises(FormatError, match="empty: no segments"):
        EvaluationSet.read([tmp_path / "empty"])
    with pytest.raises(FormatError, match="short: 1 segments, expected 3"):
        EvaluationSet.read([tmp_path / "h.txt", tmp_path / "short"])
    (tmp_path / "gap").write_text("a\n\nc\n")
    with pytest.raises(FormatError, match="gap:2: all references are empty"):
        EvaluationSet.read([tmp_path / "gap"])
    with pytest.raises(ValueError, match="text has no documents"):
        EvaluationSet.read([tmp_path / "h.txt"]).documents()


@pytest.mark.skipif(not UR_EN.is_dir(), reason="needs the shared data")
def test_real_sets() -> None:
    for name in ("dev", "test"):
        test_set = EvaluationSet.read([UR_EN / f"{name}-ref.xml"])
        texts = [(UR_EN / f"{name}.en.{k}").read_text().splitlines() for k in range(4)]
        # The text files have the segments in another order.
        plain = [[" ".join(t.split()) for t in s] for s in zip(*texts, strict=True)]
        assert sorted(test_set.references) == sorted(plain)
        (source,) = read_sets(UR_EN / f"{name}-src.xml")
        lines = [" ".join(t.split()) for t in (UR_EN / f"{name}.ur").read_text().splitlines()]
        assert sorted(text for _, _, text in source) == sorted(lines)
        assert len(source.documents) == 9
