"""Files of forests: archives of many forests, and JSON lines.

An archive has a record for each forest (``Forest.record``) with its own checksum, then an index with the
places of the records and the names of features, which forests of the same model share. It is written as a
stream and appears only when it is complete. It is mapped into memory: threads and processes can read the
forests in any order, and forests that are not needed are not read.

>>> with ForestWriter("all.forests") as writer:  # doctest: +SKIP
...     writer.write(decoder.translate(line, keep="forest").forest)
>>> for forest in ForestFile("all.forests"): ...  # doctest: +SKIP
"""

from __future__ import annotations

import errno
import itertools
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hiero._core import FeatureNames, Forest, ForestError, ForestSource
from hiero.base.files import replacing
from hiero.base.json_files import json_number
from hiero.base.lines import open_source

# The first and last bytes of an archive, with the version of the format.
_MAGIC = b"HIEROFR4"
# The end of an archive: the position of the index, its size, its checksum, and _MAGIC.
_FOOTER = struct.Struct("<QQI8s")
# The first bytes of archives of earlier versions.
_EARLIER = (b"PK", _MAGIC[:-1])
_ARRAYS = (
    *("edge_offsets", "tail_offsets", "tails", "node_spans", "node_labels", "edge_tables", "edge_rules"),
    *("edge_targets", "target_offsets", "target_symbols", "link_offsets", "links"),
)
# Arrays that only forests of a source lattice have.
_LATTICE = ("source_nodes", "path_offsets", "path")
_NAMES = ("source", "words", "labels", "tables")
# The feature matrix in CSR form.
_MATRIX = ("feature_offsets", "feature_ids", "feature_values")


# A placeholder for the forest of a sentence that failed.
NO_FOREST = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[])


@dataclass(frozen=True)
class PackedForest:
    """A forest as it is stored in an archive: its record and its feature names."""

    record: bytes
    feature_names: FeatureNames


def pack_forest(forest: Forest) -> PackedForest:
    """Packs a forest for ``ForestWriter.add``. Can be called on any thread."""
    return PackedForest(forest.record(), forest.feature_names)


def _names(forest: Forest) -> dict[str, Any]:
    return {name: getattr(forest, name) for name in _NAMES}


def _arrays(forest: Forest) -> dict[str, npt.NDArray[Any]]:
    features = forest.features
    matrix = (features.indptr, features.indices, features.data)
    names = (*_ARRAYS, *(_LATTICE if len(forest.source_nodes) else ()))
    return {name: getattr(forest, name) for name in names} | dict(zip(_MATRIX, matrix, strict=True))


@dataclass(frozen=True, eq=False)
class ForestRecords(Sequence[Forest]):
    """Forests as an archive stores them: memory that holds their records, the first byte and the number of
    bytes of each, int64 (forests, 2), and the feature names of all. Pickled, it has the records alone."""

    memory: mmap.mmap | bytes
    places: npt.NDArray[np.int64]
    feature_names: FeatureNames

    def source(self) -> ForestSource:
        """Returns the forests as a source for training. Raises ForestError for records beyond the memory."""
        return ForestSource.of_records(self.memory, self.places, self.feature_names)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ForestRecords(self.memory, self.places[index], self.feature_names)
        return Forest.from_record(self._record(index), self.feature_names)

    def _record(self, index: int) -> bytes:
        begin, size = self.places[index].tolist()
        return self.memory[begin : begin + size]

    def __reduce__(self) -> tuple[Any, ...]:
        records = [self._record(index) for index in range(len(self))]
        sizes = np.array([len(record) for record in records], dtype=np.int64)
        places = np.stack([np.cumsum(sizes) - sizes, sizes], axis=1)
        return ForestRecords, (b"".join(records), places, self.feature_names)


