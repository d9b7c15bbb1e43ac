"""A finished run, from which a report is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import Evaluation
from hiero.train.problems import ProblemReport


@dataclass(frozen=True)
class FinishedRun:
    """A run of `hiero run`: its test sets by name, its systems by name, and its stages.

    The first system is that before tuning. Paths are those of directories.
    """

    title: str
    # Each has the translations of all systems.
    tests: Mapping[str, Evaluation]
    weights: Mapping[str, Mapping[str, float]]
    # What `hiero tune` left, by system.
    tuning: Mapping[str, Path]
    # The name of the system that is to be used, and its model.
    final: str
    model: Path
    # What training left; it may have been deleted.
    training: Path
    # The sentence pairs that may be wrong, as training found them.
    problems: ProblemReport
    # By set, also of those that are no test sets.
    unknown: Mapping[str, UnknownWords]
    # The number of sentence pairs of the bitext by their use.
    pairs: Mapping[str, int]
    # By stage.
    seconds: Mapping[str, float]
    peak_megabytes: Mapping[str, float]
    commands: Sequence[str]

    @property
    def systems(self) -> list[str]:
        """The names of the systems, that before tuning first."""
        return list(self.weights)
