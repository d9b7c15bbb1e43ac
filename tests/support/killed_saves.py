"""Saves of a model that are killed before each call that changes names or makes changes last; a program of
its own, as processes with other threads may not be forked.

    python -m support.killed_saves FOLDER
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hiero
from hiero import _core
from hiero.base.directories import working_directory
from support.paths import FRENCH

LINE = "elle voit un chien noir ."
# What changes names, and what makes changes last.
CALLS = ("mkdir", "link", "rename", "replace", "unlink", "rmdir", "fsync")


def wrapped(watch: Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]) -> None:
    """Has all such calls go through ``watch(name, function, arguments)``."""

    def through(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: watch(name, lambda *a: function(*a, **options), args)

    for name in CALLS:
        setattr(os, name, through(name, getattr(os, name)))
    _core.exchange = through("exchange", _core.exchange)


def translation(directory: Path) -> hiero.Translation:
    return hiero.Decoder(hiero.Model.load(directory)).translate(LINE)


def save_and_die(number: int, model: hiero.Model, target: Path, scratch: Path | None) -> None:
    """In a process of its own: saves, and is killed before the call of this number, or after the last."""
    calls = 0

    def counted(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        nonlocal calls
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*arguments)

    wrapped(counted)
    if scratch is None:
        model.save(target)
    else:
        with working_directory(scratch, "record", ""):
            model.save(target, scratch=scratch)
    os._exit(0)


def killed_everywhere(folder: Path, with_scratch: bool, exists: bool) -> None:
    """Saves where a model is, or nothing, growing beside it or in a working directory; prints how often."""
    made = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    made.save(folder / "first")
    old = hiero.Model.load(folder / "first")
    new = old.with_weights({**old.weights, "WordPenalty": 3.0})
    target, scratch = folder / "model", folder / "scratch" if with_scratch else None
    scores = {id(model): hiero.Decoder(model).translate(LINE).score for model in (old, new)}
    if exists:
        old.save(target)
    seen = []
    for number in range(1000):
        process = os.fork()
        if process == 0:
            save_and_die(number, new, target, scratch)
        _, status = os.waitpid(process, 0)
        if target.exists() or exists:
            score = translation(target).score
            seen.append(score == scores[id(new)])
            assert seen[-1] or (exists and score == scores[id(old)])
        else:
            seen.append(False)
        # What comes next takes away what was left.
        if scratch is not None:
            with working_directory(scratch, "record", ""):
                pass
            assert [path.name for path in scratch.iterdir()] == ["record"]
        new.save(target)
        assert translation(target).score == scores[id(new)]
        assert {path.name for path in folder.iterdir()} == {
            "first",
            "model",
            *(["scratch"] if scratch else []),
        }
        if exists:
            old, new = new, old
        else:
            shutil.rmtree(target)
        if os.WIFEXITED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    # The model changes once, somewhere on the way.
    assert seen == sorted(seen) and len(set(seen)) == 2, seen
    print(len(seen))


if __name__ == "__main__":
    os.fsync = lambda descriptor: None  # which takes most of the time: what a killed process wrote is there
    for case in ((False, True), (True, True), (False, False)):
        folder = Path(sys.argv[1]) / "-".join(map(str, case))
        folder.mkdir()
        killed_everywhere(folder, *case)
