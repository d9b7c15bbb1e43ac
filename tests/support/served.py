"""Servers in this process, or as a process of their own. Their first model is called zh-en by default."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from hiero.serve.app import make_app
from hiero.serve.catalogue import Catalogue
from hiero.serve.connections import TimedProtocol
from hiero.serve.work import Work
from support.commands import BIN


def make_client(model: Path, work: Work | None = None, **options: Any) -> TestClient:
    """Returns a client of a server in this process; use it as a context."""
    catalogue = Catalogue({"zh-en": model}, lambda line: None)
    return TestClient(
        make_app(catalogue, work or Work(2, 20, 20.0), **options), raise_server_exceptions=False
    )


@contextlib.contextmanager
def threaded_server(model: Path) -> Iterator[tuple[tuple[str, int], uvicorn.Server]]:
    """Starts a server in a thread of this process, and yields its address and the server."""
    app = make_app(Catalogue({"zh-en": model}, lambda line: None), Work(2, 20, 20.0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="warning", http=TimedProtocol))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=running.run, args=([listener],))
    thread.start()
    try:
        yield listener.getsockname(), running
    finally:
        running.should_exit = True
        thread.join()


@contextlib.contextmanager
def server(model: Path, *options: object, name: str = "zh-en") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Starts `hiero serve` on a free port, and yields its address and process."""
    command = [BIN / "hiero", "serve", f"{name}={model}", "--port", 0, *options]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", line := process.stderr.readline())
        assert found is not None, line
        yield found[0], process
    finally:
        process.terminate()
        process.communicate(timeout=30)
