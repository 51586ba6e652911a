"""Server-sent events: a table's state and what happens, one after the other, for pages and table systems."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from dealershoe.console.said import kinds
from dealershoe.console.tables import Table

STATE_S = 0.05  # between two states of a table on one stream
ALIVE_S = 10.0  # between two words on a stream that has nothing to say
STREAMS = 8  # that one person may have open: pages that were left open somewhere


class Streams:
    """How many streams each person has open."""

    def __init__(self) -> None:
        self.open: Counter[str] = Counter()
        self.over = asyncio.Event()  # the console stops

    def begin(self, name: str) -> bool:
        """One more; False, and it is not, when there are enough."""
        if self.open[name] >= STREAMS:
            return False
        self.open[name] += 1
        return True

    def end(self, name: str) -> None:
        """One less."""
        self.open[name] -= 1


def event(kind: str, data: Mapping[str, Any], n: int | None = None) -> str:
    """One event as it goes out (WHATWG HTML, 9.2.6)."""
    return _event(kind, json.dumps(data), n)


def _event(kind: str, text: str, n: int | None = None) -> str:
    number = f"id: {n}\n" if n is not None else ""
    return f"event: {kind}\n{number}data: {text}\n\n"


async def of_table(table: Table, since: int | None) -> AsyncIterator[str]:
    """One table: its state, then what happens, each followed by the state, which comes no faster than STATE_S."""
    feed = table.feed
    n = feed.version if since is None else min(since, feed.version)
    text, shown = await table.state_text()
    yield _event("state", text)
    if since is not None and since > n:  # of a bridge before this one
        yield event("gap", {"table": table.name, "after": since})
    while True:
        happened, missed = feed.since(n)
        if missed:
            yield event("gap", {"table": table.name, "after": n})
        for one in happened:
            said = one.happening.as_data()
            yield event(
                "happening", {"table": table.name, "n": one.n, **said, "kinds": kinds([one.happening.text])}, one.n
            )
            n = one.n
        if happened or shown < n:  # a table that is too busy to be drawn is asked again
            text, shown = await table.state_text()
            yield _event("state", text)
            await asyncio.sleep(STATE_S)
        elif not await feed.change(n, ALIVE_S):
            yield event("alive", {})  # a page cannot hear a comment


async def merged(
    streams: list[AsyncIterator[str]], last: Callable[[], str], end: Callable[[], None], over: asyncio.Event
) -> AsyncIterator[str]:
    """Several streams as one, until `last` names a last event, or all is `over`; then, or when the client goes, `end`.

    A client that reads slowly holds up its own alone: one event a table waits for it.
    """
    stopped: asyncio.Future[Any] = asyncio.ensure_future(over.wait())
    waiting: dict[asyncio.Future[str], AsyncIterator[str]] = {
        asyncio.ensure_future(anext(stream)): stream for stream in streams
    }
    try:
        while waiting:
            every: list[asyncio.Future[Any]] = [stopped, *waiting]
            await asyncio.wait(every, return_when=asyncio.FIRST_COMPLETED)
            if stopped.done():
                yield event("stopped", {})
                return
            for future in [each for each in waiting if each.done()]:
                stream = waiting.pop(future)
                ending = last()
                if ending:
                    yield event(ending, {})
                    return
                yield future.result()
                waiting[asyncio.ensure_future(anext(stream))] = stream
    finally:
        end()
        stopped.cancel()
        for future in waiting:
            future.cancel()
