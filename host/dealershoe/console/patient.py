"""A web server's connection that is not patient for ever: whoever does not finish a request's head is let go."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = (
    10.0  # for the head of a request to come whole; the connection may rest between two for as long as uvicorn lets it
)


class Patient(H11Protocol):
    """Looks every HEAD_S whether the same head is still awaited. What has been asked is not looked at here."""

    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.access_log = False  # whatever logging a program has: an address may have a secret in it that was put there
        self._watch = self.loop.call_later(HEAD_S, self._look, None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def _look(self, last: Any) -> None:
        """`last`: the request that was done with when it was looked the last time."""
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.cycle is last:
            self.transport.close()
            return
        self._watch = self.loop.call_later(HEAD_S, self._look, self.cycle if waits else self)
