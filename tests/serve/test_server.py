"""Tests of the server as a process: clients, signals, models that are replaced, and many requests at once."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import resource
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
import xmlrpc.client
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import translate_v2
from libretranslatepy import LibreTranslateAPI

import hiero
from hiero.base.parallel import processors
from hiero.serve import connections
from support.commands import call
from support.files import write
from support.served import server, threaded_server

LINE = "她 的 老师 很 忙 。"
SLOW = "她 的 老师 看见 了 那 部 便宜 的 手机 , " * 10


def post(address: str, path: str, fields: object, timeout: float = 60) -> tuple[int, Any]:
    """Returns status and answer."""
    data, header = json.dumps(fields).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}{path}", data, header)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def metrics(address: str) -> str:
    with urllib.request.urlopen(f"{address}/metrics", timeout=20) as answer:
        return str(answer.read(), "utf-8")


def slow_model(model: Path) -> None:
    """Gives the model settings with which the slow line takes minutes."""
    hiero.Model.load(model).with_settings(pop_limit=10**7).save(model)


def test_clients_of_other_servers(model: Path) -> None:
    text = hiero.Decoder(hiero.Model.load(model)).translate(LINE).text
    with server(model) as (address, _):
        libre = LibreTranslateAPI(f"{address}/")
        assert libre.translate(LINE, "zh", "en") == text
        assert libre.languages() == [{"code": "zh", "name": "zh", "targets": ["en"]}]
        google = translate_v2.Client(
            credentials=AnonymousCredentials(), client_options={"api_endpoint": address}
        )
        assert google.translate(LINE, "en")["translatedText"] == text
        assert google.translate([LINE, "小狗"], "en", "text", "zh")[0]["translatedText"] == text
        assert {one["language"] for one in google.get_languages()} == {"zh", "en"}
        with xmlrpc.client.ServerProxy(f"{address}/RPC2") as moses:
            found: Any = moses.translate({"text": LINE, "align": "true"})
        assert found["text"] == text and found["align"]


def test_other_names_are_refused(model: Path) -> None:
    for options, status in (((), 400), (("--host", "0.0.0.0"), 200)):
        with server(model, *options) as (address, _):
            where = urlparse(address)
            request = urllib.request.Request(
                f"http://127.0.0.1:{where.port}/health", headers={"Host": "evil.org"}
            )
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    assert answer.status == status
            except urllib.error.HTTPError as error:
                assert error.code == status
                error.close()


def test_sigterm_finishes_what_runs(model: Path) -> None:
    slow_model(model)
    with server(model, "--seconds", 2, "--threads", 1) as (address, process):
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(post, address, "/api/translate", {"text": SLOW, "split": False})
            while "hiero_pending_requests 1" not in metrics(address):
                pass
            process.send_signal(signal.SIGTERM)
            status, answer = running.result()
        assert status == 200 and answer["sentences"][0]["late"]
        process.wait(20)
        with pytest.raises(urllib.error.URLError):
            metrics(address)


def test_nobody_works_for_clients_that_have_gone(model: Path) -> None:
    slow_model(model)
    with server(model, "--seconds", 600, "--threads", 1) as (address, _):
        where = urlparse(address)
        body = json.dumps({"text": SLOW, "split": False})
        head = "POST /api/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        connections = [socket.create_connection((where.hostname, where.port)) for _ in range(3)]
        for connection in connections:
            connection.sendall(f"{head}{body}".encode())
        while "hiero_pending_requests 3" not in metrics(address):
            pass
        for connection in connections:
            connection.close()
        while "hiero_pending_requests 0" not in metrics(address):
            time.sleep(0.05)
        assert 'hiero_requests_total{path="/api/translate",status="499"} 3' in metrics(address)


def test_a_model_is_replaced_under_it(model: Path) -> None:
    loaded = hiero.Model.load(model)
    other = loaded.with_weights({"PhraseEF": -1.0, "PhraseFE": -1.0})
    texts = [hiero.Decoder(one).translate(LINE).text for one in (loaded, other)]
    assert texts[0] != texts[1]
    with server(model) as (address, _):
        stop = threading.Event()
        seen: set[str] = set()

        def ask() -> None:
            while not stop.is_set():
                status, answer = post(address, "/api/translate", {"text": LINE, "context": "anna"})
                assert status == 200
                seen.add(answer["text"])

        with ThreadPoolExecutor(3) as pool, contextlib.ExitStack() as at_the_end:
            at_the_end.callback(stop.set)
            asking = [pool.submit(ask) for _ in range(3)]
            for turn in range(4):
                (other, loaded)[turn % 2].save(model)
                expected = texts[(turn + 1) % 2]
                for context in ({}, {"context": "ben"}):
                    while post(address, "/api/translate", {"text": LINE, **context})[1]["text"] != expected:
                        assert not any(one.done() for one in asking)
            stop.set()
            for one in asking:
                one.result()
        assert seen <= set(texts)
        (model / "manifest.json").unlink()
        assert post(address, "/api/translate", {"text": LINE})[1]["text"] == texts[0]  # the last one goes on


def test_options_reach_the_server(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: dict[str, Any] = {}
    monkeypatch.setattr("hiero.serve.work.Work", lambda *values: values)
    monkeypatch.setattr("hiero.serve.app.make_app", lambda *values: parts.update(app=values))
    monkeypatch.setattr(
        "uvicorn.Server.run", lambda server, sockets: parts.update(config=server.config, sockets=sockets)
    )
    keys = write(tmp_path / "keys", ["secret"])
    options = ["--host", "0.0.0.0", "--port", 0, "--threads", 3, "--seconds", 7.5, "--waiting", 9]
    done = call("hiero", "serve", model, *options, "--api-keys", keys, "--cors", "https://Example.org/")
    assert done.returncode == 0
    catalogue, *values = parts["app"]
    assert [served.name for served in catalogue] == ["model"]
    assert values == [(3, 9, 7.5), ["secret"], ["https://example.org"], []]
    config, (listener,) = parts["config"], parts["sockets"]
    assert (config.timeout_graceful_shutdown, listener.getsockname()[0]) == (12, "0.0.0.0")
    assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert 1 <= config.limit_concurrency < resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    listener.close()
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = call("hiero", "serve", model, "--port", port)
        assert (
            done.returncode == 1 and f"127.0.0.1, port {port}: Address already in use" in done.stderr.decode()
        )
    assert call("hiero", "serve", model, "--port", port, "--cors", "http://example.org:5000").returncode == 0
    (listener,) = parts["sockets"]
    assert listener.getsockname() == ("127.0.0.1", port)
    listener.close()
    names = ["127.0.0.1", "localhost", "127.0.0.1", "::1", "example.org"]
    assert parts["app"][1:] == ((processors(), 100, 10.0), [], ["http://example.org:5000"], names)


def test_wrong_options(model: Path, tmp_path: Path) -> None:
    for options, code, message in (
        ([f"x={model}", f"x={tmp_path / 'other'}"], 2, "two models are called x"),
        ([f"x={model}", f"y={model}"], 2, "x and y are one model"),
        ([model, "--cors", "*"], 2, "is no site such as"),
        ([f"a b={model}"], 2, "expected a name"),
        ([tmp_path / "nowhere"], 1, "nowhere"),
        ([model, "--api-keys", tmp_path / "keys"], 1, "keys"),
        ([model, "--api-keys", write(tmp_path / "empty", [""])], 1, "empty: no keys"),
    ):
        done = call("hiero", "serve", *options)
        assert done.returncode == code and message in done.stderr.decode()


def test_connections_on_which_nothing_moves(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SLOWEST", 0.2)
    with threaded_server(model) as (where, running):
        begun = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
        for sent in (b"", begun, begun + b"\r\n" + begun):
            with socket.create_connection(where, timeout=20) as silent:
                silent.sendall(sent)
                answer = b"".join(iter(lambda: silent.recv(1000), b""))
                assert answer.count(b"200 OK") == sent.count(b"\r\n\r\n")
        body = json.dumps({"text": "狗\n" * 20_000}).encode()
        head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.socket() as unread:
            unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            unread.connect(where)
            unread.sendall(f"POST /api/translate HTTP/1.1\r\n{head}".encode() + body)
            while running.server_state.connections:
                time.sleep(0.05)
        assert post(f"http://127.0.0.1:{where[1]}", "/api/translate", {"text": "狗"})[0] == 200


def test_bodies_that_come_too_slowly(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hiero.serve.app._SLOWEST_BODY", 0.2)
    with threaded_server(model) as (where, _):
        for begun, status in ((b'{"text": "a"', 408), (b'{"text": "a"}', 200)):
            connection = http.client.HTTPConnection(*where, timeout=20)
            connection.putrequest("POST", "/api/translate")
            for name, value in (("Content-Type", "application/json"), ("Content-Length", "13")):
                connection.putheader(name, value)
            connection.endheaders(begun)
            answer = connection.getresponse()
            assert answer.status == status
            assert b"did not arrive within" in answer.read() or status == 200
            connection.close()


@pytest.mark.slow
def test_a_thousand_requests_and_bad_clients(model: Path) -> None:
    decoder = hiero.Decoder(hiero.Model.load(model))
    lines = [f"{LINE[:-2]}{'。' * (k % 3)}" for k in range(20)]
    expected = {line: decoder.translate(line).text for line in lines}
    with server(model, "--waiting", 50, "--seconds", 5) as (address, process):
        where = urlparse(address)
        idle = [socket.create_connection((where.hostname, where.port)) for _ in range(50)]
        for number, connection in enumerate(idle):
            begun = b"POST /api/translate HTTP/1.1\r\nHost: localhost\r\n"
            connection.sendall(begun if number % 2 else begun + b"Content-Length: 900\r\n\r\n{")
        rng = random.Random(1)

        def one(number: int) -> int:
            line = rng.choice(lines)
            for _ in range(200):
                if number % 10 == 0:
                    status, answer = post(address, "/api/translate", {"text": "x " * 10_000})
                    assert status in (413, 429)
                    return status
                status, answer = post(address, "/api/translate", {"text": line, "split": False})
                if status == 200:
                    assert answer["text"] == expected[line]
                    return status
                assert status in (429, 503)
                time.sleep(0.05)
            return status

        with ThreadPoolExecutor(200) as pool:
            counts = Counter(pool.map(one, range(1000)))
        assert counts[200] == 900 and counts[413] + counts[429] == 100
        resident = Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0]
        assert int(resident) < 1_000_000  # kB
        assert process.poll() is None
        for connection in idle:
            connection.close()
