"""Sentences that commands read: lines of text, JSON lines, or the segments of NIST's source sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from hiero import FormatError, Sentence, Tree
from hiero.base.lines import DAMAGE, damage_error, line_text
from hiero.base.text import split
from hiero.evaluate.evaluation_sets import ending, is_nist
from hiero.evaluate.nist_xml import SegmentSet, parse_sets
from hiero.features.trees import read_trees

Format = Literal["text", "nist", "jsonl"]


def format_of(path: Path | None, input_format: Format | None) -> Format:
    """Returns the format that is asked for, else that of the file name's ending."""
    if input_format is not None or path is None:
        return input_format or "text"
    return "nist" if is_nist(path) else "jsonl" if ending(path) == ".jsonl" else "text"


def reader(kind: Format, tokens: bool) -> Callable[[str], Sentence]:
    """Returns the function that reads a line of raw text, of ``tokens`` or of JSON; it raises FormatError."""
    if kind == "jsonl":
        return _json_in_tokens if tokens else Sentence.from_json
    return (lambda line: Sentence(tokens=split(line))) if tokens else Sentence


def _json_in_tokens(line: str) -> Sentence:
    sentence = Sentence.from_json(line)
    if sentence.text is None:
        return sentence
    return Sentence.from_source(sentence, text=None, tokens=split(sentence.text))


class Lines:
    """Sentences from input lines, with their numbers from 0.

    A line that is no sentence becomes an empty one, with its id if it is JSON with a legible id; ``invalid``
    has the messages for such lines by number.
    """

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
    def from_segments(cls, source: SegmentSet, name: str, read: Callable[[str], Sentence]) -> Lines:
        """Takes the segments of a set, which messages name by document and number, as lines."""
        segments = list(source)
        places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
        return cls([text.encode() for _, _, text in segments], name, read, places)

    def place(self, number: int) -> str:
        """Returns the name of a line in messages."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def id_of(self, number: int, sentence: Sentence) -> int | str | None:
        """Returns the id that the sentence has in its record, else its number. Returns None for an invalid
        JSON line without a legible id: its number may be the id of another line."""
        if sentence.id is not None:
            return sentence.id
        return None if number in self.invalid and self._in_json else number

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
                    legible_id = Sentence.id_in_json(text) if self._in_json else None
                    sentence, self.invalid[number] = Sentence("", id=legible_id), str(error)
                yield number, sentence
        except DAMAGE as error:
            raise damage_error(self.place(number + 1), error) from None


class SentenceParses:
    """Parse trees from a file, by the number of their sentence, from 0."""

    def __init__(self, path: Path | None = None) -> None:
        """Opens a file with a tree on every line. Raises FormatError."""
        self.path = path
        self._trees: Sequence[Tree | None] = () if path is None else read_trees(path)

    def parsed(self, number: int, sentence: Sentence) -> Sentence:
        """Returns sentence ``number`` with its tree from the file; a sentence without one there is unchanged.
        Raises FormatError for a sentence beyond the last tree."""
        if self.path is None:
            return sentence
        if number >= len(self._trees):
            raise FormatError(f"no tree: {self.path} has {len(self._trees)}")
        tree = self._trees[number]
        return sentence if tree is None else Sentence.from_source(sentence, parse=tree)

    def check(self, sentences: int, *, complete: bool = False) -> None:
        """Raises FormatError for more trees than sentences, and with ``complete`` also for fewer."""
        trees = len(self._trees)
        if self.path is not None and (sentences < trees or (complete and sentences > trees)):
            raise FormatError(f"{self.path}: {trees} trees for {sentences} sentences")


def source_set(content: bytes, name: str) -> SegmentSet:
    """Returns the single source set of a file in NIST's XML or SGML. Raises FormatError."""
    sets = [one for one in parse_sets(content, name) if one.kind == "srcset"]
    if len(sets) != 1:
        raise FormatError(f"{name}: {len(sets)} srcsets, expected one")
    return sets[0]
