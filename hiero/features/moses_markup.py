"""Reader of marks in text, in the way of Moses' option -xml-input.

    das <np translation="iPhone||Telefon" prob="0.9||0.1">Handy</np> ist <x translate="no">neu</x>
    er sagte <zone> " ja <wall/> gern " </zone>

Tags without ``translation`` or ``translate="no"``, but for wall and zone, are text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hiero._core import FormatError
from hiero.features.markup import Markup, Mode, Phrase, Wall

_NAME = r"[^\W\d][\w:.-]*"
_ATTRIBUTE = re.compile(rf"\s+({_NAME})\s*=\s*(\"[^\"]*\"|'[^']*')")
_TAG = re.compile(rf"<(/?)({_NAME})((?:{_ATTRIBUTE.pattern})*)\s*(/?)>")
_BEGIN = re.compile(r"</?[^\W\d]")
_WORD = re.compile(r"\S")
_BETWEEN = "||"


@dataclass(frozen=True)
class _Open:
    """A tag that is not closed yet: its name, its attributes, its column, the place in the text where its
    words begin, the number of pieces of text before it, and whether it is a mark."""

    name: str
    attributes: dict[str, str]
    column: int
    begin: int
    pieces: int
    is_mark: bool


def read_markup(text: str, mode: Mode | Literal["ignore"]) -> tuple[str, Markup]:
    """Returns a text without marks, and its marks, which count characters of this text.

    ``mode`` is that of phrases with translations; with "ignore" there are none. Raises FormatError, which
    names the column, from 1.
    """
    reader = _Reader(mode)
    at = 0
    while (begin := _BEGIN.search(text, at)) is not None:
        reader.pieces.append(text[at : begin.start()])
        reader.length += begin.start() - at
        column = begin.start() + 1
        tag = _TAG.match(text, begin.start())
        if tag is None:
            raise FormatError(f"column {column}: not a tag with attributes in quotes; &lt; is a plain <")
        reader.take(tag, column)
        at = tag.end()
    reader.pieces.append(text[at:])
    return reader.finish()


class _Reader:
    """The state of reading: the text so far, open tags and marks."""

    def __init__(self, mode: Mode | Literal["ignore"]) -> None:
        self._mode = mode
        self.pieces: list[str] = []
        self.length = 0  # of the text so far
        self._open: list[_Open] = []
        self._phrases: list[Phrase] = []
        self._zones: list[tuple[int, int]] = []
        self._walls: list[tuple[int, _Open | None]] = []
        self._scopes: dict[int, tuple[int, int]] = {}  # of zones that are closed, by column

    def take(self, tag: re.Match[str], column: int) -> None:
        """Goes on over a tag."""
        is_end, name, attributes, is_empty = tag[1] == "/", tag[2], _attributes(tag[3], column), tag[6] == "/"
        if is_end:
            self._close(name, column, tag[0])
            return
        is_mark = (
            name in ("zone", "wall") or "translation" in attributes or attributes.get("translate") == "no"
        )
        if not is_mark:
            self._keep(tag[0])
        if name == "wall":
            # A wall within a zone is one of this zone alone.
            zone = next((one for one in reversed(self._open) if one.name == "zone"), None)
            self._walls.append((self.length, zone))
        if is_empty and is_mark and name != "wall":
            raise FormatError(f"column {column}: <{name}> has no words")
        if not is_empty and not (is_mark and name == "wall"):
            self._open.append(_Open(name, attributes, column, self.length, len(self.pieces), is_mark))

    def finish(self) -> tuple[str, Markup]:
        """Returns the text and its marks."""
        for tag in self._open:
            if tag.is_mark:
                raise FormatError(f"column {tag.column}: <{tag.name}> is not closed")
        text = "".join(self.pieces)
        walls = []
        for position, zone in self._walls:
            begin, end = (0, len(text)) if zone is None else self._scopes[zone.column]
            if _WORD.search(text, begin, position) and _WORD.search(text, position, end):
                walls.append(Wall(position) if zone is None else Wall(position, begin, end))
        return text, Markup(self._phrases, self._zones, walls)

    def _keep(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def _close(self, name: str, column: int, tag: str) -> None:
        for place in reversed(range(len(self._open))):
            found = self._open[place]
            if found.name == name:
                # Tags of text, such as <br>, may stay open.
                del self._open[place:]
                if found.is_mark:
                    self._add(found)
                else:
                    self._keep(tag)
                return
            if found.is_mark:
                raise FormatError(f"column {column}: </{name}> before <{found.name}> is closed")
        if name in ("zone", "wall"):
            raise FormatError(f"column {column}: </{name}> closes nothing")
        self._keep(tag)

    def _add(self, tag: _Open) -> None:
        inner = "".join(self.pieces[tag.pieces :])
        if not inner.strip():
            raise FormatError(f"column {tag.column}: <{tag.name}> has no words")
        begin = tag.begin + len(inner) - len(inner.lstrip())
        end = tag.begin + len(inner.rstrip())
        if tag.name == "zone":
            self._zones.append((begin, end))
            self._scopes[tag.column] = (begin, end)
        elif tag.attributes.get("translate") == "no":
            self._phrases.append(Phrase(begin, end, [inner.strip()]))
        elif self._mode != "ignore":
            self._phrases.append(_phrase(tag, begin, end, self._mode))


def _attributes(text: str, column: int) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        if match[1] in attributes:
            raise FormatError(f"column {column}: attribute {match[1]} twice")
        attributes[match[1]] = html.unescape(match[2][1:-1])
    return attributes


def _phrase(tag: _Open, begin: int, end: int, mode: Mode) -> Phrase:
    translations = [text.strip() for text in tag.attributes["translation"].split(_BETWEEN)]
    probabilities = _probabilities(tag)
    try:
        return Phrase(begin, end, translations, probabilities, mode, tag.attributes.get("label", ""))
    except ValueError as error:
        raise FormatError(f"column {tag.column}: <{tag.name}>: {error}") from None


def _probabilities(tag: _Open) -> Sequence[float]:
    text = tag.attributes.get("prob")
    try:
        return () if text is None else [float(value) for value in text.split(_BETWEEN)]
    except ValueError:
        raise FormatError(f"column {tag.column}: <{tag.name}>: prob: not a number: {text}") from None
