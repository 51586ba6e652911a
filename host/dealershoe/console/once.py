"""What is done once, however often a client asks for it: answers kept by the client's own ids. For the console."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from dealershoe.console.answers import sentence

KEPT = 500  # answers, a few hundred bytes each: some twenty-five hands of a table
PATIENCE_S = 5.0  # for an answer; what is done goes on


class Answer(NamedTuple):
    """An HTTP status and a body. `told`: the table, or the shelf, was asked; else the same may be asked for again."""

    status: int
    body: dict[str, Any]
    told: bool = True


class Known(NamedTuple):
    """What was done before: who asked for it, under which id, what it was, and the answer."""

    who: str
    id: str
    what: str
    answer: Answer


def reused(id: str) -> Answer:
    """What whoever asks for something else under an id of before is told."""
    return Answer(409, {"error": f"the id {id} was used for something else; take a new one each time"})


class Once:
    """For one table. On the console's loop. `known`: what was done before the console began, the latest last."""

    def __init__(self, known: Iterable[Known] = ()) -> None:
        self._answers: OrderedDict[tuple[str, str], tuple[str, Answer | asyncio.Task[Answer]]] = OrderedDict()
        for one in known:
            self._answers[one.who, one.id] = (one.what, one.answer)

    async def do(self, who: str, id: str, what: str, job: Callable[[], Awaitable[Answer]]) -> Answer:
        """`job` once for each `id` of `who`; the same again gets the same answer, and another `what` a refusal.

        It goes on when the client goes away, or has waited for PATIENCE_S. What was refused before it was told may be
        asked for again: no journal keeps that, and the answer is the same whether this console began since or not.
        """
        key = (who, id)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = (what, asyncio.ensure_future(job()))
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
        elif known[0] != what:
            return reused(id)
        if isinstance(known[1], Answer):
            return known[1]
        try:
            answer = await asyncio.wait_for(asyncio.shield(known[1]), PATIENCE_S)
        except TimeoutError:
            error = f"there is no answer yet after {PATIENCE_S:.0f} s; ask again with the same id, it is done once"
            return Answer(503, sentence(error), told=False)
        if self._answers.get(key) is known:
            if not answer.told:
                del self._answers[key]
            else:
                self._answers[key] = (what, answer)
        return answer
