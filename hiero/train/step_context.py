"""The context of all steps of a training: the journal, the settings, memory, threads and progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiero import __version__
from hiero.base.lines import PathLike
from hiero.base.progress import Report
from hiero.train.settings import TrainSettings
from hiero.train.steps import Journal, Step


@dataclass
class StepContext:
    """The working directory of a training with its journal, and what every step may use."""

    journal: Journal
    settings: TrainSettings
    memory: int
    threads: int
    on_progress: Report | None

    def __post_init__(self) -> None:
        self.report = self.journal.report
        self.folder = self.journal.directory
        self._current = ""

    def run(
        self,
        name: str,
        inputs: Mapping[str, PathLike],
        outputs: Sequence[str],
        work: Callable[[], object],
        *settings: str,
        **others: object,
    ) -> None:
        """Does a step unless it was done before with the same inputs, with the same values of these settings
        of the training and with the same ``others``."""
        self._current = name
        used = self.settings.model_dump(mode="json", include=set(settings))
        used |= {**others, "program": __version__}
        self.journal.run(Step(name, {label: Path(p) for label, p in inputs.items()}, used, outputs, work))

    def paths(self, *names: str) -> dict[str, PathLike]:
        """Returns files of the working directory by their names, as inputs of a step."""
        return {name: self.folder / name for name in names}

    def progress(self, unit: str, total: Callable[[], int] | None = None) -> Callable[..., object] | None:
        """Returns a function that reports the progress of the current step in units such as sentences."""
        if (progress := self.on_progress) is None:
            return None
        work = f"{self._current}: {unit}"
        units = None if total is None else total()
        return lambda done, total=units: progress(work, done, total)
