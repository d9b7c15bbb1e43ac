"""Test sets as NIST's evaluations exchange them: `srcset`, `refset` and `tstset`, in XML or the older SGML.

A file has one or more sets, a set has documents, and a document has segments. References by several
translators are several sets, or documents with the same ``docid`` and different ``sysid``. Nothing is
downloaded, and no entity that a file declares is expanded: such a file is refused, and the address of a DTD
is ignored.

>>> sets = parse_sets(
...     b'<srcset setid=demo srclang=fr><doc docid=d1><seg id=1> le chat </seg></doc></srcset>', "demo.sgm"
... )
>>> sets[0].documents[0].segments
{'1': 'le chat'}
"""

from __future__ import annotations

import html
import os
import re
import xml.parsers.expat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.sax.saxutils import escape, quoteattr

from hiero._core import FormatError
from hiero.base.lines import read_bytes

SUFFIXES = frozenset({".xml", ".sgm", ".sgml"})
_SETS = ("srcset", "refset", "tstset")
_ENTITIES = "declares entities of its own, which are not read"


@dataclass
class Document:
    """A document: segments by id, in the file's order, and the attributes of its tag, with names in lower
    case."""

    name: str
    attributes: dict[str, str]
    segments: dict[str, str] = field(default_factory=dict)


@dataclass
class SegmentSet:
    """A set of documents by one system or translator. ``kind`` is srcset, refset or tstset."""

    kind: str
    attributes: dict[str, str]
    system: str
    documents: list[Document] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.attributes.get("setid", "")

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yields document, segment and text, in the file's order."""
        for document in self.documents:
            for number, text in document.segments.items():
                yield document.name, number, text


def read_sets(path: str | os.PathLike[str]) -> list[SegmentSet]:
    """Reads the sets of a file (plain, gzip, xz). Raises FormatError that names file, line, document and
    segment."""
    return parse_sets(read_bytes(path), os.fspath(path))


def parse_sets(content: bytes, name: str) -> list[SegmentSet]:
    """Reads the sets in a file's content; messages name it ``name``. Raises FormatError."""
    reader = _Reader(name)
    if b"<?xml" in content[:200] or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        _parse_xml(content, reader)
    else:
        _parse_sgml(content, reader)
    return reader.finished()


def aligned(source: SegmentSet, other: SegmentSet, name: str) -> list[str]:
    """Returns the texts of another set in the order of the source set's segments.

    Raises FormatError that names a missing or extra document or segment; ``name`` is the other set's file.
    """
    documents = {document.name: document.segments for document in other.documents}
    texts = []
    for document in source.documents:
        segments = documents.pop(document.name, None)
        if segments is None:
            raise FormatError(f"{name}: {_described(other)} lacks document {document.name!r}")
        for number in document.segments:
            if number not in segments:
                raise FormatError(f"{name}: {_described(other)} lacks {_place(document, number)}")
            texts.append(segments[number])
        for number in segments:
            if number not in document.segments:
                raise FormatError(f"{name}: {_described(other)} has an extra {_place(document, number)}")
    for extra in documents:
        raise FormatError(f"{name}: {_described(other)} has an extra document {extra!r}")
    return texts


def _place(document: Document, segment: str) -> str:
    return f"segment {segment} of document {document.name!r}"


def _described(segments: SegmentSet) -> str:
    return f"{segments.kind} {segments.system!r}" if segments.system else segments.kind


def write_tstset(source: SegmentSet, texts: Sequence[str], language: str, system: str) -> str:
    """Returns a `tstset` in XML with translations of a source set's segments, in their order. Raises
    ValueError for another number of texts.
    """
    rest = iter(texts)
    if len(texts) != sum(len(document.segments) for document in source.documents):
        raise ValueError(f"{len(texts)} translations are not one for each segment")
    attributes = {
        "setid": source.name,
        "srclang": source.attributes.get("srclang", ""),
        "trglang": language,
        "sysid": system,
    }
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<mteval>", _tag("tstset", attributes)]
    for document in source.documents:
        lines.append(_tag("doc", {**document.attributes, "docid": document.name, "sysid": system}))
        lines += [f"<seg id={quoteattr(_legal(n))}>{_text(next(rest))}</seg>" for n in document.segments]
        lines.append("</doc>")
    return "\n".join([*lines, "</tstset>", "</mteval>", ""])


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    pairs = (
        f" {key}={quoteattr(_legal(value))}"
        for key, value in attributes.items()
        if re.fullmatch(r"[a-z_][a-z0-9_.-]*", key)
    )
    return f"<{name}{''.join(pairs)}>"


