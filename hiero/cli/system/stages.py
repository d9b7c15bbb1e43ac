"""Commands that run one after the other, each of which is skipped once it is done."""

from __future__ import annotations

import contextlib
import io
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.memory import peak_memory
from hiero.cli import command_named
from hiero.cli.base.files import InterruptError

_STAGES = "stages.json"


class _Record(BaseModel):
    """Seconds by stage, in the order in which they were last run: of stages that are done, with their
    interrupted attempts, and of interrupted attempts at stages that are not done. Peak memory, in megabytes,
    and settings of stages that are done."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    done: dict[str, float] = {}
    interrupted: dict[str, float] = {}
    peak_megabytes: dict[str, float] = {}
    settings: dict[str, dict[str, Any]] = {}


class Stages:
    """The stages of a run in a folder: their commands, how long each took, its memory, and its settings."""

    def __init__(self, folder: Path, quiet: bool) -> None:
        self.commands: list[str] = []
        self._folder = folder
        self._quiet = quiet
        self._record = _Record()

    def restore(self) -> None:
        """Reads the record of earlier runs. Raises FormatError for a damaged file."""
        if (self._folder / _STAGES).exists():
            self._record = read_json(self._folder / _STAGES, _Record)

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each stage that is done, without attempts that were killed."""
        return self._record.done

    @property
    def peak_megabytes(self) -> Mapping[str, float]:
        """The peak memory of each stage that is done, in megabytes."""
        return self._record.peak_megabytes

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings of each stage that is done and has settings."""
        return self._record.settings

    def run(
        self,
        title: str,
        output: Path,
        command: str,
        words: Sequence[str],
        sources: Sequence[Path] = (),
        settings: Mapping[str, Any] | None = None,
        continues: bool = False,
    ) -> None:
        """Prints and runs a command of hiero, unless its output exists, is not older than its sources, and
        was made with the same ``settings``, as far as is known. A command that ``continues`` its output takes
        the time of earlier calls, too.

        Goes on after a command that failed for some lines (exit 1), which has reported them. Raises what the
        command raises, KeyboardInterrupt where it was interrupted.
        """
        line = shlex.join(["hiero", command, *words])
        self.commands.append(line)
        is_newer = output.exists() and all(
            output.stat().st_mtime_ns >= path.stat().st_mtime_ns for path in sources
        )
        if is_newer and (settings is None or self.settings.get(title, settings) == settings):
            self._print(f"{title}: done before")
        else:
            self._print(f"$ {line}")
            with self._measured(title, continues), contextlib.ExitStack() as stack:
                if self._quiet:  # the results of single steps
                    stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
                try:
                    command_named(command).main(
                        list(words), prog_name=f"hiero {command}", standalone_mode=False
                    )
                except InterruptError:
                    raise KeyboardInterrupt from None  # hiero run has its own message
        if settings is not None and self.settings.get(title) != settings:
            self._record.settings[title] = dict(settings)
            self._save()

    def _print(self, line: str) -> None:
        if not self._quiet:
            print(line, flush=True)

    @contextlib.contextmanager
    def _measured(self, title: str, continues: bool) -> Iterator[None]:
        """Notes the seconds and the memory of a stage."""
        started = time.monotonic()
        record, is_done = self._record, False
        try:
            with peak_memory() as peak:
                yield
            is_done = True
        finally:
            seconds = record.interrupted.pop(title, 0.0) + time.monotonic() - started
            if is_done:
                before = record.done.pop(title, 0.0)
                seconds += before if continues else 0.0
            (record.done if is_done else record.interrupted)[title] = seconds
            if is_done:
                record.peak_megabytes[title] = peak.megabytes
            self._save()

    def _save(self) -> None:
        write_atomically(self._folder / _STAGES, self._record.model_dump_json(indent=1) + "\n")
