"""The tables of a host as the console has them: their bridges, their feeds, their journals."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from starlette.concurrency import run_in_threadpool

from dealershoe.bridge.bridge import Bridge, Told
from dealershoe.console.answers import sentence
from dealershoe.console.feed import Feed
from dealershoe.console.once import Answer, Known, Once
from dealershoe.console.state import down, state_of
from dealershoe.defects import shown
from dealershoe.desk.desk import Desk
from dealershoe.desk.happening import Happening
from dealershoe.errors import UserError
from dealershoe.events import Event

MayUndo = Callable[[Event | None], bool]


class Table:
    """One table. `name`: of the configuration, or `table` when there is but one. `known`: what was said before."""

    def __init__(self, name: str, bridge: Bridge, loop: asyncio.AbstractEventLoop, known: Iterable[Known] = ()) -> None:
        self.name = name
        self.bridge = bridge
        self.feed = Feed(loop, bridge.version)
        self.once = Once(known)
        self._loop = loop
        self._state: dict[str, Any] | None = None
        self._text: tuple[dict[str, Any], str] | None = None
        self._drawing = asyncio.Lock()
        self._telling = asyncio.Lock()

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
                now, drawn = await run_in_threadpool(bridge.look)
                shown = min(version, drawn)  # a busy table may not have drawn in time
                self._state = state_of(self.name, shown, now, bridge.statistics, open_table=bridge.desk.open_table)
            return self._state

    async def state_text(self) -> tuple[str, int]:
        """That as JSON, written once for all streams, and its version."""
        state = await self.state()
        if self._text is None or self._text[0] is not state:
            self._text = state, json.dumps(state)
        return self._text[1], state["version"]

    async def say(self, who: str, way: str, id: str, line: str, seen: int | None, undo: MayUndo | None) -> Answer:
        """Tell the table a line, once for each `id` of `who`. `way`: how it was said, for the record.

        `seen`: the version that they looked at; where the deal has moved on since, the line is not told, nor where
        there was no such version yet: they looked at a bridge before this one. `undo`: where the line takes something
        back, whether they may take back what it would; then nothing may have been said since, either.
        """
        return await self.once.do(who, id, line, lambda: self._told(who, way, id, line, seen, undo))

    async def _told(self, who: str, way: str, id: str, line: str, seen: int | None, undo: MayUndo | None) -> Answer:
        async with self._telling:  # so that of two who saw the same, the second is told to look again
            newest = max(self.feed.moved, self.feed.said) if undo is not None else self.feed.moved
            if seen is not None and not newest <= seen <= self.feed.version:
                error = "the table has moved on since this page was drawn; look again"
                return Answer(409, {"error": error, "state": await self.state()}, told=False)
            if not self.bridge.alive:
                return self._down()
            refusal = await run_in_threadpool(self._not_to_be_undone, undo) if undo is not None else None
            return refusal or await self._told_now(who, way, id, line)

    def _not_to_be_undone(self, undo: MayUndo) -> Answer | None:
        """Why nothing is taken back, None where it is."""
        try:
            can, taken = self.bridge.read(_undone)
        except TimeoutError:
            return Answer(503, {"error": f"table {self.name} does not answer"}, told=False)
        if not can:
            cause = "nothing was said in this hand, or a step that follows from it is done"
            nothing = UserError("there is nothing to take back", cause, "call the floor if something is wrong")
            return _refusal(nothing)._replace(told=False)
        if not undo(taken):
            error = "this would take back a decision of the floor; only the floor may"
            return Answer(403, sentence(error), told=False)
        return None

    async def _told_now(self, who: str, way: str, id: str, line: str) -> Answer:
        told: asyncio.Future[Told | None] = self._loop.create_future()

        def done(found: Told | None) -> None:
            with contextlib.suppress(RuntimeError):  # the console has ended before its tables
                self._loop.call_soon_threadsafe(lambda: None if told.done() else told.set_result(found))

        self.bridge.request(line, way, who, id, done)
        if not self.bridge.alive:  # it has ended meanwhile, and may never have seen the line
            done(None)
        found = await told
        return answer_of(id, found.version, found.refused) if found is not None else self._down()

    def _down(self) -> Answer:
        why = shown(self.bridge.error) if self.bridge.error else "it was stopped"
        return Answer(503, sentence(f"table {self.name} is down: {why}"), told=False)


def answer_of(id: str, version: int, refused: UserError | None) -> Answer:
    """What a client gets for a line that was told."""
    return Answer(200, {"id": id, "version": version}) if refused is None else _refusal(refused)


def _undone(desk: Desk) -> tuple[bool, Event | None]:
    """Whether an undo takes something back, and what of the deal it is, or would be without a later call for the floor.

    Who may not take back a decision takes such a call back with `ack`.
    """
    return desk.can_undo, desk.session.undoes


def _refusal(refused: UserError) -> Answer:
    return Answer(422, sentence(str(refused), seen=refused.seen, cause=refused.cause, do=refused.do))