def _text(text: str) -> str:
    return escape(_legal(text))


def _legal(text: str) -> str:
    """Replaces control characters and lone surrogates, which XML cannot hold, by U+FFFD."""
    return "".join(
        c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff" else "\ufffd"
        for c in text
    )


class _Reader:
    """Builder of sets from tags and text, in the file's order, for both syntaxes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._sets: list[SegmentSet] = []
        # The sets that the current tag makes, by system: its documents may be by several.
        self._open: dict[str, SegmentSet] | None = None
        self._names: set[tuple[str, str]] = set()
        self._head: tuple[str, dict[str, str]] = ("", {})
        self._document: Document | None = None
        self._segment: str | None = None
        self._text: list[str] = []

    def finished(self) -> list[SegmentSet]:
        if self._open is not None:
            raise FormatError(f"{self.name}: ends inside a {self._head[0]}")
        if not self._sets:
            raise FormatError(f"{self.name}: no srcset, refset or tstset")
        return self._sets

    def start(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        tag = tag.lower()
        values = {key.lower(): value or "" for key, value in attributes.items()}
        if self._segment is not None:
            raise self.error(line, f"<{tag}> inside a segment; in text, < is written &lt;")
        if tag in _SETS:
            if self._open is not None:
                raise self.error(line, f"<{tag}> inside a {self._head[0]}")
            self._open, self._head, self._names = {}, (tag, values), set()
        elif tag == "doc":
            self._start_document(values, line)
        elif tag == "seg":
            if self._document is None:
                raise self.error(line, "a segment outside documents")
            number = values.get("id", "")
            if not number:
                raise self.error(line, "a segment without an id")
            if number in self._document.segments:
                raise self.error(line, f"segment {number} is there twice")
            self._segment, self._text = number, []

    def _start_document(self, values: dict[str, str], line: int) -> None:
        if self._open is None or self._document is not None:
            raise self.error(line, "a document outside sets, or inside another")
        name = values.get("docid", "")
        if not name:
            raise self.error(line, "a document without a docid")
        kind, head = self._head
        system = values.get("sysid") or head.get("refid") or head.get("sysid") or ""
        owner = self._open.setdefault(system, SegmentSet(kind, head, "" if kind == "srcset" else system))
        if (system, name) in self._names:
            raise self.error(line, f"document {name!r} is there twice")
        self._names.add((system, name))
        self._document = Document(name, values)
        owner.documents.append(self._document)

    def end(self, tag: str, line: int) -> None:
        tag = tag.lower()
        if tag == "seg" and self._segment is not None and self._document is not None:
            self._document.segments[self._segment] = " ".join("".join(self._text).split())
            self._segment = None
            return
        if self._segment is not None:
            raise self.error(line, f"</{tag}> inside a segment; in text, < is written &lt;")
        if tag == "doc":
            self._document = None
        elif tag in _SETS and self._open is not None:
            if self._document is not None:
                raise self.error(line, f"</{tag}> inside a document")
            if not self._open:
                raise self.error(line, f"the {tag} has no documents")
            self._sets += self._open.values()
            self._open = None

    def text(self, text: str) -> None:
        if self._segment is not None:
            self._text.append(text)

    def unknown_entity(self, name: str, line: int) -> None:
        """Adds the character of an HTML entity, as old sets use them. Raises FormatError for other entities,
        whose text would be lost."""
        character = html.unescape(f"&{name};")
        if character == f"&{name};":
            raise self.error(line, f"unknown entity &{name};")
        self.text(character)

    def error(self, line: int, message: str) -> FormatError:
        where = f"{self.name}:{line}: "
        if self._document is not None:
            where += f"document {self._document.name!r}: "
        if self._segment is not None:
            where += f"segment {self._segment}: "
        return FormatError(where + message)


def _parse_xml(content: bytes, reader: _Reader) -> None:
    """Parses with expat, which downloads nothing by itself."""
    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True

    def declared(*_: object) -> None:
        raise reader.error(parser.CurrentLineNumber, _ENTITIES)

    def skipped(name: str, parameter: bool) -> None:
        if not parameter:
            reader.unknown_entity(name, parser.CurrentLineNumber)

    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = skipped
    parser.StartElementHandler = lambda tag, values: reader.start(tag, values, parser.CurrentLineNumber)
    parser.EndElementHandler = lambda tag: reader.end(tag, parser.CurrentLineNumber)
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except xml.parsers.expat.ExpatError as error:
        message = xml.parsers.expat.ErrorString(error.code)
        raise FormatError(f"{reader.name}:{error.lineno}: {message}") from None
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # an unknown encoding, or one that expat cannot read
        raise FormatError(f"{reader.name}:{parser.CurrentLineNumber}: {error}") from None
    _check_attributes(content, reader)


# Comments, marked sections, and tags, whose attributes may hold any character but <.
_MARKUP = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^\s<>!?/](?:[^<>"']|"[^"<]*"|'[^'<]*')*""", re.DOTALL
)
_ENTITY = re.compile(r"&(?!#|(?:amp|lt|gt|quot|apos);)([^;&<]*);")


