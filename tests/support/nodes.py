"""A cluster of ray with two nodes on this machine, of which one can be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.paths import TESTS


class Nodes:
    """Two nodes with one place each. Processes of the nodes import what this one does."""

    def __init__(self, folder: Path) -> None:
        """Starts the nodes, whose output is written to the folder, and waits until both are there."""
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        port = self.address.partition(":")[2]
        self._groups: list[int] = []
        self._start("head", "--head", f"--port={port}", "--include-dashboard=false")
        self.add()

    def add(self) -> None:
        """Adds a node."""
        self._start("other", f"--address={self.address}")

    def kill(self) -> None:
        """Kills the node that was added last, with all of its processes."""
        os.killpg(self._groups.pop(), signal.SIGKILL)

    def stop(self) -> None:
        """Kills all nodes."""
        while self._groups:
            self.kill()

    def _start(self, name: str, *options: str) -> None:
        ray = Path(sys.executable).with_name("ray")
        command = [str(ray), "start", "--block", "--num-cpus=1", "--object-store-memory=100000000", *options]
        path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": path}
        log = self._folder / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=file, env=environment, start_new_session=True
            )
        self._groups.append(process.pid)
        begin = time.monotonic()
        while "Ray runtime started" not in log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > begin + 60:
                pytest.fail(f"no node: {log.read_text(errors='replace')}")
            time.sleep(0.1)
