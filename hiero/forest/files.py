"""Forests in files: many in one archive, and as JSON lines.

An archive is a zip file of NumPy arrays, which ``numpy.load`` opens as well: ``17/tails.npy`` and so on for
the forest of sentence 17, its strings in ``17/names.json``, and ``forests.json`` for all. Names of features,
which the forests of a model share, are there once, in ``features-0123456789abcdef.json`` with their
fingerprint. An archive is written as a stream, appears when it is whole, and is read sentence by sentence.

>>> with ForestWriter("all.forests") as writer:  # doctest: +SKIP
...     writer.write(decoder.translate(line, keep="forest").forest)
>>> for forest in ForestFile("all.forests"): ...  # doctest: +SKIP
"""

from __future__ import annotations

import errno
import io
import itertools
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hiero._core import FeatureNames, Forest, ForestError
from hiero.base.files import replacing
from hiero.base.json_files import json_number
from hiero.base.lines import open_source

FORMAT = 2
_ARRAYS = (
    *("edge_offsets", "tail_offsets", "tails", "node_spans", "node_labels", "edge_tables", "edge_rules"),
    *("edge_targets", "target_offsets", "target_symbols", "link_offsets", "links"),
)
_NAMES = ("source", "words", "labels", "tables")
# The feature matrix in CSR form.
_MATRIX = ("feature_offsets", "feature_ids", "feature_values")
_LEVEL = 1  # of compression
_MOST_BYTES = 1 << 33  # of an array: 2^31 - 1 entries of 4 bytes, rounded up


# What stands in for the forest of a sentence that failed.
NO_FOREST = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[])


@dataclass(frozen=True)
class _Part:
    """A file of an archive, compressed; checksum and size are those of what it holds."""

    name: str
    checksum: int
    size: int
    content: bytes


@dataclass(frozen=True)
class PackedForest:
    """Files of a forest, and the names that its features have in common with others."""

    parts: Sequence[_Part]
    feature_names: FeatureNames


def pack_forest(forest: Forest) -> PackedForest:
    """What ``ForestWriter.add`` takes: compressing takes long, and may be done on any thread."""
    names = _names(forest) | {"feature_names": forest.feature_names.fingerprint}
    parts = [_part("names.json", json.dumps(names, ensure_ascii=False).encode())]
    for name, array in _arrays(forest).items():
        file = io.BytesIO()
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        parts.append(_part(f"{name}.npy", file.getvalue()))
    return PackedForest(parts, forest.feature_names)


def _part(name: str, content: bytes) -> _Part:
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return _Part(name, zlib.crc32(content), len(content), deflate.compress(content) + deflate.flush())


def _features_file(fingerprint: str) -> str:
    return f"features-{fingerprint}.json"


def _entry(name: str) -> zipfile.ZipInfo:
    # Without a time, so that the same forests make the same bytes.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16  # for those who unzip it
    return entry


def _names(forest: Forest) -> dict[str, Any]:
    return {name: getattr(forest, name) for name in _NAMES}


def _arrays(forest: Forest) -> dict[str, npt.NDArray[Any]]:
    features = forest.features
    matrix = (features.indptr, features.indices, features.data)
    return {name: getattr(forest, name) for name in _ARRAYS} | dict(zip(_MATRIX, matrix, strict=True))


