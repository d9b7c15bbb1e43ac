"""What `hiero decode` reads: lines of text, or the segments of NIST's source sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hiero import FormatError
from hiero.base.text import split
from hiero.evaluate.nist_xml import SegmentSet, parse_sets


class Lines:
    """Input lines with their numbers from 0, as text if ``raw``, else as tokens; remembers those that are not
    UTF-8, and stand for empty ones."""

    def __init__(self, source: Iterable[bytes], name: str, raw: bool, places: Sequence[str] = ()) -> None:
        self.source = source
        self.name = name
        self.raw = raw
        self.places = places
        self.invalid: set[int] = set()

    @classmethod
    def of_segments(cls, source: SegmentSet, name: str, raw: bool) -> Lines:
        segments = list(source)
        places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
        return cls([text.encode() for _, _, text in segments], name, raw, places)

    def place(self, number: int) -> str:
        """A line as messages name it."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def __iter__(self) -> Iterator[tuple[int, str | list[str]]]:
        for number, line in enumerate(self.source):
            try:
                text = line.rstrip(b"\n").decode("utf-8")
            except UnicodeDecodeError:
                self.invalid.add(number)
                text = ""
            yield number, text if self.raw else split(text)


def source_set(content: bytes, name: str) -> SegmentSet:
    """The one source set of NIST's XML or SGML. Raises FormatError."""
    found = [each for each in parse_sets(content, name) if each.kind == "srcset"]
    if len(found) != 1:
        raise FormatError(f"{name}: {len(found)} srcsets, expected one")
    return found[0]
