"""What is done once, however often a client asks for it: answers kept by the client's own ids. For the console."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

KEPT = 2_000  # answers


class Answer(NamedTuple):
    """An HTTP status and a body."""

    status: int
    body: dict[str, Any]


class Once:
    """For one table. On the console's loop."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, str], tuple[str, asyncio.Task[Answer]]] = OrderedDict()

    async def do(self, who: str, id: str, what: str, job: Callable[[], Awaitable[Answer]]) -> Answer:
        """`job` once for each `id` of `who`; the same again gets the same answer, and another `what` a refusal.

        It goes on when the client goes away. What could not be done (503) may be asked for again.
        """
        key = (who, id)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = (what, asyncio.ensure_future(job()))
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
        elif known[0] != what:
            return Answer(409, {"error": f"the id {id} was used for something else; take a new one each time"})
        answer = await asyncio.shield(known[1])
        if answer.status == 503:
            self._answers.pop(key, None)
        return answer