class ForestWriter:
    """Writes an archive, forest by forest; a context manager. The file appears if the block ends well.

    ``about`` is kept in it, such as the checksums of the model's files and its ``weights``.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._about = dict(about or {})
        self._count = 0
        self._features: set[str] = set()
        self._stack = ExitStack()

    def __enter__(self) -> ForestWriter:
        temporary = self._stack.enter_context(replacing(self._path))
        self._zip = self._stack.enter_context(zipfile.ZipFile(temporary, "w", compresslevel=_LEVEL))
        about = json.dumps({"format": FORMAT, **self._about}, default=json_number)
        self._zip.writestr(_entry("forests.json"), about)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, forest: Forest) -> None:
        """Adds the forest of the next sentence; one without derivations has no nodes."""
        self.add(pack_forest(forest))

    def add(self, forest: PackedForest) -> None:
        """The same for one that is packed already."""
        names = forest.feature_names
        if names.fingerprint not in self._features:
            self._features.add(names.fingerprint)
            content = json.dumps(list(names), ensure_ascii=False).encode()
            self._zip.writestr(_entry(_features_file(names.fingerprint)), content)
        for part in forest.parts:
            entry = _entry(f"{self._count}/{part.name}")
            entry.CRC, entry.file_size, entry.compress_size = part.checksum, part.size, len(part.content)
            # As ZipFile.writestr does, but that the content is compressed.
            archive = self._zip
            assert archive.fp is not None
            archive.fp.seek(archive.start_dir)
            entry.header_offset = archive.fp.tell()
            archive.fp.write(entry.FileHeader() + part.content)
            archive.filelist.append(entry)
            archive.NameToInfo[entry.filename] = entry
            archive.start_dir = archive.fp.tell()
        self._count += 1


class ForestFile(Sequence[Forest]):
    """An archive, as a sequence of forests that are read when they are asked for.

    Raises OSError, and ForestError for what is no archive or damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        with _refusing(f"{self._path}: not a file of forests"):
            self._zip = zipfile.ZipFile(path)
            about = json.loads(self._read("forests.json"))
            self.about: Mapping[str, Any] = dict(about)
        if self.about.get("format") != FORMAT:
            raise ForestError(f"{self._path}: format {self.about.get('format')}, expected {FORMAT}")
        self._features: dict[str, FeatureNames] = {}
        # Also of sentences that lack parts, so that those are missed when they are asked for.
        self._count = len({name.split("/")[0] for name in self._zip.namelist() if "/" in name})

    def __enter__(self) -> ForestFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    @property
    def weights(self) -> dict[str, float] | None:
        """Those that the forests were made with, if the archive says. Raises ForestError for damaged ones."""
        if "weights" not in self.about:
            return None
        with _refusing(f"{self._path}: weights"):
            return {name: float(weight) for name, weight in dict(self.about["weights"]).items()}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        number = index + self._count if index < 0 else index
        if not 0 <= number < self._count:
            raise IndexError(f"sentence {index} of {self._count}")
        with _refusing(f"{self._path}: sentence {number}"):
            return self._forest(number)

    def _forest(self, number: int) -> Forest:
        names = json.loads(self._read(f"{number}/names.json"))
        arrays = {name: self._array(f"{number}/{name}.npy") for name in (*_ARRAYS, *_MATRIX)}
        matrix = [arrays.pop(name) for name in _MATRIX]
        strings = {name: names[name] for name in _NAMES}
        return assemble(
            strings | {"feature_names": self._feature_names(names["feature_names"])}, arrays, matrix
        )

    def _feature_names(self, fingerprint: str) -> FeatureNames:
        if fingerprint not in self._features:
            names = FeatureNames(json.loads(self._read(_features_file(fingerprint))))
            if names.fingerprint != fingerprint:
                raise ValueError(f"names of features are not those of {fingerprint}")
            self._features[fingerprint] = names
        return self._features[fingerprint]

    def _read(self, name: str) -> bytes:
        if self._zip.getinfo(name).file_size > _MOST_BYTES:
            raise ValueError(f"{name} is too large")
        return self._zip.read(name)

    def _array(self, name: str) -> npt.NDArray[Any]:
        """An array of numbers; its header does not decide how much memory is taken."""
        content = self._read(name)
        file = io.BytesIO(content)
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name}: unknown version")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.kind not in "if" or by_column:
            raise ValueError(f"{name}: expected numbers by row, found {dtype}")
        return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)


@contextmanager
def _refusing(where: str) -> Iterator[None]:
    """Turns whatever the libraries raise for damaged bytes, which is more than they say, into ForestError."""
    try:
        yield
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # as of a seek to where no file can be
            raise
        raise ForestError(f"{where}: {error}") from None
    except Exception as error:
        raise ForestError(f"{where}: {error}") from None


def assemble(names: Mapping[str, Any], arrays: Mapping[str, Any], matrix: Sequence[Any]) -> Forest:
    """A forest of what files hold. Raises ForestError, ValueError or TypeError."""
    import scipy.sparse  # here, as it takes long to start

    offsets, ids, values = (np.asarray(part) for part in matrix)
    ids = ids.astype(np.int32) if ids.size == 0 else ids
    shape = (max(len(arrays["tail_offsets"]) - 1, 0), len(names["feature_names"]))
    features = scipy.sparse.csr_array((values, ids, offsets), shape=shape)
    features.check_format(full_check=True)
    return Forest.from_arrays(features=features, **names, **arrays)


def write_json(forests: Iterable[Forest], file: IO[str]) -> None:
    """Writes a forest a line as JSON objects: arrays and strings by the names of attributes."""
    for forest in forests:
        arrays = {name: array.tolist() for name, array in _arrays(forest).items()}
        names = _names(forest) | {"feature_names": list(forest.feature_names)}
        file.write(json.dumps(names | arrays, ensure_ascii=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> Iterator[Forest]:
    """The forests of such a file (plain, gzip, xz). Raises ForestError naming the line; OSError."""
    with open_source(path) as file:
        for number in itertools.count(start=1):
            with _refusing(f"{os.fspath(path)}:{number}"):
                line = next(file, None)
                if line is None:
                    return
                entry = json.loads(line)
                arrays = {name: np.asarray(entry[name]) for name in _ARRAYS}
                matrix = [entry[name] for name in _MATRIX]
                forest = assemble({name: entry[name] for name in (*_NAMES, "feature_names")}, arrays, matrix)
            yield forest
