"""Input of commands: sentences as lines of text, as JSON lines or as the segments of NIST's source sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from hiero import FormatError, Sentence, Tree
from hiero.base.lines import DAMAGE, damaged, line_text
from hiero.base.text import split
from hiero.evaluate.evaluation_sets import ending, is_nist
from hiero.evaluate.nist_xml import SegmentSet, parse_sets
from hiero.features.trees import read_trees

Format = Literal["text", "nist", "jsonl"]
# What commands say of their option for parses.
PARSES = "The sentences' parses in brackets, a tree a line (docs/features.md)."


def format_of(path: Path | None, given: Format | None) -> Format:
    """The one that is given, else that of the name's ending."""
    if given is not None or path is None:
        return given or "text"
    return "nist" if is_nist(path) else "jsonl" if ending(path) == ".jsonl" else "text"


def reader(kind: Format, tokens: bool) -> Callable[[str], Sentence]:
    """Gives the function that reads a line of raw text, of ``tokens`` or of JSON; it raises FormatError."""
    if kind == "jsonl":
        return _json_in_tokens if tokens else Sentence.from_json
    return (lambda line: Sentence(tokens=split(line))) if tokens else Sentence


def _json_in_tokens(line: str) -> Sentence:
    sentence = Sentence.from_json(line)
    if sentence.text is None:
        return sentence
    return Sentence.of(sentence, text=None, tokens=split(sentence.text))


class Lines:
    """Input lines with their numbers from 0, as sentences; remembers what is wrong with those that are none,
    and stand for empty ones. Of JSON these keep the ids that can be read."""

    def __init__(
        self,
        source: Iterable[bytes],
        name: str,
        read: Callable[[str], Sentence],
        places: Sequence[str] = (),
        in_json: bool = False,
    ) -> None:
        self.source = source
        self.name = name
        self.places = places
        self.invalid: dict[int, str] = {}
        self._read = read
        self._in_json = in_json

    @classmethod
    def of_segments(cls, source: SegmentSet, name: str, read: Callable[[str], Sentence]) -> Lines:
        segments = list(source)
        places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
        return cls([text.encode() for _, _, text in segments], name, read, places)

    def place(self, number: int) -> str:
        """A line as messages name it."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def id_of(self, number: int, sentence: Sentence) -> int | str | None:
        """The sentence's own id, else its number; None where it is not known, as numbers may be ids."""
        unknown = sentence.id is None and number in self.invalid and self._in_json
        return None if unknown else number if sentence.id is None else sentence.id

    def __iter__(self) -> Iterator[tuple[int, Sentence]]:
        number = -1
        try:
            for number, line in enumerate(self.source):
                text = ""
                try:
                    text = line_text(line, number)
                    sentence = self._read(text)
                except UnicodeDecodeError:
                    sentence, self.invalid[number] = Sentence(""), "invalid UTF-8"
                except FormatError as error:
                    known = Sentence.id_in_json(text) if self._in_json else None
                    sentence, self.invalid[number] = Sentence("", id=known), str(error)
                yield number, sentence
        except DAMAGE as error:
            raise damaged(self.place(number + 1), error) from None


class SentenceParses:
    """Trees by the number of their sentence, from 0."""

    def __init__(self, path: Path | None = None) -> None:
        """Opens a file with a tree on every line. Raises FormatError."""
        self.path = path
        self._trees: Sequence[Tree | None] = () if path is None else read_trees(path)

    def parsed(self, number: int, sentence: Sentence) -> Sentence:
        """Sentence ``number`` with its tree; with its own, if it has one, where the file has none. Raises
        FormatError for one beyond the last tree."""
        if self.path is None:
            return sentence
        if number >= len(self._trees):
            raise FormatError(f"no tree: {self.path} has {len(self._trees)}")
        tree = self._trees[number]
        return sentence if tree is None else Sentence.of(sentence, parse=tree)

    def check(self, sentences: int, *, all_of_them: bool = False) -> None:
        """Raises FormatError for trees of sentences beyond the last, and for fewer than ``all_of_them``."""
        trees = len(self._trees)
        if self.path is not None and (sentences < trees or (all_of_them and sentences > trees)):
            raise FormatError(f"{self.path}: {trees} trees for {sentences} sentences")


def source_set(content: bytes, name: str) -> SegmentSet:
    """The one source set of NIST's XML or SGML. Raises FormatError."""
    found = [each for each in parse_sets(content, name) if each.kind == "srcset"]
    if len(found) != 1:
        raise FormatError(f"{name}: {len(found)} srcsets, expected one")
    return found[0]
