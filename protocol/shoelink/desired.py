"""Desired state, host to shoe: `Wishes` repeats the newest state until it is confirmed, `Obeyed` takes it once.

A state has a generation: a repeat is harmless and an older one is refused, so each end keeps one state a kind.
"""

from shoelink import schema
from shoelink.timing import RTO_CAP_MS, Rto, elapsed


def newer(generation: int, than: int) -> bool:
    """Whether a 16-bit generation comes after another (serial number arithmetic, RFC 1982)."""
    return 0 < (generation - than) & 0xFFFF < 0x8000


class _Wish:
    def __init__(self, message: "schema.Signal | schema.Due", generation: int) -> None:
        self.message = message
        self.generation = generation
        self.confirmed = False
        self.tries = 0
        self.urgent = True
        self.sent_at = 0


class Wishes:
    """The host's half: what the shoe should show and expect, by kind."""

    def __init__(self) -> None:
        self.rto = Rto()
        self.resent = 0
        self._wishes: dict[int, _Wish] = {}
        self._generation = 0

    def desire(self, message: "schema.Signal | schema.Due") -> int:
        """Wish for a state and return its generation. The present state again keeps the one it has."""
        kind = schema.KIND_OF[type(message)]
        present = self._wishes.get(kind)
        if present and tuple(present.message)[1:] == tuple(message)[1:]:
            return present.generation
        self._generation = self._generation % 0xFFFF + 1  # never 0
        numbered = type(message)(self._generation, *tuple(message)[1:])
        self._wishes[kind] = _Wish(numbered, self._generation)
        return self._generation

    def again(self, fresh: bool) -> None:
        """Send what is not confirmed at once; everything if the session is `fresh`."""
        for wish in self._wishes.values():
            if fresh:
                wish.confirmed = False
                wish.tries = 0
            wish.urgent = True

    def wait(self, now: int) -> int:
        """Milliseconds until one must be sent, -1: all are confirmed."""
        least = -1
        for wish in self._wishes.values():
            if not wish.confirmed:
                left = self._left(wish, now)
                least = left if least < 0 else min(least, left)
        return least

    def due(self, now: int) -> "schema.Signal | schema.Due | None":
        """A state to send now; counts as sent."""
        for wish in self._wishes.values():
            if not wish.confirmed and self._left(wish, now) == 0:
                self.resent += wish.tries > 0
                wish.tries += 1
                wish.urgent = False
                wish.sent_at = now
                return wish.message
        return None

    def confirm(self, kind: int, generation: int, now: int) -> None:
        """The shoe has taken this generation of this kind."""
        wish = self._wishes.get(kind)
        if wish and wish.generation == generation and not wish.confirmed:
            wish.confirmed = True
            if wish.tries == 1:
                self.rto.sample(elapsed(now, wish.sent_at))

    def _left(self, wish: _Wish, now: int) -> int:
        if wish.urgent:
            return 0
        patience = min(RTO_CAP_MS, self.rto.value << min(max(wish.tries - 2, 0), 3))
        return max(0, patience - elapsed(now, wish.sent_at))


class Obeyed:
    """The shoe's half: the newest generation of each kind in this session, and which of them to confirm."""

    def __init__(self) -> None:
        self.newest: dict[int, int] = {}
        self.confirm: dict[int, int] = {}

    def take(self, kind: int, generation: int) -> bool:
        """Whether this is news; it is confirmed in any case, a repeat too, for the confirmation may have been lost."""
        newest = self.newest.get(kind)
        news = newest is None or newer(generation, newest)
        if news:
            self.newest[kind] = generation
        self.confirm[kind] = self.newest[kind]
        return news
