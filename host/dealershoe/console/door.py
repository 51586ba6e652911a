"""Who is let in: a token or the cookie of a page makes a person of a request. For the console's routes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from dealershoe.console.access import Attempts, Person, Session, Sessions, digest_of, who
from dealershoe.console.answers import refused

COOKIE = "shoe"
BEARER = {"WWW-Authenticate": "Bearer"}


class Door:
    """`people` gives those of now, so that a new token counts at once. `secure`: it is served over TLS."""

    def __init__(self, people: Callable[[], dict[str, Person]], *, secure: bool) -> None:
        self._people = people
        self._secure = secure
        self._sessions = Sessions(os.urandom)
        self._attempts = Attempts()

    def by_token(self, request: Request, token: str) -> Person:
        """The person with `token`. Raises 401, and 429 for who has guessed too often."""
        client, now = request.client.host if request.client else "", time.monotonic()
        wait_s = self._attempts.wait_s(client, now)
        if wait_s > 0:
            raise refused(429, "too many wrong tokens; wait a minute", {"Retry-After": str(int(wait_s) + 1)})
        person = who(self._people(), token)
        if person is None:
            self._attempts.wrong(client, now)
            raise refused(401, "nobody has this token", BEARER)
        return person

    def session(self, request: Request) -> tuple[Person, Session] | None:
        """Who has logged in with the page that asks."""
        return self._sessions.of(request.cookies.get(COOKIE, ""), self._people(), time.monotonic())

    def asks(self, request: Request) -> tuple[Person, Session | None]:
        """Who asks, and with which session; None: with a token. Raises 401."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.by_token(request, token.strip()), None
        found = self.session(request)
        if found is None:
            raise refused(401, "log in, or send a token as a bearer", BEARER)
        return found

    def writes(self, request: Request) -> tuple[Person, bool]:
        """Who writes, and whether from a page. Raises 403 for a page that is not of this session."""
        person, session = self.asks(request)
        if session is not None and digest_of(request.headers.get("x-csrf", "")) != digest_of(session.csrf):
            raise refused(403, "this page is not of this session; load it again")
        return person, session is not None

    def still(self, request: Request, person: Person) -> bool:
        """Whether whoever was let in would be let in now, as the same: for streams that stay open for long."""
        if request.cookies.get(COOKIE, "") and not request.headers.get("authorization"):
            found = self.session(request)
            return found is not None and found[0] == person
        return self._people().get(person.name) == person

    def enter(self, person: Person, answer: Response) -> None:
        """A new session, whatever cookie there was: nobody can know it before."""
        now = time.monotonic()
        cookie, session = self._sessions.begin(person, now)
        answer.set_cookie(
            COOKIE, cookie, max_age=int(session.until - now), httponly=True, samesite="strict", secure=self._secure
        )

    def leave(self, request: Request, answer: Response) -> None:
        """Log out."""
        self._sessions.end(request.cookies.get(COOKIE, ""))
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=self._secure)
