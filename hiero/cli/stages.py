"""Commands one after the other, each done once, however often all of them are begun."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hiero import FormatError
from hiero.base.files import write_atomically
from hiero.cli import command_named
from hiero.cli.files import InterruptError

_TIMES = "times.json"


class Stages:
    """The commands of a folder, and how long each took."""

    def __init__(self, folder: Path, quiet: bool) -> None:
        """Raises FormatError where the times of stages that are done are damaged."""
        self.commands: list[str] = []
        self._folder = folder
        self._quiet = quiet
        self._seconds: dict[str, float] = {}
        path = folder / _TIMES
        if path.exists():
            try:
                self._seconds = {name: float(value) for name, value in json.loads(path.read_bytes()).items()}
            except (ValueError, TypeError, AttributeError):
                raise FormatError(f"{path}: damaged: expected seconds by stage") from None

    @property
    def seconds(self) -> Mapping[str, float]:
        """By stage, of all attempts but those that were killed."""
        return self._seconds

    def run(self, title: str, made: Path, command: str, *words: str) -> None:
        """Runs a command of hiero, which it prints, unless what it makes is there.

        A command that could not do some lines (exit 1) has said so; others raise what they raise.
        """
        line = shlex.join(["hiero", command, *words])
        self.commands.append(line)
        if made.exists():
            return
        if not self._quiet:
            print(f"$ {line}", flush=True)
        with self._timed(title):
            try:
                command_named(command).main(list(words), prog_name=f"hiero {command}", standalone_mode=False)
            except InterruptError:
                raise KeyboardInterrupt from None  # what is left of all, says who runs all

    @contextmanager
    def _timed(self, title: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds[title] = self._seconds.get(title, 0.0) + time.monotonic() - started
            write_atomically(self._folder / _TIMES, json.dumps(self._seconds, indent=1) + "\n")
