"""The forests that a second stage is trained on, one set for each fold of the bitext.

Forests are annotated with 4-grams once, and written to files with the features and counts of their edges. The
files are mapped into memory, so that only the forests that threads work on need to be there. On a cluster
forests are annotated on its nodes and come back to these files, which later steps send out in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hiero._core import Forest, FormatError
from hiero.base.files import replacing, write_atomically
from hiero.base.json_files import read_json
from hiero.base.parallel import spread_map
from hiero.evaluate.bleu import Bleu
from hiero.forest.files import ForestFile, ForestRecords, ForestWriter, PackedForest
from hiero.forest.losses import COLUMNS, BleuColumns
from hiero.rerank.features import NgramFeatures
from hiero.tune.methods.risk.objective import BLOCK, annotate

Array = npt.NDArray[np.float64]

_RECORD = "examples.json"
# Forests that go to a place of a cluster together.
_TOGETHER = 4


@dataclass(frozen=True, eq=False)
class Block:
    """Annotated forests of consecutive sentences of a fold, the first of which is ``begin``, with the counts
    of their edges, float32 (edges, 8); those of sentence i are the rows ``offsets[i]`` to ``offsets[i + 1]``.
    All are in mapped files, and pickled the block has their bytes."""

    path: Path
    fold: int
    begin: int
    forests: ForestRecords
    counts: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.int64]

    @property
    def place(self) -> str:
        """The file and the first sentence, for messages."""
        return f"{self.path}: sentences from {self.begin}"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.path, self.fold, self.begin, self.forests, np.array(self.counts), self.offsets)
        return Block, parts


@dataclass(frozen=True)
class Examples:
    """Annotated forests to train on.

    ``forests`` is the file of forests with their features, ``counts`` that of n-grams and matches of each
    edge. Edges of sentence i are ``offsets[i]`` to ``offsets[i + 1]``, int64 (sentences + 1). ``statistics``
    are the sum of BLEU statistics of the best derivations, float64 (10), and ``variances`` the sum over
    sentences of each feature's variance within the best derivations, float64 (features).
    """

    forests: Path
    counts: Path
    features: NgramFeatures
    offsets: npt.NDArray[np.int64]
    statistics: Array
    variances: Array

    def edge_counts(self) -> npt.NDArray[np.float32]:
        """Maps the counts of edges into memory, float32 (edges, 8). Raises FormatError for a file of another
        size, OSError."""
        shape = int(self.offsets[-1]), COLUMNS
        if self.counts.stat().st_size != 4 * shape[0] * shape[1]:
            raise FormatError(f"{self.counts}: not the counts of {shape[0]:,} edges")
        if shape[0] == 0:  # an empty file cannot be mapped
            return np.zeros(shape, dtype=np.float32)
        return np.memmap(self.counts, dtype=np.float32, mode="r", shape=shape)

    def blocks(self, fold: int = 0) -> list[Block]:
        """Returns the examples in blocks, which have the number of the ``fold``. Raises FormatError and
        ForestError for damaged files, OSError."""
        forests, counts = ForestFile(self.forests).records(), self.edge_counts()
        blocks = []
        for begin in range(0, len(forests), BLOCK):
            offsets = self.offsets[begin : begin + BLOCK + 1]
            rows = counts[offsets[0] : offsets[-1]]
            part = forests[begin : begin + BLOCK]
            blocks.append(Block(self.forests, fold, begin, part, rows, offsets - offsets[0]))
        return blocks


class _Fold(BaseModel):
    """The parts of ``Examples`` that are not in files of their own."""

    model_config = ConfigDict(extra="forbid", strict=True)

    offsets: list[int] = Field(min_length=1)
    statistics: list[float] = Field(min_length=BleuColumns.WIDTH, max_length=BleuColumns.WIDTH)
    variances: list[float]


class _Record(BaseModel):
    """The content of ``examples.json``: the n-grams that are features, and the examples of each fold."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ngrams: list[str]
    folds: list[_Fold]

    @model_validator(mode="after")
    def _of_all_features(self) -> Self:
        for fold in self.folds:
            if len(fold.variances) != 1 + len(self.ngrams):
                raise ValueError(f"{len(fold.variances)} variances of {len(self.ngrams)} n-grams and a score")
        return self


