"""Steps of a long run that are done only once, like the targets of a makefile.

A step is done if it was recorded with the same settings and the same inputs, and if its outputs exist and
have not changed. A step that is interrupted leaves no record and runs again. Outputs appear only when they
are complete.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero._core import return_freed_memory
from hiero.base.directories import working_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.memory import peak_memory
from hiero.base.ownership import STEPS


@dataclass(frozen=True)
class Step:
    """A piece of work: ``run()`` makes the files ``outputs`` in the working directory from ``inputs``."""

    name: str
    inputs: Mapping[str, Path]
    settings: Mapping[str, Any]
    outputs: Sequence[str]
    run: Callable[[], object]


@contextlib.contextmanager
def open_journal(directory: Path, report: Callable[[str], object]) -> Iterator[Journal]:
    """Yields the journal of a working directory. Makes the directory if needed, and locks it.

    ``report`` is called with a line for every step that is done or was done before. Temporary files of an
    interrupted run are removed. Raises OSError if another process works in the directory, or if it contains
    files but no record of steps.
    """
    with working_directory(directory, STEPS, "{}\n"):
        yield Journal(directory, report)


class Journal:
    """The record of the steps done in a working directory. Use ``open_journal`` to open one."""

    def __init__(self, directory: Path, report: Callable[[str], object]) -> None:
        self.directory = directory
        self.report = report
        self._path = directory / STEPS
        self._records: dict[str, Any] = {}
        self._checksums: dict[Path, tuple[int, int, str]] = {}
        with contextlib.suppress(ValueError):  # if the record is damaged, all steps run again
            self._records = dict(json.loads(self._path.read_text(encoding="utf-8")))

    def run(self, step: Step) -> None:
        """Runs a step unless it is done. If the step raises an exception, it is not recorded."""
        made_from = {
            "inputs": {label: self.checksum(path) for label, path in step.inputs.items()},
            "settings": json.loads(json.dumps(dict(step.settings))),
        }
        reason = self._reason_to_run(step, made_from)
        if not reason:
            self.report(f"{step.name}: done before")
            return
        self.report(f"{step.name}: {reason}")
        if self._records.pop(step.name, None) is not None:
            self._write()
        started, used = time.monotonic(), _processor_seconds()
        with peak_memory() as peak:
            step.run()
            return_freed_memory()  # which the next step would be charged with
        seconds = time.monotonic() - started
        processor = _processor_seconds() - used
        outputs = {name: self.checksum(self.directory / name) for name in step.outputs}
        self._records[step.name] = {**made_from, "outputs": outputs}
        self._write()
        self._log(step.name, seconds, processor, peak.megabytes)
        self.report(f"{step.name}: done in {seconds:.1f} s, {peak.megabytes:,.0f} MB")

    def inputs_of(self, name: str) -> Mapping[str, str]:
        """Returns the checksums of the inputs of a recorded step."""
        return dict(self._records[name]["inputs"])

    def checksum(self, path: Path) -> str:
        """Returns the SHA-256 of a file. It is computed again only if the file has changed."""
        status = path.stat()
        cached = self._checksums.get(path)
        if cached is None or cached[:2] != (status.st_size, status.st_mtime_ns):
            cached = self._checksums[path] = (status.st_size, status.st_mtime_ns, sha256(path))
        return cached[2]

    def _reason_to_run(self, step: Step, made_from: Mapping[str, Any]) -> str:
        """Returns why a step has to run; an empty string if it is done."""
        record = self._records.get(step.name)
        if record is None:
            return "to be made"
        if set(record["inputs"]) != set(made_from["inputs"]):
            return "stale, there are other inputs"
        for label, value in made_from["inputs"].items():
            if record["inputs"][label] != value:
                return f"stale, {label} has changed"
        if record["settings"] != made_from["settings"]:
            changed = [k for k, v in made_from["settings"].items() if record["settings"].get(k) != v]
            return f"stale, other settings ({', '.join(changed) or 'fewer'})"
        for name in step.outputs:
            path = self.directory / name
            if not path.is_file():
                return f"stale, {name} is missing"
            if record["outputs"].get(name) != self.checksum(path):
                return f"stale, {name} has changed"
        return ""

    def _write(self) -> None:
        write_atomically(self._path, json.dumps(self._records, indent=1) + "\n")

    def _log(self, name: str, seconds: float, processor: float, peak: float) -> None:
        line = {
            "step": name,
            "seconds": round(seconds, 2),
            "processor_seconds": round(processor, 2),
            "peak_megabytes": round(peak),
        }
        with (self.directory / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _processor_seconds() -> float:
    """Returns the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])
