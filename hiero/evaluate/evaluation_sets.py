"""Hypotheses and references from files: text, a segment a line, or NIST's XML and SGML.

Which it is says the name's ending: .xml, .sgm and .sgml are NIST's, also before .gz and .xz.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hiero._core import FormatError
from hiero.base.lines import PathLike, read_lines
from hiero.evaluate.metrics import Text
from hiero.evaluate.nist_xml import SUFFIXES, SegmentSet, aligned, read_sets


@dataclass(frozen=True)
class EvaluationSet:
    """References by segment, and for NIST's files the set that names its documents and segments."""

    references: list[list[str]]
    source: SegmentSet | None = None

    @classmethod
    def read(
        cls, files: Sequence[PathLike], source: SegmentSet | None = None, *, complete: bool = True
    ) -> EvaluationSet:
        """Reads reference files, all text or all NIST's, these in the order of the segments of ``source`` or
        else of the first. Raises FormatError where they do not fit together or, if the set is to be
        ``complete``, a segment has no reference that is not blank."""
        if not files:
            raise ValueError("no references")
        nist = [is_nist(file) for file in files]
        if any(nist) != all(nist):
            raise FormatError(f"{os.fspath(files[nist.index(False)])}: text among references in XML or SGML")
        found = cls._of_sets(files, source) if all(nist) else cls._of_text(files)
        if not found.references:
            raise FormatError(f"{os.fspath(files[0])}: no segments")
        for number, segment in enumerate(found.references):
            if complete and not any(line.strip() for line in segment):
                raise FormatError(f"{found.place(number, files[-1])}: no reference is not empty")
        return found

    @classmethod
    def _of_text(cls, files: Sequence[PathLike]) -> EvaluationSet:
        texts = [list(read_lines(file)) for file in files]
        for file, lines in zip(files, texts, strict=True):
            _check_length(file, len(lines), len(texts[0]))
        return cls([list(segment) for segment in zip(*texts, strict=True)])

    @classmethod
    def _of_sets(cls, files: Sequence[PathLike], source: SegmentSet | None) -> EvaluationSet:
        pairs = [(file, found) for file in files for found in _sets(file, "refset")]
        source = source or pairs[0][1]
        texts = [aligned(source, found, os.fspath(file)) for file, found in pairs]
        return cls([list(segment) for segment in zip(*texts, strict=True)], source)

    def hypotheses(self, file: PathLike) -> list[str]:
        """One a segment, from text, or from a `tstset` where the references are NIST's.

        One of NIST's with text is refused: its segments may have another order than the lines. Raises
        FormatError for that, and naming what is missing or extra.
        """
        if self.source is None:
            if is_nist(file):
                raise FormatError(
                    f"{os.fspath(file)}: in XML or SGML, where references are text: their order may differ"
                )
            lines = list(read_lines(file))
            _check_length(file, len(lines), len(self.references))
            return lines
        try:
            found = _sets(file, "tstset")
        except FormatError as error:
            if is_nist(file):
                raise
            raise FormatError(f"{error}; references are NIST's, and hypotheses a tstset then") from None
        if len(found) > 1:
            raise FormatError(f"{os.fspath(file)}: {len(found)} systems, expected one")
        return aligned(self.source, found[0], os.fspath(file))

    def place(self, number: int, file: PathLike) -> str:
        """Segment ``number`` of a file, from 0, as messages name it: text by its line, which is from 1."""
        name = os.fspath(file)
        return f"{name}:{number + 1}" if self.source is None else f"{name}: {self.name(number)}"

    def name(self, number: int) -> str:
        """Segment ``number``, from 0: by NIST's names, if it has such, else by that number."""
        if self.source is None:
            return f"segment {number}"
        document, segment = self._places[number]
        return f"document {document!r}: segment {segment}"

    @cached_property
    def _places(self) -> list[tuple[str, str]]:
        return [(document, segment) for document, segment, _ in self.source or ()]

    def genres(self) -> dict[str, list[int]]:
        """Numbers of segments by the genre of their document; empty for text, and without a genre's name for
        documents that have none."""
        found: dict[str, list[int]] = {}
        number = 0
        for document in self.source.documents if self.source is not None else ():
            segments = range(number, number := number + len(document.segments))
            found.setdefault(document.attributes.get("genre", ""), []).extend(segments)
        return found

    def check_tokens(self, text: Text, file: PathLike) -> None:
        """Raises FormatError for a segment of which the tokeniser leaves no reference; ``file`` is for the
        message."""
        tokens = iter(text.tokens(line for segment in self.references for line in segment))
        for number, segment in enumerate(self.references):
            if not any([next(tokens) for _ in segment]):
                raise FormatError(f"{self.place(number, file)}: no reference has a token")

    def documents(self) -> list[tuple[str, list[int]]]:
        """Names of documents and their segments' numbers. Raises ValueError for text."""
        if self.source is None:
            raise ValueError("text has no documents: references in NIST's XML or SGML name them")
        found: list[tuple[str, list[int]]] = []
        for number, (name, _, _) in enumerate(self.source):
            if not found or found[-1][0] != name:
                found.append((name, []))
            found[-1][1].append(number)
        return found


def read_source(file: PathLike) -> tuple[list[str], SegmentSet | None]:
    """The lines of a text, or the segments of a `srcset` and the set. Raises FormatError."""
    if not is_nist(file):
        return list(read_lines(file)), None
    found = _sets(file, "srcset")
    if len(found) > 1:
        raise FormatError(f"{os.fspath(file)}: {len(found)} srcsets, expected one")
    return [text for _, _, text in found[0]], found[0]


def is_nist(file: PathLike) -> bool:
    """Whether a name ends as those of NIST's files do, also before .gz and .xz."""
    return ending(file) in SUFFIXES


def ending(file: PathLike) -> str:
    """Gives the ending of a file's name in small letters, without .gz and .xz; "" where there is none."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".xz"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _sets(file: PathLike, kind: str) -> list[SegmentSet]:
    found = [each for each in read_sets(file) if each.kind == kind]
    if not found:
        raise FormatError(f"{os.fspath(file)}: no {kind}")
    return found


def _check_length(file: PathLike, lines: int, expected: int) -> None:
    if lines != expected:
        raise FormatError(f"{os.fspath(file)}: {lines} segments, expected {expected}")
