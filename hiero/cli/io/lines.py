"""Sentences that commands read: lines of text, JSON lines, or the segments of NIST's source sets.

To add a format with a sentence on each line, write its functions, and add its name to ``Format`` and its
entry to ``LINE_FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from hiero import FormatError, Sentence, Tree
from hiero.base.lines import DAMAGE, damage_error, line_text
from hiero.evaluate.evaluation_sets import ending, is_nist
from hiero.evaluate.nist_xml import SegmentSet, parse_sets
from hiero.features.lattice import Lattice
from hiero.features.trees import read_trees
from hiero.text import TextSide

# The names of all formats. NIST's are the only ones whose sentences are not lines.
Format = Literal["text", "nist", "jsonl", "plf"]
# Ways to read marks in text: as those of Moses, or as text.
MarkupMode = Literal["exclusive", "inclusive", "constraint", "ignore", "pass-through"]


def _split_text(sentence: Sentence) -> Sentence:
    """Returns the sentence with the words between the spaces of its text as tokens."""
    return sentence.with_tokens(TextSide()) if sentence.is_raw else sentence


def _lattice(line: str) -> Sentence:
    """Reads a lattice of raw text; a blank line, or one without nodes, is an empty sentence."""
    is_blank = line.strip() in ("", "()")
    return Sentence("") if is_blank else Sentence(lattice=Lattice.from_plf(line, raw=True))


@dataclass(frozen=True)
class LineFormat:
    """A format with a sentence on each line.

    ``read`` makes a sentence of a line. It raises FormatError, which says what was expected; whoever calls it
    adds the file and the number of the line. Lines are read in order, but lines that are not UTF-8 are not
    read. ``ending`` is that of the names of such files, without .gz or .xz; "" if names do not tell.
    ``id_in_line`` finds the id in a line that cannot be read, or None there; without it, sentences have no
    ids but their numbers. With ``has_rules``, sentences may bring rules or lattices, which have features of
    their own.
    """

    read: Callable[[str], Sentence]
    ending: str = ""
    id_in_line: Callable[[str], int | str | None] | None = None
    has_rules: bool = False

    def read_sentence(self, line: str, in_tokens: bool) -> Sentence:
        """Reads a line, whose text is raw or, if ``in_tokens``, tokens with spaces between them. Raises
        FormatError."""
        sentence = self.read(line)
        return _split_text(sentence) if in_tokens else sentence


LINE_FORMATS: dict[Format, LineFormat] = {
    "text": LineFormat(Sentence),
    "jsonl": LineFormat(Sentence.from_json, ".jsonl", Sentence.id_in_json, has_rules=True),
    "plf": LineFormat(_lattice, ".plf", has_rules=True),
}


def line_format(name: Format) -> LineFormat:
    """Returns the format by its name; segments of NIST's sets are read as lines of text."""
    return LINE_FORMATS["text" if name == "nist" else name]


def marked_text(mode: MarkupMode) -> LineFormat:
    """Returns the format of lines of text with marks (``Sentence.from_markup``)."""
    return LineFormat(Sentence if mode == "pass-through" else partial(Sentence.from_markup, mode=mode))


def format_of(path: Path | None, input_format: Format | None) -> Format:
    """Returns the format that is asked for, else that of the file name's ending."""
    if input_format is not None or path is None:
        return input_format or "text"
    if is_nist(path):
        return "nist"
    endings = {entry.ending: name for name, entry in LINE_FORMATS.items() if entry.ending}
    return endings.get(ending(path), "text")


class Lines:
    """Sentences from input lines, with their numbers from 0.

    A line that is no sentence becomes an empty one, with its id if the format finds one in it; ``invalid``
    has the messages for such lines by number.
    """

    def __init__(
        self,
        source: Iterable[bytes],
        name: str,
        kind: LineFormat,
        in_tokens: bool,
        places: Sequence[str] = (),
    ) -> None:
        """``name`` is that of the file, for messages, and ``places`` are the names of its lines there, if
        they are not numbers. Text is raw, or tokens if ``in_tokens``."""
        self.source = source
        self.name = name
        self.places = places
        self.invalid: dict[int, str] = {}
        self._format = kind
        self._in_tokens = in_tokens

    @classmethod
    def from_segments(cls, source: SegmentSet, name: str, kind: LineFormat, in_tokens: bool) -> Lines:
        """Takes the segments of a set, which messages name by document and number, as lines."""
        segments = list(source)
        places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
        lines = [text.encode() for _, _, text in segments]
        return cls(lines, name, kind, in_tokens, places)

    def place(self, number: int) -> str:
        """Returns the name of a line in messages."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def id_of(self, number: int, sentence: Sentence) -> int | str | None:
        """Returns the id of a sentence, or its number if it has none. Returns None for an invalid line of a
        format with ids, if its id cannot be read: its number may be the id of another line."""
        if sentence.id is not None:
            return sentence.id
        has_ids = self._format.id_in_line is not None
        return None if number in self.invalid and has_ids else number

    def __iter__(self) -> Iterator[tuple[int, Sentence]]:
        number = -1
        try:
            for number, line in enumerate(self.source):
                text = ""
                try:
                    text = line_text(line, number)
                    sentence = self._format.read_sentence(text, self._in_tokens)
                except UnicodeDecodeError:
                    sentence, self.invalid[number] = Sentence(""), "invalid UTF-8"
                except FormatError as error:
                    find_id = self._format.id_in_line
                    line_id = find_id(text) if find_id else None
                    sentence, self.invalid[number] = Sentence("", id=line_id), str(error)
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
