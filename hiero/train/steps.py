"""Steps that are done once: a record of what each was made from says whether its outputs still hold.

A step is done if it was recorded with the same settings and inputs and its outputs are there, unchanged.
Whatever is interrupted leaves no record and is made again; outputs appear whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero.base.directories import working_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.memory import peak_memory
from hiero.base.ownership import STEPS


@dataclass(frozen=True)
class Step:
    """A piece of work: ``run()`` makes ``outputs``, names in the working directory, of ``inputs``."""

    name: str
    inputs: Mapping[str, Path]
    settings: Mapping[str, Any]
    outputs: Sequence[str]
    run: Callable[[], object]


@contextlib.contextmanager
def open_journal(directory: Path, report: Callable[[str], object]) -> Iterator[Journal]:
    """The journal of a working directory, which is made if need be and locked meanwhile.

    ``report`` is told in a line what is done, and what had been. What an interrupted run left half-made is
    removed. Raises OSError where another process works in the directory, and for one that holds files but
    no record of steps.
    """
    with working_directory(directory, STEPS, "{}\n"):
        yield Journal(directory, report)


class Journal:
    """The steps done in a working directory; see ``run``, and ``open_journal`` for how to get one."""

    def __init__(self, directory: Path, report: Callable[[str], object]) -> None:
        self.directory = directory
        self.report = report
        self._path = directory / STEPS
        self._records: dict[str, Any] = {}
        self._known: dict[Path, tuple[int, int, str]] = {}
        with contextlib.suppress(ValueError):  # no good record: everything is made again
            self._records = dict(json.loads(self._path.read_text(encoding="utf-8")))

    def run(self, step: Step) -> None:
        """Runs a step unless it is done. What it raises goes through, and the step is not recorded."""
        made_from = {
            "inputs": {label: self.checksum(path) for label, path in step.inputs.items()},
            "settings": json.loads(json.dumps(dict(step.settings))),
        }
        reason = self._stale(step, made_from)
        if not reason:
            self.report(f"{step.name}: done before")
            return
        self.report(f"{step.name}: {reason}")
        if self._records.pop(step.name, None) is not None:
            self._write()
        started = time.monotonic()
        with peak_memory() as peak:
            step.run()
        seconds = time.monotonic() - started
        outputs = {name: self.checksum(self.directory / name) for name in step.outputs}
        self._records[step.name] = {**made_from, "outputs": outputs}
        self._write()
        self._log(step.name, seconds, peak.megabytes)
        self.report(f"{step.name}: done in {seconds:.1f} s, {peak.megabytes:,.0f} MB")

    def inputs_of(self, name: str) -> Mapping[str, str]:
        """The checksums of what a recorded step was made from."""
        return dict(self._records[name]["inputs"])

    def checksum(self, path: Path) -> str:
        """SHA-256 of a file, computed once as long as it does not change."""
        status = path.stat()
        known = self._known.get(path)
        if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
            known = self._known[path] = (status.st_size, status.st_mtime_ns, sha256(path))
        return known[2]

    def _stale(self, step: Step, made_from: Mapping[str, Any]) -> str:
        """Why a step has to run; "" if it is done."""
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

    def _log(self, name: str, seconds: float, peak: float) -> None:
        line = {"step": name, "seconds": round(seconds, 2), "peak_megabytes": round(peak)}
        with (self.directory / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
