"""Hypotheses and references from files: text with a segment on each line, or NIST's XML and SGML.

The ending of the name decides: .xml, .sgm and .sgml are NIST's, also before .gz and .xz.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hiero._core import FormatError
from hiero.base.lines import PathLike, read_lines
from hiero.evaluate.nist_xml import SUFFIXES, SegmentSet, aligned, read_sets
from hiero.evaluate.tokens import Text
from hiero.text import TextSide


@dataclass(frozen=True)
class EvaluationSet:
    """The references of each segment, and for NIST's files the set with the names of documents and
    segments."""

    references: list[list[str]]
    source: SegmentSet | None = None

    @classmethod
    def read(
        cls, files: Sequence[PathLike], source: SegmentSet | None = None, *, complete: bool = True
    ) -> EvaluationSet:
        """Reads reference files, which are all text or all NIST's. Segments of NIST's are put in the order of
        ``source``, or else of the first file. Raises FormatError if the files do not fit together and, if
        ``complete``, for a segment whose references are all blank."""
        if not files:
            raise ValueError("no references")
        nist = [is_nist(file) for file in files]
        if any(nist) != all(nist):
            raise FormatError(f"{os.fspath(files[nist.index(False)])}: text among references in XML or SGML")
        references = cls._from_sets(files, source) if all(nist) else cls._from_text(files)
        if not references.references:
            raise FormatError(f"{os.fspath(files[0])}: no segments")
        for number, segment in enumerate(references.references):
            if complete and not any(line.strip() for line in segment):
                raise FormatError(f"{references.place(number, files[-1])}: all references are empty")
        return references

    @classmethod
    def _from_text(cls, files: Sequence[PathLike]) -> EvaluationSet:
        texts = [list(read_lines(file)) for file in files]
        for file, lines in zip(files, texts, strict=True):
            _check_length(file, len(lines), len(texts[0]))
        return cls([list(segment) for segment in zip(*texts, strict=True)])

    @classmethod
    def _from_sets(cls, files: Sequence[PathLike], source: SegmentSet | None) -> EvaluationSet:
        pairs = [(file, refset) for file in files for refset in _sets(file, "refset")]
        source = source or pairs[0][1]
        texts = [aligned(source, refset, os.fspath(file)) for file, refset in pairs]
        return cls([list(segment) for segment in zip(*texts, strict=True)], source)

    def normalised(self, side: TextSide) -> EvaluationSet:
        """Returns the set with all references normalised as the text of ``side``."""
        references = [[side.normalised(line) for line in segment] for segment in self.references]
        return replace(self, references=references)

    def hypotheses(self, file: PathLike) -> list[str]:
        """Reads one hypothesis for each segment, from text or, if the references are NIST's, from a `tstset`.

        Raises FormatError for a `tstset` if references are text, whose lines may have another order, and for
        missing or extra segments, which it names.
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
            tstsets = _sets(file, "tstset")
        except FormatError as error:
            if is_nist(file):
                raise
            raise FormatError(f"{error}; references are NIST's, and hypotheses a tstset then") from None
        if len(tstsets) > 1:
            raise FormatError(f"{os.fspath(file)}: {len(tstsets)} systems, expected one")
        return aligned(self.source, tstsets[0], os.fspath(file))

    def source_lines(self, file: PathLike) -> list[str]:
        """Reads the source of each segment, from text or, if the references are NIST's, from a `srcset`.

        Raises FormatError for missing or extra segments, and for text where NIST's sets are expected."""
        if self.source is None:
            lines = list(read_lines(file))
            _check_length(file, len(lines), len(self.references))
            return lines
        sets = _sets(file, "srcset")
        if len(sets) != 1:
            raise FormatError(f"{os.fspath(file)}: {len(sets)} srcsets, expected one")
        return aligned(self.source, sets[0], os.fspath(file))

    def place(self, number: int, file: PathLike) -> str:
        """Names segment ``number``, from 0, of a file for messages. Lines of text are numbered from 1."""
        name = os.fspath(file)
        return f"{name}:{number + 1}" if self.source is None else f"{name}: {self.name(number)}"

    def name(self, number: int) -> str:
        """Names segment ``number``, from 0: by NIST's names if there are any, else by that number."""
        if self.source is None:
            return f"segment {number}"
        document, segment = self._places[number]
        return f"document {document!r}: segment {segment}"

    @cached_property
    def _places(self) -> list[tuple[str, str]]:
        return [(document, segment) for document, segment, _ in self.source or ()]

    def genres(self) -> dict[str, list[int]]:
        """Returns the numbers of segments by the genre of their document, "" for documents without a genre;
        empty for text."""
        genres: dict[str, list[int]] = {}
        number = 0
        for document in self.source.documents if self.source is not None else ():
            segments = range(number, number := number + len(document.segments))
            genres.setdefault(document.attributes.get("genre", ""), []).extend(segments)
        return genres

    def check_tokens(self, text: Text, file: PathLike) -> None:
        """Raises FormatError, which names ``file``, for a segment whose references have no tokens."""
        tokens = iter(text.tokens(line for segment in self.references for line in segment))
        for number, segment in enumerate(self.references):
            if not any([next(tokens) for _ in segment]):
                raise FormatError(f"{self.place(number, file)}: no reference has a token")

    def documents(self) -> list[tuple[str, list[int]]]:
        """Returns the names of documents with the numbers of their segments. Raises ValueError for text."""
        if self.source is None:
            raise ValueError("text has no documents: references in NIST's XML or SGML name them")
        documents: list[tuple[str, list[int]]] = []
        for number, (name, _, _) in enumerate(self.source):
            if not documents or documents[-1][0] != name:
                documents.append((name, []))
            documents[-1][1].append(number)
        return documents


def read_source(file: PathLike, *, in_nist: bool) -> tuple[list[str], SegmentSet | None]:
    """Reads the lines of a text, or the segments of a `srcset`, and the set. Raises FormatError."""
    if not in_nist:
        return list(read_lines(file)), None
    srcsets = _sets(file, "srcset")
    if len(srcsets) > 1:
        raise FormatError(f"{os.fspath(file)}: {len(srcsets)} srcsets, expected one")
    return [text for _, _, text in srcsets[0]], srcsets[0]


def is_nist(file: PathLike) -> bool:
    """Tells whether a name has the ending of NIST's files, also before .gz and .xz."""
    return ending(file) in SUFFIXES


def ending(file: PathLike) -> str:
    """Returns the ending of a file's name in lower case, without .gz and .xz; "" if there is none."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".xz"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _sets(file: PathLike, kind: str) -> list[SegmentSet]:
    sets = [segments for segments in read_sets(file) if segments.kind == kind]
    if not sets:
        raise FormatError(f"{os.fspath(file)}: no {kind}")
    return sets


def _check_length(file: PathLike, lines: int, expected: int) -> None:
    if lines != expected:
        raise FormatError(f"{os.fspath(file)}: {lines} segments, expected {expected}")
