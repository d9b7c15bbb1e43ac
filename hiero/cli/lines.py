"""What `hiero decode` reads: lines of text, or the segments of NIST's source sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hiero import FormatError
from hiero.base.lines import DAMAGE, damaged, line_text
from hiero.base.text import split
from hiero.evaluate.nist_xml import SegmentSet, parse_sets


class Lines:
    """Input lines with their numbers from 0, as raw text, or as ``tokens`` that they are already; remembers
    those that are not UTF-8, and stand for empty ones."""

    def __init__(self, source: Iterable[bytes], name: str, tokens: bool, places: Sequence[str] = ()) -> None:
        self.source = source
        self.name = name
        self.tokens = tokens
        self.places = places
        self.invalid: set[int] = set()

    @classmethod
    def of_segments(cls, source: SegmentSet, name: str, tokens: bool) -> Lines:
        segments = list(source)
        places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
        return cls([text.encode() for _, _, text in segments], name, tokens, places)

    def place(self, number: int) -> str:
        """A line as messages name it."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def __iter__(self) -> Iterator[tuple[int, str | list[str]]]:
        number = -1
        try:
            for number, line in enumerate(self.source):
                try:
                    text = line_text(line, number)
                except UnicodeDecodeError:
                    self.invalid.add(number)
                    text = ""
                yield number, split(text) if self.tokens else text
        except DAMAGE as error:
            raise damaged(self.place(number + 1), error) from None


def source_set(content: bytes, name: str) -> SegmentSet:
    """The one source set of NIST's XML or SGML. Raises FormatError."""
    found = [each for each in parse_sets(content, name) if each.kind == "srcset"]
    if len(found) != 1:
        raise FormatError(f"{name}: {len(found)} srcsets, expected one")
    return found[0]
