"""Hypotheses accumulated over the iterations of a run, as the loop sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from hiero.tune.run.protocol import Array, TuningDecoder


@dataclass(frozen=True)
class DecodedSet:
    """The outcome of decoding a set once: how much was new, and of the best translation of each sentence the
    metric's statistics, float64 (sentences, width), and the tokens joined by spaces."""

    new: int
    statistics: Array
    translations: list[str]


class Accumulated(ABC):
    """Hypotheses that grow with every decoding of the set. What an iteration adds is written to its folder,
    and joins the others only when ``restore`` reads it there, so that a run that is taken up again is as it
    was."""

    @abstractmethod
    def decode(self, decoder: TuningDecoder, weights: Array, folder: Path) -> DecodedSet:
        """Decodes the set with these weights and writes what is new to the folder."""

    @abstractmethod
    def restore(self, folder: Path) -> None:
        """Adds what ``decode`` wrote to a folder. Raises FormatError for a damaged file."""