def _check_attributes(content: bytes, reader: _Reader) -> None:
    """Raises FormatError for an unknown entity in an attribute of a well-formed document. With the address of
    a DTD expat leaves such entities out, and reports only those in text."""
    if b"<!DOCTYPE" not in content.replace(b"\0", b""):
        return
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = content.decode("utf-16" if wide else "latin-1", errors="replace")
    for markup in _MARKUP.finditer(text):
        if not markup[0].startswith("<!") and (unknown := _ENTITY.search(markup[0])):
            line = text.count("\n", 0, markup.start() + unknown.start()) + 1
            raise reader.error(line, f"unknown entity &{unknown[1]}; in an attribute")


class _Sgml(HTMLParser):
    """Parser of SGML's tags and attributes by the rules of HTML: in upper or lower case, with quotes or
    without."""

    def __init__(self, reader: _Reader) -> None:
        super().__init__()
        self._reader = reader
        self.line = 1

    def set_cdata_mode(self, elem: str, **_: object) -> None:
        """Does nothing: no element is a script."""

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        self._reader.start(tag, {key: value or "" for key, value in attrs}, self.line)

    def handle_endtag(self, tag: str) -> None:
        self._reader.end(tag, self.line)

    def handle_data(self, data: str) -> None:
        self._reader.text(data)


_TAG = re.compile(r"<!--.*?-->|<[a-z/!?][^<>]*>", re.DOTALL | re.IGNORECASE)


def _parse_sgml(content: bytes, reader: _Reader) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FormatError(f"{reader.name}:{line}: invalid UTF-8") from None
    for pattern, message in (("<!entity", _ENTITIES), (r"<!\[", "a marked section, which is not read")):
        if refused := re.search(pattern, text, re.IGNORECASE):
            raise reader.error(text.count("\n", 0, refused.start()) + 1, message)
    _check_comments(text, reader)
    # The parser gets one tag at a time: it would read unfinished markup again and again.
    parser, end = _Sgml(reader), 0
    for tag in _TAG.finditer(text):
        reader.text(html.unescape(text[end : tag.start()]))
        parser.line += text.count("\n", end, tag.start())
        parser.feed(tag[0])
        if parser.rawdata:
            raise reader.error(parser.line, "a tag that does not end")
        parser.line += tag[0].count("\n")
        end = tag.end()


def _check_comments(text: str, reader: _Reader) -> None:
    """Raises FormatError for a comment without an end, which the pattern of tags would search for from every
    comment."""
    end = 0
    while (begin := text.find("<!--", end)) >= 0:
        end = text.find("-->", begin + 4)
        if end < 0:
            raise reader.error(text.count("\n", 0, begin) + 1, "a comment that does not end")
