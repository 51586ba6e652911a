"""The console's routes: who asks, what they may, what they get. For `serve`; the pages are in `pages/`.

Every answer that is no success is a JSON object with one sentence, `error`.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dealershoe.console.access import (
    AUDITOR,
    FLOOR,
    RIGHTS,
    SAY,
    Attempts,
    Person,
    Session,
    Sessions,
    digest_of,
    who,
)
from dealershoe.console.guard import COOKIE, Guard, Headers
from dealershoe.console.state import urgency
from dealershoe.console.tables import Table
from dealershoe.deal.grammar import parse_line
from dealershoe.errors import UserError

PAGES = Path(__file__).parent / "pages"
LONGEST_BODY = 16_384  # bytes
LONGEST_ID = 64
STATE_S = 0.05  # between two states of a table on one stream
ALIVE_S = 10.0  # between two comments on a stream that has nothing to say


def refused(status: int, error: str, **more: Any) -> HTTPException:
    """What is answered instead."""
    return HTTPException(status, json.dumps({"error": error, **more}))


async def _error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = error.detail if error.detail.startswith("{") else json.dumps({"error": error.detail})
    return Response(body, error.status_code, error.headers, "application/json")


class Console:
    """The application for `tables`; `people` gives those of now, so that a new token counts at once."""

    def __init__(
        self, tables: Mapping[str, Table], people: Callable[[], dict[str, Person]], *, secure: bool = False
    ) -> None:
        """`secure`: it is served over TLS."""
        self._tables = tables
        self._people = people
        self._secure = secure
        self._sessions = Sessions(os.urandom)
        self._attempts = Attempts()
        api = [
            Route("/me", self.me),
            Route("/tables", self.all_tables),
            Route("/tables/{table}", self.one_table),
            Route("/tables/{table}/lines", self.say, methods=["POST"]),
            Route("/events", self.events),
        ]
        self.app = Starlette(
            routes=[
                Route("/", self.front),
                Route("/login", self.login_page, methods=["GET"]),
                Route("/login", self.login, methods=["POST"]),
                Route("/logout", self.logout, methods=["POST"]),
                Route("/dealer", self.dealer_page),
                Route("/floor", self.floor_page),
                Route("/healthz", self.healthy),
                Mount("/api/v1", routes=api),
                Mount("/static", StaticFiles(directory=PAGES)),
            ],
            middleware=[Middleware(Headers), Middleware(Guard, longest=LONGEST_BODY)],
            exception_handlers={HTTPException: _error},
        )

    # ---- who asks

    def _client(self, request: Request) -> str:
        return request.client.host if request.client else ""

    def _by_token(self, request: Request, token: str) -> Person:
        """The person with `token`. Raises 401, and 429 for who has guessed too often."""
        client, now = self._client(request), time.monotonic()
        wait_s = self._attempts.wait_s(client, now)
        if wait_s > 0:
            raise HTTPException(
                429,
                json.dumps({"error": "too many wrong tokens; wait a minute"}),
                {"Retry-After": str(int(wait_s) + 1)},
            )
        person = who(self._people(), token)
        if person is None:
            self._attempts.wrong(client, now)
            raise HTTPException(401, json.dumps({"error": "nobody has this token"}), {"WWW-Authenticate": "Bearer"})
        return person

    def _asks(self, request: Request) -> tuple[Person, Session | None]:
        """Who asks, and with which session; None: with a token. Raises 401."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._by_token(request, token.strip()), None
        found = self._sessions.of(request.cookies.get(COOKIE, ""), self._people(), time.monotonic())
        if found is None:
            raise HTTPException(
                401, json.dumps({"error": "log in, or send a token as a bearer"}), {"WWW-Authenticate": "Bearer"}
            )
        return found

    def _writes(self, request: Request) -> tuple[Person, bool]:
        """Who writes, and whether from a page. Raises 403 for a page of another site."""
        person, session = self._asks(request)
        if session is not None and digest_of(request.headers.get("x-csrf", "")) != digest_of(session.csrf):
            raise refused(403, "this page is not of this session; load it again")
        return person, session is not None

    def _table(self, request: Request, person: Person) -> Table:
        name = request.path_params["table"]
        table = self._tables.get(name)
        if table is None or not person.sees(name):
            raise refused(404, f"there is no table {name} for {person.name}")
        return table

    # ---- the API

    async def me(self, request: Request) -> Response:
        person, session = self._asks(request)
        return JSONResponse(
            {
                "name": person.name,
                "role": person.role,
                "rights": sorted(RIGHTS[person.role]),
                "tables": [name for name in self._tables if person.sees(name)],
                "csrf": session.csrf if session else None,
            }
        )

    async def all_tables(self, request: Request) -> Response:
        person, _ = self._asks(request)
        states = [await table.state() for name, table in self._tables.items() if person.sees(name)]
        return JSONResponse({"tables": sorted(states, key=urgency)})

    async def one_table(self, request: Request) -> Response:
        person, _ = self._asks(request)
        return JSONResponse(await self._table(request, person).state())

    async def say(self, request: Request) -> Response:
        person, page = self._writes(request)
        table = self._table(request, person)
        id, line, seen = await _line_of(request)
        try:
            parsed = parse_line(line, 1, "line")
        except UserError as error:
            raise refused(422, str(error), seen=error.seen, cause=error.cause, do=error.do) from error
        if parsed is None:
            raise refused(422, "the line says nothing")
        if not person.may(SAY, table.name) or not person.may_say(parsed.item, table.name):  # type: ignore[arg-type]
            raise refused(403, f"{person.name} may not say this: it is for {FLOOR if person.may(SAY) else 'others'}")
        if seen is not None and seen < table.feed.moved:
            raise refused(
                409, "the table has moved on since this page was drawn; look again", state=await table.state()
            )
        answer = await table.say(person.name, "console" if page else "api", id, line)
        return JSONResponse(answer.body, answer.status)

    async def events(self, request: Request) -> Response:
        person, _ = self._asks(request)
        asked = request.query_params.get("table")
        names = [name for name in self._tables if person.sees(name) and asked in (None, name)]
        if not names:
            raise refused(404, f"there is no table {asked} for {person.name}")
        last = request.headers.get("last-event-id", "")
        since = int(last) if last.isdecimal() and len(names) == 1 else None
        stream = _merged([_stream(self._tables[name], since) for name in names])
        return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def healthy(self, _: Request) -> Response:
        ill = [name for name, table in self._tables.items() if not table.bridge.alive]
        return PlainTextResponse("\n".join([*(f"{name} is down" for name in ill), ""]) or "ok\n", 503 if ill else 200)

    # ---- pages

    def _page(self, request: Request, name: str) -> Response:
        if self._sessions.of(request.cookies.get(COOKIE, ""), self._people(), time.monotonic()) is None:
            return RedirectResponse("/login", 303)
        return FileResponse(PAGES / name, headers={"Cache-Control": "no-store"})

    async def front(self, request: Request) -> Response:
        found = self._sessions.of(request.cookies.get(COOKIE, ""), self._people(), time.monotonic())
        if found is None:
            return RedirectResponse("/login", 303)
        return RedirectResponse("/floor" if found[0].role in (FLOOR, AUDITOR) else "/dealer", 303)

    async def dealer_page(self, request: Request) -> Response:
        return self._page(request, "dealer.html")

    async def floor_page(self, request: Request) -> Response:
        return self._page(request, "floor.html")

    async def login_page(self, _: Request) -> Response:
        return FileResponse(PAGES / "login.html", headers={"Cache-Control": "no-store"})

    async def login(self, request: Request) -> Response:
        async with request.form(max_fields=4, max_files=0) as form:
            token = form.get("token", "")
        person = self._by_token(request, token.strip() if isinstance(token, str) else "")
        cookie, session = self._sessions.begin(person, time.monotonic())
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE,
            cookie,
            max_age=int(session.until - time.monotonic()),
            httponly=True,
            samesite="strict",
            secure=self._secure,
        )
        return answer

    async def logout(self, request: Request) -> Response:
        self._writes(request)
        self._sessions.end(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(COOKIE)
        return answer


async def _line_of(request: Request) -> tuple[str, str, int | None]:
    """The id, the line and the version seen, of a body that says something. Raises 415 and 422."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise refused(415, "send application/json")
    try:
        body = json.loads(await request.body())
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise refused(422, "the body is no JSON object")
    id, line, seen = body.get("id"), body.get("line"), body.get("seen")
    if not isinstance(id, str) or not 0 < len(id) <= LONGEST_ID:
        raise refused(422, f"`id` is to be a text of 1 to {LONGEST_ID} characters that names this line alone")
    if not isinstance(line, str) or "\n" in line:
        raise refused(422, "`line` is to be one line as in deal scripts, for example `act 3 raise`")
    if seen is not None and (not isinstance(seen, int) or isinstance(seen, bool)):
        raise refused(422, "`seen` is to be the version of the state that was seen")
    return id, line, seen


def _event(kind: str, data: dict[str, Any], n: int | None = None) -> str:
    number = f"id: {n}\n" if n is not None else ""
    return f"event: {kind}\n{number}data: {json.dumps(data, ensure_ascii=False)}\n\n"


async def _stream(table: Table, since: int | None) -> AsyncIterator[str]:
    """One table: its state, then what happens, each followed by the state, which comes no faster than STATE_S."""
    feed = table.feed
    n = feed.version if since is None else min(since, feed.version)
    yield _event("state", await table.state())
    while True:
        happened, missed = feed.since(n)
        if missed:
            yield _event("gap", {"table": table.name, "after": n})
        for one in happened:
            yield _event("happening", {"table": table.name, "n": one.n, **json.loads(one.happening.as_json())}, one.n)
            n = one.n
        if happened:
            yield _event("state", await table.state())
            await asyncio.sleep(STATE_S)
        elif not await feed.change(n, ALIVE_S):
            yield _event("alive", {})


async def _merged(streams: list[AsyncIterator[str]]) -> AsyncIterator[str]:
    """Several streams as one. A client that reads slowly holds up its own alone: one event a table waits for it."""
    waiting: dict[asyncio.Future[str], AsyncIterator[str]] = {
        asyncio.ensure_future(anext(stream)): stream for stream in streams
    }
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                stream = waiting.pop(future)
                yield future.result()
                waiting[asyncio.ensure_future(anext(stream))] = stream
    finally:
        for future in waiting:
            future.cancel()
