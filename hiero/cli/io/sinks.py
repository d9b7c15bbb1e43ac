"""Outputs of `hiero decode`.

Each record is converted where the sentence was translated, on a thread or on a cluster, and what comes of it
is written in the order of the sentences on a single thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import IO, Any, Generic, TypeVar

from hiero.cli.io.records import Record, derivation_record, format_record
from hiero.evaluate.nist_xml import SegmentSet, write_tstset
from hiero.forest.files import NO_FOREST, ForestWriter, PackedForest, pack_forest

T = TypeVar("T")


class Sink(ABC, Generic[T]):
    """An output of decoding."""

    @property
    @abstractmethod
    def convert(self) -> Callable[[Record], T]:
        """The function that converts a record for ``write``. It can be pickled, and may be called from any
        thread."""

    @abstractmethod
    def write(self, converted: T) -> None:
        """Writes what ``convert`` returned. Called in the order of the sentences."""

    def end(self) -> None:
        """Writes the rest. Called after the last sentence."""


class Records(Sink[bytes]):
    """Lines of text, n-best lists or JSON, written at once."""

    def __init__(self, file: IO[bytes], output_format: str) -> None:
        self._file = file
        self._format = output_format

    @property
    def convert(self) -> Callable[[Record], bytes]:
        return partial(_record_lines, self._format)

    def write(self, converted: bytes) -> None:
        self._file.write(converted)
        self._file.flush()


class Tstset(Sink[str]):
    """A set of translations in NIST's XML, written at the end."""

    def __init__(self, file: IO[bytes], source: SegmentSet, language: str, system: str) -> None:
        self._file = file
        self._set = source, language, system
        self._texts: list[str] = []

    @property
    def convert(self) -> Callable[[Record], str]:
        return _first_text

    def write(self, converted: str) -> None:
        self._texts.append(converted)

    def end(self) -> None:
        source, language, system = self._set
        self._file.write(write_tstset(source, self._texts, language, system).encode())


class Derivations(Sink[bytes]):
    """The best derivations as JSON lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    @property
    def convert(self) -> Callable[[Record], bytes]:
        return _derivation_line

    def write(self, converted: bytes) -> None:
        self._file.write(converted)


class Forests(Sink[PackedForest]):
    """An archive of forests."""

    def __init__(self, writer: ForestWriter) -> None:
        self._writer = writer

    @property
    def convert(self) -> Callable[[Record], PackedForest]:
        return _packed_forest

    def write(self, converted: PackedForest) -> None:
        self._writer.add(converted)


Sinks = list[Sink[Any]]


def _record_lines(output_format: str, record: Record) -> bytes:
    return format_record(record, output_format).encode()


def _first_text(record: Record) -> str:
    return record.texts[0]


def _derivation_line(record: Record) -> bytes:
    return derivation_record(record).encode()


def _packed_forest(record: Record) -> PackedForest:
    return pack_forest(NO_FOREST if record.forest is None else record.forest)
