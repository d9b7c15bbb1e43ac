"""Commands that run one after the other, each of which is skipped once it is done."""

from __future__ import annotations

import contextlib
import io
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.cli import command_named
from hiero.cli.base.files import InterruptError

_TIMES = "times.json"


class _Times(BaseModel):
    """Seconds by stage: of stages that are done, with their interrupted attempts, and of interrupted attempts
    at stages that are not done."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    done: dict[str, float] = {}
    interrupted: dict[str, float] = {}


class Stages:
    """The stages of a run in a folder: their commands, and how long each took."""

    def __init__(self, folder: Path, quiet: bool) -> None:
        self.commands: list[str] = []
        self._folder = folder
        self._quiet = quiet
        self._times = _Times()

    def restore(self) -> None:
        """Reads the times of earlier runs. Raises FormatError for a damaged file."""
        if (self._folder / _TIMES).exists():
            self._times = read_json(self._folder / _TIMES, _Times)

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each stage that is done, without attempts that were killed."""
        return self._times.done

    def run(
        self, title: str, output: Path, command: str, words: Sequence[str], sources: Sequence[Path] = ()
    ) -> None:
        """Prints and runs a command of hiero, unless its output exists and is not older than its sources.

        Goes on after a command that failed for some lines (exit 1), which has reported them. Raises what the
        command raises, KeyboardInterrupt where it was interrupted.
        """
        line = shlex.join(["hiero", command, *words])
        self.commands.append(line)
        if output.exists() and all(output.stat().st_mtime_ns >= path.stat().st_mtime_ns for path in sources):
            self._print(f"{title}: done before")
            return
        self._print(f"$ {line}")
        with self._timed(title), contextlib.ExitStack() as stack:
            if self._quiet:  # the results of single steps
                stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            try:
                command_named(command).main(list(words), prog_name=f"hiero {command}", standalone_mode=False)
            except InterruptError:
                raise KeyboardInterrupt from None  # hiero run has its own message

    def _print(self, line: str) -> None:
        if not self._quiet:
            print(line, flush=True)

    @contextlib.contextmanager
    def _timed(self, title: str) -> Iterator[None]:
        started = time.monotonic()
        is_done = False
        try:
            yield
            is_done = True
        finally:
            seconds = self._times.interrupted.pop(title, 0.0) + time.monotonic() - started
            (self._times.done if is_done else self._times.interrupted)[title] = seconds
            write_atomically(self._folder / _TIMES, self._times.model_dump_json(indent=1) + "\n")
