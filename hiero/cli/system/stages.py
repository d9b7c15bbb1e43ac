"""Commands one after the other, each done once, however often all of them are begun."""

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
    """Seconds by stage, with those of interrupted attempts; and of such attempts at what is not done yet."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    done: dict[str, float] = {}
    interrupted: dict[str, float] = {}


class Stages:
    """The commands of a folder, and how long each took."""

    def __init__(self, folder: Path, quiet: bool) -> None:
        self.commands: list[str] = []
        self._folder = folder
        self._quiet = quiet
        self._times = _Times()

    def restore(self) -> None:
        """Takes the times of what is done. Raises FormatError where they are damaged."""
        if (self._folder / _TIMES).exists():
            self._times = read_json(self._folder / _TIMES, _Times)

    @property
    def seconds(self) -> Mapping[str, float]:
        """By stage, of all attempts that were not killed."""
        return self._times.done

    def run(
        self, title: str, made: Path, command: str, words: Sequence[str], sources: Sequence[Path] = ()
    ) -> None:
        """Runs a command of hiero, which it prints, unless what it makes is there, and not older than its
        sources.

        A command that could not do some lines (exit 1) has said so; others raise what they raise.
        """
        line = shlex.join(["hiero", command, *words])
        self.commands.append(line)
        if made.exists() and all(made.stat().st_mtime_ns >= path.stat().st_mtime_ns for path in sources):
            self._say(f"{title}: done before")
            return
        self._say(f"$ {line}")
        with self._timed(title), contextlib.ExitStack() as stack:
            if self._quiet:  # what commands say that are not the last
                stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            try:
                command_named(command).main(list(words), prog_name=f"hiero {command}", standalone_mode=False)
            except InterruptError:
                raise KeyboardInterrupt from None  # what is left of all, says who runs all

    def _say(self, line: str) -> None:
        if not self._quiet:
            print(line, flush=True)

    @contextlib.contextmanager
    def _timed(self, title: str) -> Iterator[None]:
        started = time.monotonic()
        whole = False
        try:
            yield
            whole = True
        finally:
            seconds = self._times.interrupted.pop(title, 0.0) + time.monotonic() - started
            (self._times.done if whole else self._times.interrupted)[title] = seconds
            write_atomically(self._folder / _TIMES, self._times.model_dump_json(indent=1) + "\n")
