"""Runs the commands of hiero, as programs or, faster, within this process."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

import hiero
import hiero.cli
from hiero.cli import decode_main, main

BIN = Path(sys.executable).parent
_ENTRIES = {"hiero": main, "hiero-decode": decode_main}


def program(*args: object, stdin: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """Runs a command as a program."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    command = [str(BIN / str(args[0])), *map(str, args[1:])]
    return subprocess.run(command, input=data, capture_output=True, timeout=120)


def call(*args: object, stdin: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """Runs a command within this process, which saves the second that a program takes to start. Standard
    input is a file."""
    command = [str(part) for part in args]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with tempfile.TemporaryFile() as source, contextlib.ExitStack() as stack:
        source.write(stdin.encode() if isinstance(stdin, str) else stdin)
        source.seek(0)
        saved = os.dup(0)
        stack.callback(os.close, saved)
        stack.callback(os.dup2, saved, 0)
        os.dup2(source.fileno(), 0)
        stack.enter_context(mock.patch.object(sys, "argv", command))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.FileIO(0, closefd=False))))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            _ENTRIES[command[0]]()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        out.flush()
        err.flush()
        return subprocess.CompletedProcess(
            command,
            code,
            out.buffer.getvalue(),
            err.buffer.getvalue(),  # type: ignore[attr-defined]
        )


class HandedError(Exception):
    """The arguments of a call, by the names of the parameters. Raised in place of the call."""


def handed(module: ModuleType, name: str, *words: object) -> dict[str, Any]:
    """Runs a command of hiero until it calls a function of a module, and returns the arguments of this
    call."""
    signature = inspect.signature(getattr(module, name))

    def called(*values: object, **named: object) -> None:
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        raise HandedError(bound.arguments)

    with mock.patch.object(module, name, called), pytest.raises(HandedError) as error:
        call("hiero", *words)
    return dict(error.value.args[0])


def decode(parts: list[object], *args: object, stdin: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    return call("hiero-decode", *parts, *args, stdin=stdin)


def one_error_line(done: subprocess.CompletedProcess[bytes], code: int = 1) -> str:
    assert done.returncode == code, done
    text = done.stderr.decode()
    assert text.count("\n") == 1 and "Traceback" not in text, text
    return text


def usage_error(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns the message of a command for wrong usage, in one line and without its frame."""
    assert done.stdout == b"", done
    return usage_error_after_output(done)


def usage_error_after_output(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns the same for a command that had written something before."""
    assert done.returncode == 2, done
    return " ".join(done.stderr.decode().replace("│", " ").split())


def commands() -> dict[str, Any]:
    """Returns all commands by name, those of groups included."""
    return {
        leaf: command
        for name in hiero.cli._PLACES
        for leaf, command in _leaves(name, hiero.cli.command_named(name))
    }


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for part, inner in command.commands.items():
        yield from _leaves(f"{name} {part}".strip(), inner)


COMMANDS = commands()
