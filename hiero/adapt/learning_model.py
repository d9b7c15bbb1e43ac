"""A model with what its training learned, opened so that sessions can learn from corrections."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, cast

from hiero._core import FormatError, RuleCounts
from hiero.base.ownership import MANIFEST
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model, PathLike
from hiero.train.alignment import Heuristic, Links
from hiero.train.alignment_model import AlignmentModel


class LearningModel:
    """A model with the files by which corrections are aligned and their rules scored. Sessions may share one.

    ``words`` are the word translation counts of the training; None for a model that cannot align corrections,
    because hiero's own aligner did not align its training. ``path`` is the model's directory, and
    ``checksum`` the SHA-256 of its manifest, if it was opened from there.
    """

    def __init__(self, decoder: Decoder, path: Path | None = None, checksum: str = "") -> None:
        """Opens the files. Raises FormatError, OSError."""
        self.decoder = decoder
        self.path = path
        self.checksum = checksum
        learning = decoder.model.learning
        self.words = None if learning is None else RuleCounts(learning.words)
        self._aligner = None if learning is None else AlignmentModel(learning.alignment)

    @classmethod
    def open(cls, path: PathLike, **settings: Any) -> Self:
        """Opens a model directory, with settings of ``Decoder``.

        All files are of one version of the model, even if it is replaced meanwhile. Raises FormatError,
        OSError.
        """
        directory = Path(os.path.abspath(path))
        while True:
            checksum = _checksum(directory)
            try:
                opened = cls(Decoder(Model.load(directory), **settings), directory, checksum)
            except (FormatError, OSError):
                if _checksum(directory) == checksum:
                    raise
            else:
                if _checksum(directory) == checksum:
                    return opened

    def align(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """Returns the links of a pair of token lists, aligned as the training was; none if that cannot be."""
        learning = self.decoder.model.learning
        if learning is None or self._aligner is None:
            return []
        return self._aligner.align(source, target, cast("Heuristic", learning.heuristic)).links


def _checksum(model: Path) -> str:
    return hashlib.sha256((model / MANIFEST).read_bytes()).hexdigest()
