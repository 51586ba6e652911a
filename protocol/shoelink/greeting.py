"""How two ends find each other: HELLO with a nonce, answered by the other's HELLO, and who they are in IDENT."""

from shoelink import schema, timing
from shoelink.seal import NOBODY
from shoelink.timing import elapsed

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable


class Greeting:
    """What this end has said and heard since it began to greet. The link decides when the session is up."""

    def __init__(self, entropy: "Callable[[int], bytes]", boot: bytes, reset: int, room: int) -> None:
        self._entropy = entropy
        self._boot = boot
        self._reset = reset
        self._room = room
        self._said_at = 0
        self.forget()

    def forget(self) -> None:
        """Nothing is known of a peer, and nothing is to be said."""
        self.peer: "schema.Hello | None" = None
        self.ident: "schema.Ident | None" = None
        self.answered = False  # the peer's HELLO answers our nonce
        self.told = False  # host: the owner knows of the peer
        self.resumed = False  # host: and has said what is stored
        self.due = False  # a HELLO is to be said at once
        self.again = False  # one that was said is to be said again, if its answer may be lost by now
        self.foreign = False  # host: the owner knows that something without our key is there
        self.nonce = b""
        self._refused = b""  # the nonce of a peer that was refused
        self._said = b""  # what the last HELLO answered

    def begin(self) -> None:
        """Greet whoever is there, with a fresh nonce."""
        self.forget()
        self.nonce = self._entropy(8)
        self.due = True

    def strange(self, hello: "schema.Hello") -> bool:
        """Whether this HELLO is of a session that is not known yet: a new peer, or one that greets anew."""
        return self.peer is None or self.peer.nonce != hello.nonce

    def hear(self, hello: "schema.Hello", asks: bool, up: bool, journal: bytes) -> None:
        """Take the peer's HELLO; `asks` if it waits for an answer, `journal` is what an answer would name.

        What was said before is not said again at once, or two ends that are not up would answer each other for ever.
        """
        if self.strange(hello):
            self.ident = None
            self.told = self.resumed = False
        self.peer = hello
        self.answered = hello.answers == self.nonce[:4]
        if asks and hello.major == schema.MAJOR:
            if self._said != hello.nonce + journal:
                self.due = True
            elif up:
                self.again = True

    def say(self, journal: bytes, oldest: int, next: int, now: int) -> "schema.Hello":
        """The HELLO to send now."""
        peer = self.peer
        self._said = (peer.nonce if peer else b"") + journal
        self._said_at = now
        self.due = self.again = False
        return schema.Hello(
            schema.MAJOR,
            schema.MINOR,
            schema.SCHEMA,
            journal,
            self._boot,
            self._reset,
            oldest & 0xFFFF,
            next,
            self._room,
            self.nonce,
            (peer.nonce if peer else NOBODY)[:4],
        )

    def refuse(self) -> bool:
        """There can be no session with this peer. Whether that is news."""
        peer = self.peer
        if peer is None or peer.nonce == self._refused:
            return False
        self._refused = peer.nonce
        return True

    def wait(self, now: int, up: bool) -> int:
        """Milliseconds until a HELLO must be said (again); -1: the session is up, and nobody asks."""
        if self.due:
            return 0
        if up and not self.again:
            return -1
        return max(0, timing.HELLO_MS - elapsed(now, self._said_at))
