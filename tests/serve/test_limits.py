"""Tests of what the server refuses, and how it says so."""

from __future__ import annotations

import errno
import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import hiero
from hiero.adapt import Session
from hiero.serve import app
from hiero.serve import messages as m
from hiero.serve.answers import MOST_WORDS, Answers, TooLongError
from hiero.serve.catalogue import Catalogue
from hiero.serve.work import Work
from support.served import make_client

WIDE = "[X] ||| [X,1] [X,2] [X,3] ||| [X,1] [X,2] [X,3]"


@pytest.mark.parametrize(
    ("path", "fields", "status", "message"),
    [
        ("translate", {}, 400, "text: Field required"),
        ("translate", {"text": "a", "extra": 1}, 400, "extra"),
        ("translate", {"text": 1}, 400, "text"),
        ("translate", {"text": "a", "alternatives": 101}, 400, "alternatives"),
        ("translate", {"text": "a", "model": "other"}, 404, "no model other: expected one of zh-en"),
        ("translate", {"text": "a", "model": "../x"}, 400, "model"),
        ("translate", {"text": "a", "context": "a/b"}, 400, "context"),
        ("translate", {"text": "a", "weights": {"Nonsense": 1.0}}, 409, "Nonsense"),
        ("translate", {"text": "a", "weights": {"LM0": 1e9}}, 400, "weights"),
        ("translate", {"text": "a", "rules": ["nonsense"]}, 409, "expected"),
        ("translate", {"text": "a", "rules": ["[X] ||| a ||| b ||| Own=1"]}, 409, "no feature"),
        ("translate", {"text": "a", "rules": [WIDE]}, 409, "a rule has more than 2 nonterminals"),
        ("translate", {"text": "a", "phrases": [[0, 5, "x"]]}, 409, "mark"),
        ("translate", {"text": "a", "phrases": [[1, 1, "x"]]}, 409, "no words"),
        ("translate", {"text": "x" * 100_001}, 400, "text"),
        ("translate", {"text": "x " * 400}, 413, f"400 words: send at most {MOST_WORDS}"),
        ("chart", {"text": "x " * 400}, 413, "400 words"),
        ("translate", {"text": "a", "prefix": "x " * 400}, 413, "400 words"),
        ("translate", {"text": "a", "terms": [["a", "x" * 501]]}, 400, "terms"),
        ("translate", {"text": "a", "context": "あ" * 30}, 409, "expected up to 64 letters"),
        ("why-not", {"text": "a", "wanted": " "}, 409, "wanted: no words"),
        ("why-not", {"text": "a", "wanted": "x " * 101}, 413, "101 words: send at most 100"),
        ("why-not", {"text": "x " * 101, "wanted": "a"}, 413, "101 words: send at most 100"),
        ("correct", {"context": "c", "source": "x " * 400, "target": "y"}, 413, "400 words"),
        ("correct", {"context": "c", "source": "y", "target": "x " * 400}, 413, "400 words"),
        ("correct", {"context": "c", "source": "", "target": "y"}, 409, "source: no words"),
        ("correct", {"source": "x", "target": "y"}, 400, "context: Field required"),
        ("undo", {"context": "c"}, 409, "no corrections"),
        ("undo", {"context": "c", "id": 3}, 409, "no correction 3"),
    ],
)
def test_wrong_requests(
    client: TestClient, path: str, fields: dict[str, Any], status: int, message: str
) -> None:
    answer = client.post(f"/api/{path}", json=fields)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert message in answer.json()["error"] and "/" not in answer.json()["error"].replace("a/b", "")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"text": "a", "weights": {"\\ud800": 1}}', "application/json", 400),
        (b'{"text": "a", "weights": {"LM0": NaN}}', "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"text=a", "application/x-www-form-urlencoded", 415),
        (b"x" * (app.MOST_BYTES + 1), "application/json", 413),
    ],
)
def test_wrong_bodies(client: TestClient, body: bytes, kind: str, status: int) -> None:
    answer = client.post("/api/translate", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status and list(answer.json()) == ["error"]


def test_wrong_paths_and_methods(client: TestClient) -> None:
    for answer, status in (
        (client.get("/nowhere"), 404),
        (client.get("/api/translate"), 405),
        (client.get("/../../etc/passwd"), 404),
        (client.get("/api/contexts/a b"), 400),
    ):
        assert answer.status_code == status and list(answer.json()) == ["error"]


def test_keys(model: Path) -> None:
    with make_client(model, keys=["secret", "other"]) as client:
        for path in ("/api/models", "/metrics", "/api/contexts/a"):
            assert client.get(path).status_code == 401
            assert client.get(path, params={"api_key": "secret"}).status_code == 200
        posted = {"/api/translate": {"text": "狗"}, "/translate": {"q": "狗", "target": "en"}}
        for path, fields in posted.items():
            assert client.post(path, json=fields).status_code == 401
            assert client.post(path, json=fields, headers={"X-API-Key": "wrong"}).status_code == 401
            for header in ({"X-API-Key": "secret"}, {"Authorization": "Bearer other"}):
                assert client.post(path, json=fields, headers=header).status_code == 200
        assert (
            client.post("/translate", json={**posted["/translate"], "api_key": "secret"}).status_code == 200
        )
        google = "/language/translate/v2"
        assert client.post(google, json=posted["/translate"]).status_code == 401
        assert client.post(f"{google}?key=other", json=posted["/translate"]).status_code == 200
        header = {"X-Goog-Api-Key": "secret"}
        assert client.post(google, json=posted["/translate"], headers=header).status_code == 200
        assert client.post("/RPC2", content=b"").status_code == 401
        for path in ("/health", "/openapi.json", "/", "/languages"):
            assert client.get(path).status_code == 200


def test_other_sites_may_not_ask_unless_they_are_named(client: TestClient, model: Path) -> None:
    header = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in client.get("/api/models", headers=header).headers
    with make_client(model, origins=["https://example.org"]) as open_client:
        answer = open_client.get("/api/models", headers=header)
        assert answer.headers["access-control-allow-origin"] == "https://example.org"
        other = open_client.get("/api/models", headers={"Origin": "https://example.com"})
        assert "access-control-allow-origin" not in other.headers


def test_pages_of_other_sites_may_post_nothing(model: Path) -> None:
    posts: dict[str, dict[str, Any]] = {
        "/api/translate": {"json": {"text": "狗"}},
        "/translate": {"data": {"q": "狗", "target": "en"}},
        "/RPC2": {"content": b"<methodCall>"},
    }
    with make_client(model, origins=["https://example.org"]) as client:
        for path, sent in posts.items():
            for origin, status in (
                ("https://example.com", 403),
                ("null", 403),
                ("http://[", 403),
                ("http://testserver", 200),
                ("https://example.org", 200),
            ):
                answer = client.post(path, headers={"Origin": origin}, **sent)
                assert answer.status_code == status
        refused = client.post("/translate", headers={"Origin": "null"}, **posts["/translate"]).json()
        assert refused == {"error": "pages of null may not use the server: see --cors"}


def test_the_server_answers_to_its_own_names(model: Path) -> None:
    with make_client(model, hosts=["localhost", "127.0.0.1"]) as client:
        for host, status in (("localhost:8080", 200), ("127.0.0.1", 200), ("example.org", 400), ("", 400)):
            for path in ("/health", "/", "/api/models"):
                answer = client.get(path, headers={"Host": host})
                assert answer.status_code == status
        assert (
            "not called example.org" in client.get("/health", headers={"Host": "example.org"}).json()["error"]
        )


def asking(client: TestClient, count: int) -> tuple[list[int], list[threading.Thread]]:
    """Starts threads with a request each, and returns the list that gets their status, and the threads."""
    answers: list[int] = []

    def send() -> None:
        answers.append(client.post("/api/translate", json={"text": "a"}).status_code)

    threads = [threading.Thread(target=send) for _ in range(count)]
    for thread in threads:
        thread.start()
    return answers, threads


def test_requests_that_wait_are_bounded(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow(self: Answers, request: object, deadline: hiero.Deadline) -> dict[str, object]:
        begun.release()
        assert go_on.wait(20)
        return {"text": "done"}

    monkeypatch.setattr(Answers, "translate", slow)
    with make_client(model, Work(1, 3, 20.0)) as client:
        answers, threads = asking(client, 3)
        assert begun.acquire(timeout=20)
        while "hiero_pending_requests 3" not in client.get("/metrics").text:
            pass
        refused = client.post("/api/translate", json={"text": "a"})
        assert refused.status_code == 429 and refused.headers["Retry-After"] == "1"
        assert "try again" in refused.json()["error"]
        go_on.set()
        for thread in threads:
            thread.join()
        assert answers == [200, 200, 200]
        assert client.post("/api/translate", json={"text": "a"}).status_code == 200
        lines = client.get("/metrics").text.splitlines()
        assert 'hiero_requests_total{path="/api/translate",status="200"} 4' in lines
        assert 'hiero_requests_total{path="/api/translate",status="429"} 1' in lines
        assert "hiero_pending_requests 0" in lines


def test_a_request_that_waited_too_long(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(Answers, "translate", lambda *_: go_on.wait(20) and {"text": "done"})
    with make_client(model, Work(1, 3, 0.05)) as client:
        answers, threads = asking(client, 2)
        while "hiero_pending_requests 2" not in client.get("/metrics").text:
            pass
        threading.Timer(0.1, go_on.set).start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [200, 503]


def test_a_deadline_ends_a_search(model: Path) -> None:
    hiero.Model.load(model).with_settings(pop_limit=10**6).save(model)
    line = "她 的 老师 看见 了 那 部 便宜 的 手机 , " * 10
    with make_client(model, Work(1, 3, 0.3)) as client:
        answer = client.post("/api/translate", json={"text": line, "split": False})
        assert answer.status_code == 200
        (sentence,) = answer.json()["sentences"]
        assert sentence["late"] and sentence["tokens"]


def test_what_takes_too_long_as_a_whole(model: Path) -> None:
    answers = Answers(Catalogue({"zh-en": model}, lambda line: None))
    with pytest.raises(TooLongError, match="behind 0 sentences: send less"):
        answers.translate(m.TranslateRequest(text="狗 。狗"), hiero.Deadline(0))
    with pytest.raises(TimeoutError, match="ask about a shorter sentence"):
        answers.why_not(m.WhyNotRequest(text="狗 。狗", wanted="dog"), hiero.Deadline(0))
    learning = m.CorrectRequest(context="a", source="狗", target="dog")
    with pytest.raises(TimeoutError, match="no time to learn"):
        answers.correct(learning, hiero.Deadline(0))
    assert answers.correct(learning, hiero.Deadline()).get("id") == 1
    answers.catalogue.close()


def test_large_forests_and_many_bytes(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make_client(model) as client:
        monkeypatch.setattr("hiero.serve.answers._MOST_EDGES", 3)
        answer = client.post("/api/forest", json={"text": "她 的 老师 很 忙 。"})
        assert answer.status_code == 413 and "edges, more than 3: use hiero.Decoder" in answer.json()["error"]
        monkeypatch.setattr("hiero.serve.answers._MOST_DETAILED", 2)
        for more in ({"details": True}, {"alternatives": 1}):
            for count, status in ((2, 200), (3, 413)):
                answer = client.post("/api/translate", json={"text": "狗\n" * count, **more})
                assert answer.status_code == status
        assert client.post("/api/translate", json={"text": "狗\n" * 3}).status_code == 200
        fields = {"q": ["狗"] * 21, "source": "zh", "target": "en", "alternatives": 100}
        assert client.post("/translate", json=fields).status_code == 413
        monkeypatch.setattr(app, "_MOST_BYTES_AT_ONCE", 30)
        assert client.post("/api/translate", json={"text": "狗"}).status_code == 200
        assert client.post("/api/translate", json={"text": "狗" * 30}).status_code == 429
        assert client.post("/api/translate", json={"text": "狗"}).status_code == 200


def test_contexts_in_use_and_a_full_disk(
    client: TestClient, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"context": "anna", "source": "狗", "target": "dog"}
    with Session.open(model, "anna") as session:
        session.correct("狗", "dog")
        answer = client.post("/api/correct", json=fields)
        assert answer.status_code == 409 and "used by another program" in answer.json()["error"]
    monkeypatch.setattr("os.pwrite", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    answer = client.post("/api/correct", json=fields)
    assert answer.status_code == 507 and "nothing was learned" in answer.json()["error"]
    monkeypatch.undo()
    assert client.post("/api/correct", json=fields).json()["id"] == 2


def test_errors_of_the_server_say_nothing_of_it(
    model: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    errors: list[Exception] = []

    def fail(*_: object) -> None:
        raise errors[-1]

    def answer_to(error: Exception) -> tuple[int, str]:
        errors.append(error)
        answer = client.post("/api/translate", json={"text": "a"})
        return answer.status_code, answer.json()["error"]

    monkeypatch.setattr(Answers, "translate", fail)
    with make_client(model) as client, caplog.at_level(logging.ERROR):
        for error in (RuntimeError(f"in {model}"), OSError(5, "Input/output error", str(model))):
            assert answer_to(error) == (500, "the server made an error, which its log has")
        assert str(model) in caplog.text
        damaged = hiero.FormatError(f"{model}/rules0.hrt: is damaged; {model}.contexts/a.journal:3: too")
        assert answer_to(damaged) == (409, "zh-en/rules0.hrt: is damaged; zh-en.contexts/a.journal:3: too")
        assert answer_to(hiero.Error("no parse")) == (422, "no parse")


def test_the_page_may_load_nothing_from_elsewhere(client: TestClient) -> None:
    kinds = {
        "/": "text/html",
        "/page.js": "text/javascript",
        "/views.js": "text/javascript",
        "/views.css": "text/css",
        "/page.css": "text/css",
    }
    for path, kind in kinds.items():
        answer = client.get(path)
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind) and answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_metrics_are_those_of_prometheus(client: TestClient) -> None:
    client.get("/health")
    text = client.get("/metrics").text
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert names == {"hiero_requests_total", "hiero_request_seconds", "hiero_pending_requests"}
    buckets = [float(line.split()[1]) for line in text.splitlines() if "_bucket" in line]
    assert buckets == sorted(buckets) and f"hiero_request_seconds_count {buckets[-1]:g}" in text


def test_the_description_has_all_paths(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert json.dumps(described).count("#/components/schemas/") > 10
    public = {
        "/",
        "/page.js",
        "/page.css",
        "/views.css",
        "/views.js",
        "/openapi.json",
        "/health",
        "/metrics",
        "/RPC2",
    }
    paths = {route.path for route in client.app.routes}  # type: ignore[attr-defined]
    assert set(described["paths"]) == paths - public
    assert {"query": []} in described["security"]
    assert described["paths"]["/languages"]["get"]["security"] == []
    context = described["paths"]["/api/contexts/{context}"]["get"]["parameters"]
    assert [(one["name"], one["in"]) for one in context] == [("context", "path"), ("model", "query")]
