"""Tests of the threads that answer requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from starlette.requests import Request

import hiero
from hiero.serve.work import BusyError, GoneError, NotYetError, Work


class Client:
    """A request whose client goes when it is told so."""

    has_gone = False

    async def is_disconnected(self) -> bool:
        return self.has_gone


def run(check: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine in a thread of its own, as browsers of other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, check).result()


def request() -> tuple[Client, Request]:
    client = Client()
    return client, cast("Request", client)


def test_a_thread_whose_client_has_gone_counts_until_it_ends() -> None:
    work, go_on = Work(1, 2, 60.0), threading.Event()
    deadlines: list[hiero.Deadline] = []

    def answer(deadline: hiero.Deadline) -> None:
        deadlines.append(deadline)
        go_on.wait(20)

    async def check() -> None:
        client, asked = request()
        running = asyncio.ensure_future(work.run(asked, answer))
        waiting_client, asked = request()
        waiting = asyncio.ensure_future(work.run(asked, answer))
        while not deadlines:
            await asyncio.sleep(0.01)
        assert work.pending == 2
        with pytest.raises(BusyError):
            await work.run(asked, answer)
        waiting_client.has_gone = client.has_gone = True
        for one in (waiting, running):
            with pytest.raises(GoneError):
                await one
        assert work.pending == 1 and deadlines[0].passed
        go_on.set()
        while work.pending:
            await asyncio.sleep(0.01)

    run(check())
    work.close()
    assert len(deadlines) == 1


def test_who_waits_past_the_deadline_is_told_at_once() -> None:
    work, go_on = Work(1, 5, 0.1), threading.Event()

    async def check() -> None:
        running = asyncio.ensure_future(work.run(request()[1], lambda deadline: go_on.wait(20)))
        await asyncio.sleep(0)  # until it has begun
        with pytest.raises(NotYetError, match="no processor was free"):
            await work.run(request()[1], lambda deadline: go_on.wait(20))
        assert not running.done()
        go_on.set()
        assert await running

    run(check())
    work.close()
    assert work.pending == 0


def test_errors_and_answers() -> None:
    work = Work(2, 5, 60.0)

    def fail(deadline: hiero.Deadline) -> None:
        raise RuntimeError("no")

    async def check() -> None:
        assert await work.run(request()[1], lambda deadline: deadline.passed) is False
        with pytest.raises(RuntimeError, match="no"):
            await work.run(request()[1], fail)

    run(check())
    work.close()
    assert work.pending == 0
