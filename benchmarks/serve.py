"""Requests to `hiero serve`: how many a second, and how long each takes, beside `hiero-decode` alone.

    python benchmarks/serve.py MODEL TEXT

A server of the model answers 1,000 lines of the text, by its own interface, from 1, 2, 8 and 32 connections
at a time. Prints requests a second, and the median and the 99th percentile of the times of requests; the same
lines by `hiero-decode`, without loading; the seconds until a server answers; and the times of what somebody
asks who looks into sentences of about 20 words: another weight, the chart, why not, a correction.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from machine import argument_parser, command, disturbance_check, machine

from hiero.adapt.session import context_path
from hiero.base.lines import read_lines

CONTEXT = "benchmark-of-the-server"
LINES = 1000
THREADS = 2


class Server:
    """A server process, and its address."""

    def __init__(self, model: Path) -> None:
        start = time.monotonic()
        words = command("hiero", "serve", f"model={model}", "--port", 0, "--threads", THREADS)
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = re.search(r"http://([\d.]+):(\d+)", self.process.stderr.readline())
        assert found is not None
        self.host, self.port = found[1], int(found[2])
        self.seconds = time.monotonic() - start

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=60)


def ask(connection: http.client.HTTPConnection, path: str, fields: dict[str, Any]) -> float:
    """Sends a request, and returns the seconds until its answer is there."""
    body = json.dumps(fields)
    start = time.perf_counter()
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")
    return time.perf_counter() - start


async def ask_all(server: Server, lines: Iterator[str], times: list[float]) -> None:
    """Asks for lines, one after the other, by a connection of its own, until none is left."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    for line in lines:
        body = json.dumps({"text": line, "split": False}).encode()
        head = f"Host: {server.host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        start = time.perf_counter()
        writer.write(f"POST /api/translate HTTP/1.1\r\n{head}\r\n\r\n".encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", answer)
        if " 200 " not in answer.partition("\r\n")[0] or length is None:
            raise RuntimeError(answer)
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - start)
    writer.close()
    await writer.wait_closed()


def load(server: Server, lines: Sequence[str], connections: int) -> None:
    """Prints figures of all lines, asked from so many connections at a time."""
    times: list[float] = []
    left = iter(lines)

    async def all_connections() -> None:
        await asyncio.gather(*(ask_all(server, left, times) for _ in range(connections)))

    start = time.monotonic()
    asyncio.run(all_connections())
    rate = len(lines) / (time.monotonic() - start)
    times.sort()
    median, high = (1e3 * times[len(times) * share // 100] for share in (50, 99))
    print(f"{connections} connections: {rate:.0f} requests/s, {median:.1f} ms, {high:.1f} ms", flush=True)


def alone(model: Path, lines: Sequence[str]) -> None:
    """Prints the rate of `hiero-decode`."""
    words = command("hiero-decode", model, "--threads", THREADS, "--stats", "--quiet")
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(words, input=text, capture_output=True, encoding="utf-8", check=True)
    rates = next(line for line in done.stderr.splitlines() if " a second" in line)
    print(f"hiero-decode: {rates}", flush=True)


def look_inside(server: Server, lines: Sequence[str]) -> None:
    """Prints times of what somebody asks who looks into sentences of 18 to 22 words."""
    chosen = [line for line in lines if 18 <= len(line.split()) <= 22][:50]
    if not chosen:
        return
    connection = server.connection()
    kinds: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
        "another weight": lambda line: (
            "translate",
            {"weights": {"LM0": 0.3}, "details": True, "text": line},
        ),
        "chart": lambda line: ("chart", {"text": line, "span": [0, 3]}),
        "why not": lambda line: ("why-not", {"text": line, "wanted": "this is not the one"}),
        "correction": lambda line: (
            "correct",
            {"context": CONTEXT, "source": line, "target": "this is it ."},
        ),
    }
    for name, fields in kinds.items():
        times = sorted(ask(connection, f"/api/{path}", one) for path, one in map(fields, chosen))
        median, most = 1e3 * times[len(times) // 2], 1e3 * times[-1]
        print(
            f"{name}, {len(chosen)} sentences of about 20 words: {median:.0f} ms, at most {most:.0f} ms",
            flush=True,
        )
    connection.close()


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "model", "text").parse_args()
    lines = [line for line in read_lines(arguments.text) if line.split()]
    print(machine())
    with disturbance_check():
        few = (lines * (LINES // len(lines) + 1))[:LINES]
        alone(arguments.model, few)
        server = Server(arguments.model)
        print(f"{server.seconds:.2f} s until it answers")
        load(server, few[:100], 2)
        for connections in (1, 2, 8, 32):
            load(server, few, connections)
        look_inside(server, lines)
        server.process.terminate()
        server.process.communicate()
        context_path(arguments.model, CONTEXT).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
