"""Connections of the server that are closed when nothing moves on them."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SLOWEST = 20.0  # seconds in which the head of a request comes, and something of an answer goes


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """The protocol of a connection, which ends if no whole head of a request came in time, or if the client
    takes nothing of an answer for as long."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # When they were looked at last: the bytes that were not sent, and the request.
        self._unsent = 0
        self._request: Any = None
        self._look_soon()

    def _look_soon(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SLOWEST, self._look)

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        is_idle = self.cycle is None or (self.cycle.response_complete and not unsent)
        if 0 < self._unsent <= unsent or (is_idle and self.cycle is self._request):
            self.transport.abort()
            return
        self._unsent, self._request = unsent, self.cycle
        self._look_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)
