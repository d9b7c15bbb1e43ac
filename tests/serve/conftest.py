"""Fixtures for tests of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import hiero
from support.served import make_client, server
from support.served_page import opened

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


@pytest.fixture(scope="module")
def address(trained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the model, by two names: as it is, and as one of a language that is written
    from right to left."""
    model = tmp_path_factory.mktemp("page") / "model"
    hiero.Model.load(trained_model).save(model)
    other = model.with_name("other")
    hiero.Model.load(trained_model).save(other)
    with server(model, f"ur-en={other}") as (address, _):
        yield address


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page at its first visit, which may run functions of tests."""
    with opened(browser, address, bypass_csp=True) as page:
        yield page
