"""The tester's end of the line: a host that can also do what no host should. For the conformance checks.

It sends frames one by one, keeps all that it hears with the time, and acknowledges nothing unless it is told to. While
`alive`, it sends PING as a host does, so that the device does not take it for gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from shoelink import frame, schema

from dealershoe import __version__
from dealershoe.errors import UserError
from dealershoe.port.port import Port

PING_MS = 200.0  # below the host's own 246: never near a limit
MINE = schema.FROM_HOST
IDENT = schema.Ident(b"conform\0", __version__.encode().ljust(12, b"\0"), bytes(16))
NOBODY = bytes(4)
LONGEST_GREETING_MS = 5_000.0


class Heard(NamedTuple):
    """A frame of the device. `at`: milliseconds; `message` None: a kind that is not known, or a short body."""

    at: float
    kind: int
    flags: int
    seq: int
    ack: int
    body: bytes
    message: Any


class Peer:
    """Speaks to the device on an open port. `heard` has every frame, `here` where the present session begins in it."""

    def __init__(self, port: Port) -> None:
        self.heard: list[Heard] = []
        self.here = 0
        self.alive = False
        self.stored = 0  # the `ack` of every frame sent
        self.highest = 0  # the newest event of the device that was heard, in order
        self.journal = b""
        self.damaged_sent = 0  # blocks sent that are no frames
        self.decoder = frame.Decoder()
        self.decoder.keyed = True  # to see that it is sealed
        self.longest = 0  # bytes of the longest block that the device sent since it first answered
        self._unjudged: dict[str, int] | None = None  # the decoder's counters when it first answered
        self._port = port
        self._block = 0
        self._seq = 0
        self._generation = 0
        self._nonce = b""
        self.last_sent = 0.0  # milliseconds

    def damage(self) -> dict[str, int]:
        """What was no frame of all that came since the device first answered this host; by name, see `frame.Decoder`.

        What came before may have waited, cut off where a buffer was full, in the port, an adapter or the device. Only
        an answer shows that it is through.
        """
        before = self._unjudged
        if before is None:
            return {}
        return {
            name: n - before[name] for name, n in self.decoder.count.items() if name != "frames" and n > before[name]
        }

    def judge_from_here(self) -> None:
        """What came until now is not judged by `damage` and `longest`."""
        self._unjudged = dict(self.decoder.count)
        self.longest = 0

    # ---- out

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._port.write(data)
        self.last_sent = now()

    def send(self, kind: int, body: bytes = b"", flags: int = 0, ack: int | None = None) -> None:
        """Send one frame of the host's."""
        self._seq = (self._seq + 1) & 0xFFFF
        self.raw(frame.encode(kind | MINE, flags, self._seq, self.stored if ack is None else ack, body))

    def say(self, message: Any, flags: int = 0) -> None:
        """Send a message."""
        self.send(schema.KIND_OF[type(message)], schema.pack(message), flags)

    def signal(self, generation: int | None = None, signal: int = schema.SIGNAL_READY) -> schema.Signal:
        """A SIGNAL with the next generation, or this one. Not sent."""
        if generation is None:
            self._generation = self._generation % 0x7000 + 1
            generation = self._generation
        return schema.Signal(generation, signal, schema.REASON_NONE, schema.MODE_SUPERVISED)

    def greet(self, answers: bytes = NOBODY, resume: int = 0, journal: bytes = NOBODY, **other: Any) -> None:
        """HELLO with this end's nonce, and IDENT. `other`: fields of HELLO that are not as they should be."""
        hello = schema.Hello(
            schema.MAJOR, schema.MINOR, schema.SCHEMA, journal, bytes(4), 0, 0, resume, 256, self._nonce, answers
        )
        self.say(hello._replace(**other), schema.FLAG_ASK)
        self.say(IDENT)

    # ---- in

    def listen(self, ms: float) -> list[Heard]:
        """Listen for so long; what was heard meanwhile."""
        begun = len(self.heard)
        self._turn(now() + ms, lambda: False)
        return self.heard[begun:]

    def wait(self, ms: float, match: Callable[[Heard], bool], since: int | None = None) -> Heard | None:
        """The first frame from index `since` (default: from now) that matches, None after `ms`."""
        place = len(self.heard) if since is None else since
        found: list[Heard] = []

        def there() -> bool:
            nonlocal place
            while place < len(self.heard) and not found:
                if match(self.heard[place]):
                    found.append(self.heard[place])
                place += 1
            return bool(found)

        self._turn(now() + ms, there)
        return found[0] if found else None

    def _turn(self, until: float, done: Callable[[], bool]) -> None:
        while not done():
            at = now()
            if at >= until:
                return
            left = until - at
            if self.alive:
                left = min(left, max(0.0, self.last_sent + PING_MS - at))
            self._port.wait(left / 1_000, None)
            self._take(self._port.read())
            if self.alive and now() - self.last_sent >= PING_MS:
                self.say(schema.Ping(stamp()))

    def _take(self, data: bytes) -> None:
        for byte in data:
            self._block = self._block + 1 if byte else 0
            self.longest = max(self.longest, self._block)
        for kind, flags, seq, ack, body in self.decoder.feed(data):
            plain = schema.known(kind, False)
            message = None
            if plain and len(body) >= schema.MINIMUM[plain]:
                message = schema.unpack(plain, body)
            if kind & schema.RELIABLE and not kind & MINE:
                number = frame.extend(seq, self.highest + 1)
                if number == self.highest + 1:
                    self.highest = number
            if flags & schema.FLAG_AUTH:
                self._sealed()
            if self._unjudged is None and isinstance(message, schema.Hello) and message.answers == self._nonce[:4]:
                self.judge_from_here()
            self.heard.append(Heard(now(), kind, flags, seq, ack, body, message))

    def _sealed(self) -> None:
        raise UserError(
            "the device seals what it says, it has a key",
            "it is enrolled with a host",
            "test it before it is enrolled: conform speaks without a key",
        )

    # ---- sessions

    def hello(self, ms: float = 1_500.0, since: int | None = None) -> Heard | None:
        """The next HELLO of the device."""
        return self.wait(ms, lambda heard: isinstance(heard.message, schema.Hello), since)

    def renew(self) -> None:
        """Take a fresh nonce: what comes now is another session."""
        self._nonce = os.urandom(8)
        self.here = len(self.heard)

    def answered(self, ms: float = LONGEST_GREETING_MS, **other: Any) -> schema.Hello | None:
        """Greet until a HELLO answers the present nonce; None when none does in time. `other`: as of `greet`."""
        until = now() + ms
        place = len(self.heard)
        while now() < until:
            self.greet(**other)
            heard = self.wait(
                250.0, lambda h: isinstance(h.message, schema.Hello) and h.message.answers == self._nonce[:4], place
            )
            if heard is not None:
                hello: schema.Hello = heard.message
                return hello
        return None

    def connect(self, *, store: bool = True, **other: Any) -> schema.Hello | None:
        """A new session, up; None when the device does not come up. `store`: all that was heard counts as stored.

        `other`: as of `greet`.
        """
        self.alive = False
        self.renew()
        hello = self.answered(**other)
        if hello is None:
            return None
        if hello.journal != self.journal:  # first met, or it lost its memory
            self.journal = hello.journal
            self.stored = self.highest = frame.extend(hello.oldest, hello.next) - 1
        if store:
            self.stored = self.highest
        self.highest = self.stored
        self.greet(hello.nonce[:4], self.stored + 1, hello.journal, **other)
        if self.ping(2_000.0) is None:
            return None
        self.alive = True
        return hello

    def ping(self, ms: float = 500.0) -> schema.Pong | None:
        """PING until a PONG brings one of the stamps back: the device is up. None: it is not."""
        until = now() + ms
        place, marks = len(self.heard), set[bytes]()  # the answer to an earlier PING may come behind a later one
        while now() < until:
            marks.add(mark := stamp())
            self.say(schema.Ping(mark))
            heard = self.wait(60.0, lambda h: isinstance(h.message, schema.Pong) and h.message.ping in marks, place)
            if heard is not None:
                pong: schema.Pong = heard.message
                return pong
        return None

    def confirmed(self, kind: int, generation: int, ms: float = 500.0, since: int | None = None) -> bool:
        """Does an ACK of the device name this kind and generation?"""
        wanted = schema.Ack(kind, generation)
        return self.wait(ms, lambda heard: heard.message == wanted, since) is not None


def now() -> float:
    """Milliseconds of the monotonic clock."""
    return time.monotonic_ns() / 1e6


def stamp() -> bytes:
    """This end's microsecond clock, as PING carries it."""
    return schema.word(time.monotonic_ns() // 1_000 & 0xFFFFFFFF)
