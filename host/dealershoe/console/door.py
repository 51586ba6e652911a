"""Who is let in: a token or the cookie of a page makes a person of a request. For the console's routes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from dealershoe.console.access import SESSION_S, Attempts, Person, Sessions, csrf_of, digest_of, who
from dealershoe.console.answers import refused
from dealershoe.console.logins import Logins

COOKIE = "shoe"
BEARER = {"WWW-Authenticate": "Bearer"}


class Door:
    """`people` gives those of now, so that a new token counts at once. `secure`: it is served over TLS.

    `logins`: the file that keeps who is logged in; `say` gets a sentence for the log, with names and no token.
    """

    def __init__(
        self, people: Callable[[], dict[str, Person]], *, secure: bool, logins: Logins, say: Callable[[str], None]
    ) -> None:
        self._people = people
        self._secure = secure
        self._say = say
        self._sessions = Sessions(os.urandom, logins.load(), logins.save)
        self._attempts = Attempts()

    def by_token(self, request: Request, token: str) -> Person:
        """The person with `token`. Raises 401, and 429 for who has guessed too often."""
        person = who(self._people(), token)
        if person is not None:
            return person
        client, now = client_of(request), time.monotonic()
        wait_s = self._attempts.wait_s(client, now)
        if wait_s > 0:
            raise refused(429, "too many wrong tokens; wait a minute", {"Retry-After": str(int(wait_s) + 1)})
        self._attempts.wrong(client, now)
        if self._attempts.wait_s(client, now) > 0:
            self._say(f"too many wrong tokens from {client}: no guess from there is heard for a minute")
        raise refused(401, "nobody has this token", BEARER)

    def session(self, request: Request) -> Person | None:
        """Who has logged in with the page that asks."""
        return self._sessions.of(request.cookies.get(COOKIE, ""), self._people(), time.time())

    def asks(self, request: Request) -> tuple[Person, str | None]:
        """Who asks, and the CSRF word of a page; None: with a token. Raises 401."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.by_token(request, token.strip()), None
        found = self.session(request)
        if found is None:
            raise refused(401, "log in, or send a token as a bearer", BEARER)
        return found, csrf_of(request.cookies[COOKIE])

    def writes(self, request: Request) -> tuple[Person, bool]:
        """Who writes, and whether from a page. Raises 403 for a page that is not of this session."""
        person, csrf = self.asks(request)
        if csrf is not None and digest_of(request.headers.get("x-csrf", "")) != digest_of(csrf):
            raise refused(403, "this page is not of this session; load it again")
        return person, csrf is not None

    def still(self, request: Request, person: Person) -> bool:
        """Whether whoever was let in would be let in now, as the same: for streams that stay open for long."""
        if request.cookies.get(COOKIE, "") and not request.headers.get("authorization"):
            return self.session(request) == person
        return self._people().get(person.name) == person

    def enter(self, request: Request, person: Person, answer: Response) -> None:
        """A new session, whatever cookie there was: nobody can know it before."""
        cookie = self._sessions.begin(person, time.time())
        answer.set_cookie(COOKIE, cookie, max_age=int(SESSION_S), httponly=True, samesite="strict", secure=self._secure)
        self._say(f"{person.name} ({person.role}) has logged in from {client_of(request)}")

    def leave(self, request: Request, answer: Response) -> None:
        """Log out."""
        person = self.session(request)
        if person is not None:
            self._say(f"{person.name} ({person.role}) has logged out")
        self._sessions.end(request.cookies.get(COOKIE, ""))
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=self._secure)


def client_of(request: Request) -> str:
    """The address that a request comes from."""
    return request.client.host if request.client else ""
