"""Sentences that could not be decoded, while tuning decodes a set again and again."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from hiero.base.files import write_atomically
from hiero.base.text import one_line
from hiero.evaluate.evaluation_sets import is_nist


class Failures:
    """Sentences that could not be decoded, with their errors.

    Each new one is printed on stderr, up to a limit, and added to a file: a run that goes on reads there the
    failures of what it does not decode again.
    """

    _MOST_PRINTED = 10

    def __init__(self, path: Path) -> None:
        """Reads the file of failures, if there is one."""
        self._path = path
        self._errors: dict[str, str] = {}
        self._lock = threading.Lock()
        if path.exists():
            text = path.read_text(encoding="utf-8")
            # A last line without its end was interrupted; its sentence will fail again.
            complete = text[: text.rfind("\n") + 1]
            if complete != text:
                write_atomically(path, complete)
            for line in complete.splitlines():
                place, _, error = line.partition("\t")
                self._add(place, error)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def note(self, path: Path, number: int, error: Exception) -> None:
        """Records an error of sentence ``number`` of a file, from 0. May be called from any thread."""
        place = sentence_place(path, number)
        with self._lock:
            if place in self._errors:
                return
            message = one_line(error)
            self._add(place, message)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{place}\t{message}\n")

    def _add(self, place: str, error: str) -> None:
        self._errors[place] = error
        if len(self._errors) <= self._MOST_PRINTED:
            print(f"{place}: {error}", file=sys.stderr)

    def report(self) -> None:
        """Prints how many sentences failed, if any."""
        if self._errors:
            count = len(self._errors)
            sentences = "1 sentence" if count == 1 else f"{count:,} sentences"
            print(f"hiero: {sentences} could not be decoded and had no translation", file=sys.stderr)


def sentence_place(path: Path, number: int) -> str:
    """Returns the name of sentence ``number`` of a set, from 0, in messages: its line, or its segment."""
    return f"{path}: segment {number}, from 0" if is_nist(path) else f"{path}:{number + 1}"
