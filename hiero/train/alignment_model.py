"""Alignment of further pairs by what was learned: corrections, tuning sets, more of a corpus.

>>> from hiero.train import AlignmentModel
>>> model = AlignmentModel("links.model")  # doctest: +SKIP
>>> model.align("das haus", "the house").links  # doctest: +SKIP
[(0, 0), (1, 1)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hiero import _core
from hiero.base.lines import PathLike
from hiero.train.alignment import PAIRS_AT_ONCE, AlignSettings, Heuristic, Links, write_links
from hiero.train.corpus import read_pairs

_HEURISTIC = AlignSettings().heuristic


class PairLinks(NamedTuple):
    """The links of a sentence pair."""

    links: Links
    """Source and target positions, sorted."""
    forward: npt.NDArray[np.float32]
    """The probabilities that a target word is linked with each source word, and last with none: an array
    (targets, sources + 1)."""
    backward: npt.NDArray[np.float32]
    """The probabilities that a source word is linked with each target word, and last with none: an array
    (sources, targets + 1)."""


class AlignmentModel:
    """A file that ``align(..., save=...)`` or `hiero align --save` wrote.

    The file is mapped into memory, and threads may share it. The same pair always gets the same links. Words
    that were not trained on are linked by where they stand. Raises FormatError for another or a damaged file;
    OSError.
    """

    def __init__(self, path: PathLike) -> None:
        self._model = _core.AlignmentModel(os.fspath(path))

    @property
    def samplers(self) -> int:
        """The number of samplers of each direction."""
        return self._model.samplers

    def align(
        self, source: str | Sequence[str], target: str | Sequence[str], heuristic: Heuristic = _HEURISTIC
    ) -> PairLinks:
        """Aligns a sentence pair: tokens, or text with spaces between them."""
        first, second = (side if isinstance(side, str) else " ".join(side) for side in (source, target))
        return PairLinks(*self._model.align(first, second, heuristic))

    def align_files(
        self,
        source: PathLike,
        target: PathLike,
        output: PathLike,
        *,
        heuristic: Heuristic = _HEURISTIC,
        threads: int = 1,
        probabilities: PathLike | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        """Aligns the pairs of two files of tokens, as ``align`` does, and writes their links.

        ``probabilities`` is a file for the probabilities of the links, in the same order: the means of both
        directions. ``progress`` is called with the number of pairs that are aligned.
        Raises FormatError, naming the line, for files of different lengths; OSError.
        """

        def blocks() -> Iterator[tuple[bytes, bytes]]:
            done, lines = 0, read_pairs(source, target)
            while pairs := list(islice(lines, PAIRS_AT_ONCE)):
                sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
                yield self._model.lines(sources, targets, heuristic, threads)
                done += len(pairs)
                if progress is not None:
                    progress(done)

        write_links(blocks(), output, probabilities)
