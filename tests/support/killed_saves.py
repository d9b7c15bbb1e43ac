"""Saves a model and kills the process before each system call that renames or syncs files, one call at a
time.

This is a program, since a process with several threads must not be forked.

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
# Functions of os that change names of files, or sync them.
CALLS = ("mkdir", "link", "rename", "replace", "unlink", "rmdir", "fsync")


def intercept_calls(watch: Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]) -> None:
    """Replaces these functions by calls of ``watch(name, function, arguments)``."""

    def through(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: watch(name, lambda *a: function(*a, **options), args)

    for name in CALLS:
        setattr(os, name, through(name, getattr(os, name)))
    _core.exchange = through("exchange", _core.exchange)


def translation(directory: Path) -> hiero.Translation:
    return hiero.Decoder(hiero.Model.load(directory)).translate(LINE)


def save_and_die(number: int, model: hiero.Model, target: Path, scratch: Path | None) -> None:
    """Saves a model and kills this process before the call with this number. Exits if there are fewer
    calls."""
    calls = 0

    def counted(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        nonlocal calls
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*arguments)

    intercept_calls(counted)
    if scratch is None:
        model.save(target)
    else:
        with working_directory(scratch, "record", ""):
            model.save(target, scratch=scratch)
    os._exit(0)


def kill_at_every_call(folder: Path, with_scratch: bool, exists: bool) -> None:
    """Kills a save at every call, checks that the old or the new model is left, and prints the number of
    saves.

    The target is a model if ``exists``, and nothing otherwise. The new model is written to a working
    directory if ``with_scratch``, and beside the target otherwise.
    """
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(folder / "first")
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
        # The next user of the working directory removes what is left in it.
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
    # From some call on, the target is the new model.
    assert seen == sorted(seen) and len(set(seen)) == 2, seen
    print(len(seen))


if __name__ == "__main__":
    # Saves time: what a killed process has written is kept without a sync.
    os.fsync = lambda descriptor: None
    for case in ((False, True), (True, True), (False, False)):
        folder = Path(sys.argv[1]) / "-".join(map(str, case))
        folder.mkdir()
        kill_at_every_call(folder, *case)