class ForestWriter:
    """A context manager that writes an archive, forest by forest.

    The file appears when the block ends without an exception. ``about`` is stored in the archive, for example
    the checksums of the model's files and the ``weights``.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._about = dict(about or {})
        self._names: dict[str, int] = {}  # the index of each list of names, by its fingerprint
        self._lists: list[list[str]] = []
        self._records: list[tuple[int, int, int]] = []
        self._stack = ExitStack()

    def __enter__(self) -> ForestWriter:
        temporary = self._stack.enter_context(replacing(self._path))
        self._file = self._stack.enter_context(temporary.open("wb"))
        self._file.write(_MAGIC)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._write_index()
        except BaseException as raised:
            self._stack.__exit__(type(raised), raised, raised.__traceback__)
            raise
        self._stack.__exit__(kind, error, trace)

    def _write_index(self) -> None:
        index = {"about": self._about, "feature_names": self._lists, "records": self._records}
        content = json.dumps(index, ensure_ascii=False, default=json_number).encode()
        begin = self._file.tell()
        self._file.write(content)
        self._file.write(_FOOTER.pack(begin, len(content), zlib.crc32(content), _MAGIC))

    def write(self, forest: Forest) -> None:
        """Adds the forest of the next sentence. A forest without derivations has no nodes."""
        self.add(pack_forest(forest))

    def add(self, forest: PackedForest) -> None:
        """Adds the forest of the next sentence, which is already packed."""
        names = forest.feature_names
        number = self._names.setdefault(names.fingerprint, len(self._lists))
        if number == len(self._lists):
            self._lists.append(list(names))
        self._records.append((self._file.tell(), len(forest.record), number))
        self._file.write(forest.record)


class ForestFile(Sequence[Forest]):
    """A sequence of the forests in an archive. Each forest is read when it is accessed.

    Raises OSError, and ForestError for a file that is damaged or is not an archive.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        with open(path, "rb") as file:
            begin = file.read(len(_MAGIC))
            if begin.startswith(_EARLIER) and begin != _MAGIC:
                remedy = "make it again, with hiero-decode --forests"
                raise ForestError(f"{self._path}: an archive of an earlier version; {remedy}")
            if begin != _MAGIC:
                raise ForestError(f"{self._path}: not a file of forests")
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except OSError as error:  # for example, a pipe
                raise OSError(error.errno, error.strerror, self._path) from None
        with _forest_errors(f"{self._path}: not a file of forests"):
            index = self._index()
            self.about: Mapping[str, Any] = dict(index["about"])
            self._names = [FeatureNames(names) for names in index["feature_names"]]
            self._records = [(int(begin), int(size), int(names)) for begin, size, names in index["records"]]

    def _index(self) -> Any:
        begin, size, checksum, magic = _FOOTER.unpack(self._map[-_FOOTER.size :])
        content = self._map[begin : begin + size]
        if (
            magic != _MAGIC
            or begin + size + _FOOTER.size != len(self._map)
            or zlib.crc32(content) != checksum
        ):
            raise ValueError("its index is damaged")
        return json.loads(content)

    def __enter__(self) -> ForestFile:
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(BufferError):  # a source that is still in use keeps the map open
            self._map.close()

    @property
    def weights(self) -> dict[str, float] | None:
        """The weights with which the forests were made, or None. Raises ForestError if they are damaged."""
        if "weights" not in self.about:
            return None
        with _forest_errors(f"{self._path}: weights"):
            return {name: float(weight) for name, weight in dict(self.about["weights"]).items()}

    @property
    def temperature(self) -> float:
        """The temperature of the confidence of words, 1 where the archive does not say. Raises ForestError if
        it is damaged."""
        with _forest_errors(f"{self._path}: confidence_temperature"):
            return float(self.about.get("confidence_temperature", 1.0))

    def source(self) -> ForestSource:
        """Returns the forests as a source for training, which reads them from the map.

        Raises ForestError if forests have different features; those without features are ignored.
        """
        records = self.records()
        with _forest_errors(self._path):
            return records.source()

    def records(self) -> ForestRecords:
        """Returns the forests as records in the map, which are read when they are accessed, while the archive
        is open. Raises ForestError as ``source`` does."""
        with _forest_errors(self._path):
            features = [names for names in self._names if len(names)]
            if len(features) > 1:
                raise ValueError("its forests have different features")
            records = [(begin, size) for begin, size, _ in self._records]
            places = np.array(records, dtype=np.int64).reshape(-1, 2)
            return ForestRecords(self._map, places, features[0] if features else FeatureNames([]))

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"{self._path}: no sentence {index}, there are {len(self)}, from 0")
        with _forest_errors(f"{self._path}: sentence {number}"):
            begin, size, names = self._records[number]
            if begin < 0 or size < 0 or names < 0:
                raise ValueError("its place is damaged")
            with memoryview(self._map) as view, view[begin : begin + size] as record:
                return Forest.from_record(record, self._names[names])


@contextmanager
def _forest_errors(where: str) -> Iterator[None]:
    """Turns all exceptions for damaged bytes into ForestError. Libraries raise more types than documented."""
    try:
        yield
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # EINVAL: a seek to an impossible position
            raise
        raise ForestError(f"{where}: {error}") from None
    except Exception as error:
        raise ForestError(f"{where}: {error}") from None


def make_forest(names: Mapping[str, Any], arrays: Mapping[str, Any], matrix: Sequence[Any]) -> Forest:
    """Makes a forest of the content of a file. Raises ForestError, ValueError or TypeError."""
    import scipy.sparse  # imported late, as it is slow

    offsets, ids, values = (np.asarray(part) for part in matrix)
    ids = ids.astype(np.int32) if ids.size == 0 else ids
    shape = (max(len(arrays["tail_offsets"]) - 1, 0), len(names["feature_names"]))
    features = scipy.sparse.csr_array((values, ids, offsets), shape=shape)
    features.check_format(full_check=True)
    return Forest.from_arrays(features=features, **names, **arrays)


def write_json(forests: Iterable[Forest], file: IO[str]) -> None:
    """Writes each forest as a JSON object on one line. Its keys are names of attributes of ``Forest``."""
    for forest in forests:
        arrays = {name: array.tolist() for name, array in _arrays(forest).items()}
        names = _names(forest) | {"feature_names": list(forest.feature_names)}
        file.write(json.dumps(names | arrays, ensure_ascii=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> Iterator[Forest]:
    """Yields the forests that ``write_json`` wrote to a file (plain, gzip, xz).

    Raises ForestError with the line; OSError.
    """
    with open_source(path) as file:
        for number in itertools.count(start=1):
            with _forest_errors(f"{os.fspath(path)}:{number}"):
                line = next(file, None)
                if line is None:
                    return
                entry = json.loads(line)
                in_entry = [*_ARRAYS, *(name for name in _LATTICE if name in entry)]
                arrays = {name: np.asarray(entry[name]) for name in in_entry}
                matrix = [entry[name] for name in _MATRIX]
                names = {name: entry[name] for name in (*_NAMES, "feature_names")}
                forest = make_forest(names, arrays, matrix)
            yield forest
