"""Runs the commands without a process of their own, which would take a second each to start."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from unittest import mock

from hiero.cli import decode_main, main

_ENTRIES = {"hiero": main, "hiero-decode": decode_main}


def call(*args: object, stdin: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """As ``run`` of test_cli; the command reads its standard input from a file."""
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
