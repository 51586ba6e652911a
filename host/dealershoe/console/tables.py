"""The tables of a host as the console has them: their bridges, their feeds, and what was said once and not twice."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.happening import Happening
from dealershoe.console.feed import Feed
from dealershoe.console.state import down, state_of
from dealershoe.errors import UserError

ANSWERED = 2_000  # answers kept at a table for clients that ask again
PATIENCE_S = 5.0  # for a table to take a line


class Answer(NamedTuple):
    """What a line got: an HTTP status and a body."""

    status: int
    body: dict[str, Any]


class Table:
    """One table. `name` is that of the configuration, or `table` when there is but one."""

    def __init__(self, name: str, bridge: Bridge, loop: asyncio.AbstractEventLoop) -> None:
        self.name = name
        self.bridge = bridge
        self.feed = Feed(loop)
        self._loop = loop
        self._state: dict[str, Any] | None = None
        self._drawing = asyncio.Lock()
        self._answers: OrderedDict[tuple[str, str], tuple[str, asyncio.Future[Answer]]] = OrderedDict()

    def hear(self, happening: Happening) -> None:
        """The bridge has said something; on its own thread."""
        self.feed.hear(happening)

    async def state(self) -> dict[str, Any]:
        """The table now. Everyone who asks between two changes gets the same one."""
        async with self._drawing:
            version, bridge = self.feed.version, self.bridge
            if not bridge.alive:
                return await run_in_threadpool(down, self.name, version, bridge)
            if self._state is None or self._state["version"] != version:
                now = await run_in_threadpool(bridge.snapshot)
                self._state = state_of(self.name, version, now, open_table=bridge.desk.open_table)
            return self._state

    async def say(self, who: str, way: str, id: str, line: str) -> Answer:
        """Tell the table a line, once for each `id` of `who`; the same again gets the same answer."""
        key = (who, id)
        known = self._answers.get(key)
        if known is not None:
            if known[0] != line:
                return Answer(409, {"error": f"the id {id!r} was used for another line; take a new one for each line"})
            return await asyncio.shield(known[1])
        telling = self._loop.create_task(self._told(who, way, id, line))  # goes on when the client goes away
        self._answers[key] = (line, telling)
        while len(self._answers) > ANSWERED:
            self._answers.popitem(last=False)
        answer = await asyncio.shield(telling)
        if answer.status == 503:
            self._answers.pop(key, None)  # it may be said again
        return answer

    async def _told(self, who: str, way: str, id: str, line: str) -> Answer:
        if not self.bridge.alive:
            return Answer(503, {"error": f"table {self.name} is down: {self.bridge.error or 'it was stopped'}"})
        told: asyncio.Future[UserError | None] = self._loop.create_future()

        def done(refused: UserError | None) -> None:
            self._loop.call_soon_threadsafe(lambda: None if told.done() else told.set_result(refused))

        self.bridge.tell(line, way, done=done, who=who)
        try:
            refused = await asyncio.wait_for(told, PATIENCE_S)
        except TimeoutError:
            return Answer(503, {"error": f"table {self.name} did not take the line within {PATIENCE_S:.0f} s"})
        if refused is not None:
            return Answer(422, {"error": str(refused), "seen": refused.seen, "cause": refused.cause, "do": refused.do})
        return Answer(200, {"id": id, "version": self.feed.version})
