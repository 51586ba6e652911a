"""The console's routes: who asks, what they may, what they get. For `serve`; the pages are in `pages/`.

Every answer that is no success is a JSON object with one sentence, `error`. The API is the table in `document`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from dealershoe.console import document, history, metrics
from dealershoe.console.access import AUDITOR, DECISIONS, FLOOR, RECORD, RIGHTS, RULES, SAY, Person
from dealershoe.console.answers import (
    LONGEST_ID,
    LONGEST_LINE,
    as_json,
    body_of,
    failed,
    number_of,
    refused,
    text_of,
    unread,
    unusable,
)
from dealershoe.console.books import Books, asked
from dealershoe.console.door import Door
from dealershoe.console.guard import Guard, Headers
from dealershoe.console.logins import Logins
from dealershoe.console.once import Answer, Once, reused
from dealershoe.console.state import urgency
from dealershoe.console.stream import Streams, merged, of_table
from dealershoe.console.tables import Table
from dealershoe.deal.grammar import parse_line, render
from dealershoe.deal.items import DealError
from dealershoe.errors import UserError
from dealershoe.events import Undo
from dealershoe.rules.shelf_pins import names

PAGES = Path(__file__).parent / "pages"
LONGEST_BODY = 16_384  # bytes
LONGEST_STACK = 200  # characters
LONGEST_REASON = 200
JOURNAL_TRIES, JOURNAL_S = 30, 0.1
ICON = (  # a card on a green table
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#14532d"/>'
    '<rect x="5" y="3" width="6" height="10" rx="1" fill="#fff"/></svg>'
)


class _Number(Convertor[int]):
    """A number in a path. (Starlette's own takes any length, and Python refuses to read one of 5,000 digits.)"""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())


class Console:
    """The application for `tables`, of which there may be others later; `people` gives those of now."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        people: Callable[[], dict[str, Person]],
        books: Books,
        *,
        secure: bool = False,
        hosts: tuple[str, ...] = (),
        trouble: Callable[[], str] = lambda: "",
        logins: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`secure`: it is served over TLS. `hosts`: the names it answers to, all if there are none.

        `trouble`: what keeps it from being of use, beside its tables. `logins`: the file that keeps who is logged in.
        `say` gets sentences for the log.
        """
        self._tables = tables
        self._books = books
        self._trouble = trouble
        self._door = Door(people, secure=secure, logins=Logins(logins, say), say=say)
        self._streams = Streams()
        self._once = Once()
        ways = []
        for way in document.WAYS:
            path = way.path
            for name in way.numbers:
                path = path.replace(f"{{{name}}}", f"{{{name}:number}}")
            ways.append(Route(document.PREFIX + path, getattr(self, way.name), methods=[way.method]))
        app = Starlette(
            routes=[
                *ways,
                Route("/", self.front),
                Route("/login", self.login_page, methods=["GET"]),
                Route("/login", self.login, methods=["POST"]),
                Route("/logout", self.logout, methods=["POST"]),
                Route("/dealer", self.dealer_page),
                Route("/floor", self.floor_page),
                Route("/healthz", self.healthy),
                Route("/readyz", self.ready),
                Route("/metrics", self.figures),
                Route("/favicon.ico", self.icon),
            ],
            exception_handlers={HTTPException: as_json, Exception: failed},
        )
        app.mount("/static", StaticFiles(directory=PAGES))
        self.app = Headers(Guard(app, LONGEST_BODY, hosts), secure=secure)

    def end_streams(self) -> None:
        """The console is about to stop: say so on every stream, and end it. On the console's loop."""
        self._streams.over.set()

    def _table(self, request: Request, person: Person) -> Table:
        name = request.path_params["table"]
        table = self._tables.get(name)
        if table is None or not person.sees(name):
            raise refused(404, f"there is no table {name} for {person.name}")
        return table

    def _seen(self, person: Person) -> list[Table]:
        return [table for name, table in list(self._tables.items()) if person.sees(name)]

    # ---- the API, in the order of `document.WAYS`

    async def me(self, request: Request) -> Response:
        person, csrf = self._door.asks(request)
        return JSONResponse(
            {
                "name": person.name,
                "role": person.role,
                "rights": sorted(RIGHTS[person.role]),
                "tables": [table.name for table in self._seen(person)],
                "csrf": csrf,
            }
        )

    async def all_tables(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        states = [await table.state() for table in self._seen(person)]
        return JSONResponse({"tables": sorted(states, key=urgency)})

    async def one_table(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        return JSONResponse(await self._table(request, person).state())

    async def events(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        asked = request.query_params.get("table")
        tables = [table for table in self._seen(person) if asked in (None, table.name)]
        if not tables:
            raise refused(404, f"there is no table {asked} for {person.name}")
        last = request.headers.get("last-event-id", "")
        since = int(last) if last.isascii() and last.isdecimal() and len(last) < 16 and len(tables) == 1 else None
        kind = {"media_type": "text/event-stream", "headers": {"X-Accel-Buffering": "no"}}
        if request.method == "HEAD":
            return Response(**kind)  # type: ignore[arg-type]
        if not self._streams.begin(person.name):
            raise refused(429, f"{person.name} has too many streams open; close some pages", {"Retry-After": "5"})

        def last_event() -> str:
            """`over`: log in again; `tables`: there are others now, so connect again."""
            if not self._door.still(request, person):
                return "over"
            now = [table for table in self._seen(person) if asked in (None, table.name)]
            return "" if now == tables else "tables"

        stream = merged(
            [of_table(table, since) for table in tables],
            last_event,
            lambda: self._streams.end(person.name),
            self._streams.over,
        )
        return StreamingResponse(stream, **kind)  # type: ignore[arg-type]

    async def say(self, request: Request) -> Response:
        person, page = self._door.writes(request)
        table = self._table(request, person)
        body = await body_of(request, "id", "line", "seen", "reason")
        id = text_of(body, "id", LONGEST_ID, "a name of this line alone")
        line = text_of(body, "line", LONGEST_LINE, "a line as in deal scripts, for example `act 3 raise`")
        seen = number_of(body, "seen")
        reason = (
            text_of(body, "reason", LONGEST_REASON, "why, for the record") if body.get("reason") is not None else ""
        )
        if not person.may(SAY, table.name):
            raise refused(403, f"{person.name} may look, and say nothing")
        try:
            parsed = parse_line(line, 1, "line")
        except DealError as error:
            raise unread(error) from error
        if parsed is None:
            raise unusable(UserError("the line says nothing", "it is a comment", "send one such as `act 3 raise`"))
        if not person.may_say(parsed.item, table.name):
            raise refused(403, f"only the floor may say this, and {person.name} is {person.role}")
        undo = (lambda taken: person.may_say(taken, table.name)) if isinstance(parsed.item, Undo) else None
        if isinstance(parsed.item, DECISIONS) and not reason:
            raise refused(422, "a decision of the floor takes a `reason`, which the record keeps beside it")
        if reason:
            line = f"{render(parsed.item)} # {reason}"

        answer = await table.say(person.name, "console" if page else "api", id, line, seen, undo)
        return JSONResponse(answer.body, answer.status)

    async def hands(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        table = self._table(request, person)
        self._may_see_record(person, table)
        last = request.query_params.get("last", "10")
        if not (last.isascii() and last.isdecimal() and 1 <= int(last[:4]) <= 100 and len(last) <= 3):
            raise refused(422, "`last` is to be a number from 1 to 100")
        in_play = (await table.state())["hand"]
        found: list[dict[str, Any]] = []
        for _ in range(JOURNAL_TRIES):  # a hand that has just begun is on the disk a moment later
            found = await self._from_journal(history.hands, table.bridge.journal, int(last))
            if in_play is None or any(one["hand"] >= in_play for one in found[:1]):
                break
            await asyncio.sleep(JOURNAL_S)
        return JSONResponse({"hands": found})

    async def hand(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        table = self._table(request, person)
        self._may_see_record(person, table)
        number = request.path_params["hand"]
        cards = request.query_params.get("cards", "0")
        if cards not in ("0", "1"):
            raise refused(422, "`cards` is to be 0 or 1")
        for _ in range(JOURNAL_TRIES):  # what a page has heard is on the disk a moment later
            if table.bridge.written:
                break
            await asyncio.sleep(JOURNAL_S)
        found = await self._from_journal(history.hand, table.bridge.journal, number)
        if found is None:
            raise refused(404, f"there is no hand {number} on record at table {table.name}")
        if cards == "1":
            try:
                named = await run_in_threadpool(history.hand, table.bridge.journal, number, with_cards=True)
            except UserError as error:
                raise unusable(error, 409) from error
            await self._from_journal(history.say_who_looks, table.bridge, person.name, number)
            found = named
        return JSONResponse(found)

    async def books(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        table = self._table(request, person)
        try:
            asked, stack = await run_in_threadpool(
                table.bridge.read, lambda desk: (desk.session.situation, desk.session.stack)
            )
            found = await run_in_threadpool(self._books.ask, asked, stack) if asked is not None else []
        except TimeoutError as error:
            raise refused(503, f"table {table.name} does not answer") from error
        except UserError as error:
            raise unusable(error) from error
        return JSONResponse(found)

    async def rules(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        states = [await table.state() for table in self._seen(person)]
        try:
            known = await run_in_threadpool(self._books.rules)
        except UserError as error:
            raise unusable(error) from error
        in_force = {state["table"]: {"stack": state["stack"], "next": state["next_stack"]} for state in states}
        return JSONResponse({**known, "in_force": in_force})

    async def activate(self, request: Request) -> Response:
        person, _ = self._door.writes(request)
        table = self._table(request, person)
        body = await body_of(request, "id", "stack")
        id = text_of(body, "id", LONGEST_ID, "a name of this change alone")
        stack = text_of(body, "stack", LONGEST_STACK, "packs joined by +, highest first")
        if not all(person.may(RULES, name) for name in list(self._tables)):
            raise refused(403, f"rules are put in force for all tables of this host, and {person.name} may not")
        answer = await self._once.do(
            person.name, id, f"{table.name} {stack}", lambda: self._activated(person, id, table.name, stack)
        )
        return JSONResponse(answer.body, answer.status)

    async def _activated(self, person: Person, id: str, table: str, stack: str) -> Answer:
        request = f"{id} at {table}"
        try:
            before = await run_in_threadpool(self._books.activated, person.name, request)
            if before is not None and before.reason != asked(request) + stack:
                return reused(id)
            if before is not None:  # by a console before this one
                return Answer(200, {"id": id, "stack": names(before.layers), "tables": list(self._tables)})
            named = await run_in_threadpool(self._books.activate, stack, person.name, request)
        except UserError as error:
            return Answer(422, {"error": str(error), "seen": error.seen, "cause": error.cause, "do": error.do})
        for one in list(self._tables.values()):
            one.bridge.look_for_rules()
        return Answer(200, {"id": id, "stack": named, "tables": list(self._tables)})

    async def openapi(self, request: Request) -> Response:
        self._door.asks(request)
        return JSONResponse(document.document())

    def _may_see_record(self, person: Person, table: Table) -> None:
        if not person.may(RECORD, table.name):
            raise refused(403, f"the record is for floor and auditor, and {person.name} is {person.role}")

    async def _from_journal(self, job: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return await run_in_threadpool(job, *arguments)
        except UserError as error:
            raise unusable(error, 503) from error

    # ---- for whoever runs it

    async def healthy(self, _: Request) -> Response:
        """Whether it runs. To anybody: no names."""
        return JSONResponse({"ok": True})

    async def ready(self, _: Request) -> Response:
        """Whether it is of use: every table's bridge runs, and people can be let in. To anybody: no names."""
        down = sum(not table.bridge.alive for table in list(self._tables.values()))
        why = [*([f"{down} of {len(self._tables)} tables are down"] if down else []), self._trouble() and "no people"]
        error = "; ".join(part for part in why if part)
        return JSONResponse({"ok": not error, **({"error": error} if error else {})}, 503 if error else 200)

    async def figures(self, request: Request) -> Response:
        person, _ = self._door.asks(request)
        states = [(table, await table.state()) for table in self._seen(person)]
        text = metrics.text(
            (
                metrics.Figures(
                    table.name, table.bridge.alive, state["link"] != "unsupervised", state["signal"],
                    state["floor_called"], state["counts"], table.bridge.statistics,
                )
                for table, state in states
            ),
            sum(self._streams.open.values()),
        )  # fmt: skip
        return Response(text, media_type=metrics.TYPE)

    async def icon(self, _: Request) -> Response:
        return Response(ICON, media_type="image/svg+xml")

    # ---- pages

    def _page(self, request: Request, name: str) -> Response:
        if self._door.session(request) is None:
            return RedirectResponse("/login", 303)
        return FileResponse(PAGES / name, headers={"Cache-Control": "no-store"})

    async def front(self, request: Request) -> Response:
        found = self._door.session(request)
        if found is None:
            return RedirectResponse("/login", 303)
        return RedirectResponse("/floor" if found.role in (FLOOR, AUDITOR) else "/dealer", 303)

    async def dealer_page(self, request: Request) -> Response:
        return self._page(request, "dealer.html")

    async def floor_page(self, request: Request) -> Response:
        return self._page(request, "floor.html")

    async def login_page(self, _: Request) -> Response:
        return FileResponse(PAGES / "login.html", headers={"Cache-Control": "no-store"})

    async def login(self, request: Request) -> Response:
        async with request.form(max_fields=4, max_files=0) as form:
            token = form.get("token", "")
        person = self._door.by_token(request, token.strip() if isinstance(token, str) else "")
        answer = RedirectResponse("/", 303)
        self._door.enter(request, person, answer)
        return answer

    async def logout(self, request: Request) -> Response:
        self._door.writes(request)
        answer = RedirectResponse("/login", 303)
        self._door.leave(request, answer)
        return answer
