"""Servers in this process, or as a process of their own. Their first model is called zh-en by default."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from hiero.serve.app import make_app
from hiero.serve.catalogue import Catalogue
from hiero.serve.work import Work
from support.commands import BIN


def make_client(model: Path, work: Work | None = None, **options: Any) -> TestClient:
    """Returns a client of a server in this process; use it as a context."""
    catalogue = Catalogue({"zh-en": model}, lambda line: None)
    return TestClient(
        make_app(catalogue, work or Work(2, 20, 20.0), **options), raise_server_exceptions=False
    )


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