def example_files(folder: Path, folds: int) -> list[Path]:
    """Returns the files that ``write_examples`` and ``prepare`` write for these folds."""
    return [folder / _RECORD, *(path for k in range(folds) for path in _fold_files(folder, k))]


def _fold_files(folder: Path, k: int) -> tuple[Path, Path]:
    return folder / f"examples-{k}.forests", folder / f"examples-{k}.counts"


def write_examples(folder: Path, examples: Sequence[Examples]) -> None:
    """Writes what the files of examples, which have the same features, do not hold. Raises OSError."""
    ngrams = list(map(" ".join, examples[0].features.ngrams))
    folds = [
        _Fold(
            offsets=fold.offsets.tolist(),
            statistics=fold.statistics.tolist(),
            variances=fold.variances.tolist(),
        )
        for fold in examples
    ]
    write_atomically(folder / _RECORD, _Record(ngrams=ngrams, folds=folds).model_dump_json() + "\n")


def read_examples(folder: Path) -> list[Examples]:
    """Reads the examples of each fold that a second stage was trained on from its folder. Raises FormatError,
    OSError."""
    record = read_json(folder / _RECORD, _Record)
    features = NgramFeatures([tuple(ngram.split(" ")) for ngram in record.ngrams])
    return [
        Examples(
            *_fold_files(folder, k),
            features,
            np.array(fold.offsets),
            np.array(fold.statistics),
            np.array(fold.variances),
        )
        for k, fold in enumerate(record.folds)
    ]


@dataclass(frozen=True)
class _Prepared:
    """An annotated forest as it comes back from a place: its record without the names of features, the counts
    of its edges, statistics, and the variances that are not 0, with the ids of their features."""

    record: bytes
    counts: npt.NDArray[np.float32]
    statistics: Array
    ids: npt.NDArray[np.intp]
    variances: Array


@dataclass(frozen=True)
class _Prepare:
    """Annotates a forest, given with the number of its sentence."""

    metric: Bleu | None
    weights: Mapping[str, float]
    features: NgramFeatures

    def __call__(self, item: tuple[int, Forest]) -> _Prepared:
        sentence, forest = item
        references = 0 if self.metric is None else self.metric.segments
        if self.metric is None or sentence >= references:
            raise ValueError(f"more forests than the {references} references")
        scores = forest.scores(self.weights) if forest.root >= 0 else np.zeros(0)
        annotated = annotate(forest, scores, self.metric, sentence, self.features.on)
        ids = np.flatnonzero(annotated.variances)
        return _Prepared(
            annotated.forest.record(),
            annotated.counts,
            annotated.statistics,
            ids,
            annotated.variances[ids],
        )


def prepare(
    forests: Iterable[Forest],
    weights: Mapping[str, float],
    references: Sequence[Sequence[str]],
    features: NgramFeatures,
    folder: Path,
    fold: int = 0,
    *,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Examples:
    """Annotates the forests of a fold and writes the files of its examples into a folder. ``references`` has
    lines of tokens for each sentence.

    A forest without derivations counts as an empty translation. Raises ForestError for a forest with too many
    best derivations to annotate, ValueError for another number of references, OSError.
    """
    work = _Prepare(Bleu(references) if references else None, dict(weights), features)
    paths = _fold_files(folder, fold)
    offsets, total, variances = [0], np.zeros(BleuColumns.WIDTH), np.zeros(len(features))
    with (
        ForestWriter(paths[0]) as writer,
        replacing(paths[1]) as temporary,
        temporary.open("wb") as file,
    ):
        for one in spread_map(work, enumerate(forests), threads, _TOGETHER):
            writer.add(PackedForest(one.record, features.names))
            file.write(one.counts.tobytes())
            offsets.append(offsets[-1] + len(one.counts))
            total += one.statistics
            variances[one.ids] += one.variances
            if progress is not None:
                progress(len(offsets) - 1)
        if len(offsets) - 1 != len(references):
            raise ValueError(f"{len(offsets) - 1} forests for {len(references)} references")
    return Examples(*paths, features, np.array(offsets), total, variances)
