"""Connections of the server that are closed when nothing moves on them."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SLOWEST = 20.0  # seconds in which the head of a request comes, and something of an answer goes


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """The protocol of a connection, which ends if no whole head of a first request came in time, or if the
    client takes nothing of an answer for as long."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._unsent = 0  # bytes, when they were looked at last
        self._look_soon()

    def _look_soon(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SLOWEST, self._look)

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if self.cycle is None or 0 < self._unsent <= unsent:
            self.transport.abort()
            return
        self._unsent = unsent
        self._look_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)
