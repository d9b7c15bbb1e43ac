"""Fixtures for tests of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.served import make_client

Ask = Callable[..., Any]


@pytest.fixture
def client(model: Path) -> Iterator[TestClient]:
    """A client of a server in this process."""
    with make_client(model) as client:
        yield client


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """Sends fields to a path of the server's own interface, and returns the answer."""

    def send(path: str, **fields: Any) -> Any:
        answer = client.post(f"/api/{path}", json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return send
