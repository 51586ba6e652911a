"""Who may do what at the console: roles, tokens, sessions, and how often one may guess. Pure; for its server.

A token is 32 random bytes as text. The host keeps its SHA-256: with so much chance in it a slow hash adds nothing. Time
is an argument, in seconds of any clock that never goes back; random bytes come from a function that the caller gives.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dealershoe.deal.items import Item
from dealershoe.events import Event, FloorDecision

DEALER, FLOOR, AUDITOR, SYSTEM = "dealer", "floor", "auditor", "system"
ROLES = {
    DEALER: "sees the tables and says what happens at them",
    FLOOR: "and decides, begins hands, puts rules in force",
    AUDITOR: "sees the tables and the record, and says nothing",
    SYSTEM: "a table system: says who sits where and who acts, as a dealer does",
}
SAY, DECIDE, RECORD, RULES = "say", "decide", "record", "rules"  # what there is to be allowed, beside seeing
RIGHTS: dict[str, frozenset[str]] = {
    DEALER: frozenset({SAY}),
    FLOOR: frozenset({SAY, DECIDE, RECORD, RULES}),
    AUDITOR: frozenset({RECORD}),
    SYSTEM: frozenset({SAY}),
}
DECISIONS: tuple[type[Event], ...] = (FloorDecision,)  # what nobody but the floor may say

TOKEN = 32  # bytes
SESSION_S = 12 * 3600.0  # a long shift; then one logs in again
TRIES = 5  # wrong tokens of one client that are heard in WINDOW_S
WINDOW_S = 60.0
CLIENTS = 10_000  # remembered at most; who floods from more addresses is met by the limit of all together
ALL_TRIES = 200  # of all clients together in WINDOW_S


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with a token. `tables`: where the role counts; empty: at all of them."""

    name: str
    role: str
    digest: str  # SHA-256 of the token, in hexadecimal
    tables: tuple[str, ...] = ()

    def may(self, right: str, table: str = "") -> bool:
        """Whether this person has a right, at a table if one is named."""
        return right in RIGHTS[self.role] and self.sees(table)

    def sees(self, table: str) -> bool:
        """Whether this person may look at a table."""
        return not table or not self.tables or table in self.tables

    def may_say(self, item: Item | None, table: str) -> bool:
        """Whether a line that says this, or takes this back, may come from this person."""
        return self.may(DECIDE if isinstance(item, DECISIONS) else SAY, table)


def new_token(random: Callable[[int], bytes]) -> str:
    """A token nobody can guess, as text of 43 letters, digits, `-` and `_`."""
    return base64.urlsafe_b64encode(random(TOKEN)).rstrip(b"=").decode()


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def who(people: dict[str, Person], token: str) -> Person | None:
    """The person with this token. Every person's digest is compared, each in constant time."""
    wanted = digest_of(token)
    found = None
    for person in people.values():
        if hmac.compare_digest(person.digest, wanted):
            found = person
    return found


class Attempts:
    """Wrong tokens of the last minute, by client. Whoever has made too many is told to wait before the next guess.

    A right token is always heard: behind one address there may be a whole room, and one who guesses in it.
    """

    def __init__(self) -> None:
        self._wrong: dict[str, list[float]] = {}
        self._all: list[float] = []

    def wait_s(self, client: str, now: float) -> float:
        """Seconds until a guess of `client` is heard again, 0 when it is now."""
        return max(_wait(self._wrong.get(client, []), TRIES, now), _wait(self._all, ALL_TRIES, now))

    def wrong(self, client: str, now: float) -> None:
        """`client` has shown a token that nobody has."""
        times = [at for at in self._wrong.pop(client, []) if now - at < WINDOW_S]
        self._wrong[client] = [*times, now][-TRIES:]
        while len(self._wrong) > CLIENTS:
            del self._wrong[next(iter(self._wrong))]
        self._all = [*(at for at in self._all if now - at < WINDOW_S), now][-ALL_TRIES:]


def _wait(times: list[float], most: int, now: float) -> float:
    recent = [at for at in times if now - at < WINDOW_S]
    return max(0.0, recent[-most] + WINDOW_S - now) if len(recent) >= most else 0.0


@dataclass(frozen=True, slots=True)
class Session:
    """A page that somebody logged in with."""

    name: str
    digest: str  # of the token it began with: one that was replaced ends its sessions
    until: float


def csrf_of(cookie: str) -> str:
    """What must come with whatever a page writes: who has the cookie can tell it, who only has it sent cannot."""
    return digest_of(f"csrf {cookie}")


class Sessions:
    """Who is logged in, by the digest of the cookie. `keep` is given all of them whenever that changes.

    Time is that of the wall, so that a server that starts again goes on with those that it `kept`.
    """

    def __init__(
        self,
        random: Callable[[int], bytes],
        kept: Mapping[str, Session] = MappingProxyType({}),
        keep: Callable[[Mapping[str, Session]], None] = lambda _: None,
    ) -> None:
        self._random = random
        self._open = dict(kept)
        self._keep = keep

    def begin(self, person: Person, now: float) -> str:
        """The cookie of someone who has just shown a token, for SESSION_S."""
        self._open = {cookie: one for cookie, one in self._open.items() if one.until > now}
        cookie = new_token(self._random)
        self._open[digest_of(cookie)] = Session(person.name, person.digest, now + SESSION_S)
        self._keep(self._open)
        return cookie

    def of(self, cookie: str, people: dict[str, Person], now: float) -> Person | None:
        """Whose cookie it is; None when the session is over, or the person's token is another by now."""
        session = self._open.get(digest_of(cookie))
        person = people.get(session.name) if session else None
        if session is None or person is None or session.until <= now or person.digest != session.digest:
            return None
        return person

    def end(self, cookie: str) -> None:
        """Log out."""
        if self._open.pop(digest_of(cookie), None) is not None:
            self._keep(self._open)
