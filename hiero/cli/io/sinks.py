"""Where `hiero decode` writes: each sink makes of a record what it writes on the thread that translated the
sentence, and writes that in order on one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import IO, Any, Generic, TypeVar

from hiero.cli.io.records import Record, derivation_record, format_record
from hiero.evaluate.nist_xml import SegmentSet, write_tstset
from hiero.forest.files import NO_FOREST, ForestWriter, PackedForest, pack_forest

T = TypeVar("T")


class Sink(ABC, Generic[T]):
    @abstractmethod
    def make(self, record: Record) -> T:
        """From any thread."""

    @abstractmethod
    def write(self, made: T) -> None:
        """In the order of the sentences."""

    def end(self) -> None:
        """After the last."""


class Records(Sink[bytes]):
    """Lines of text, n-best lists or JSON, out as soon as they are there."""

    def __init__(self, file: IO[bytes], output_format: str) -> None:
        self._file = file
        self._format = output_format

    def make(self, record: Record) -> bytes:
        return format_record(record, self._format).encode()

    def write(self, made: bytes) -> None:
        self._file.write(made)
        self._file.flush()


class Tstset(Sink[str]):
    """NIST's XML, in one piece at the end."""

    def __init__(self, file: IO[bytes], source: SegmentSet, language: str, system: str) -> None:
        self._file = file
        self._set = source, language, system
        self._texts: list[str] = []

    def make(self, record: Record) -> str:
        return record.texts[0]

    def write(self, made: str) -> None:
        self._texts.append(made)

    def end(self) -> None:
        source, language, system = self._set
        self._file.write(write_tstset(source, self._texts, language, system).encode())


class Derivations(Sink[bytes]):
    """The best derivations as JSON lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def make(self, record: Record) -> bytes:
        return derivation_record(record).encode()

    def write(self, made: bytes) -> None:
        self._file.write(made)


class Forests(Sink[PackedForest]):
    """An archive of forests."""

    def __init__(self, writer: ForestWriter) -> None:
        self._writer = writer

    def make(self, record: Record) -> PackedForest:
        return pack_forest(NO_FOREST if record.forest is None else record.forest)

    def write(self, made: PackedForest) -> None:
        self._writer.add(made)


Sinks = list[Sink[Any]]
