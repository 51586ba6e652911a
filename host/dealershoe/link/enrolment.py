"""Giving a shoe its key, as a core: bytes and time in, bytes and a verdict out. For `dealershoe enroll`.

Two sessions. The first is without a key, to a shoe in its enrolment state: once the host has kept the key, ENROLL until
ENROLLED answers. The second is sealed with the new key, to the shoe that has started again: only when it is up has the
shoe kept what the host keeps.
"""

from __future__ import annotations

from collections.abc import Callable

from shoelink import notice, schema
from shoelink.link import Link
from shoelink.timing import elapsed

from dealershoe.errors import UserError
from dealershoe.link.codec import Decoder

AGAIN_MS = 250  # between two ENROLLs


def _closed() -> UserError:
    return UserError(
        "the shoe does not take a key",
        "it was not switched on with its floor key held down",
        "hold the floor key, switch it off and on, let go when all lamps are magenta, and enroll again",
    )


class Enrolment:
    """One enrolment. `now` is in milliseconds of the link's 30-bit clock."""

    def __init__(self, ident: schema.Ident, entropy: Callable[[int], bytes], key: bytes, now: int) -> None:
        self._ident = ident
        self._entropy = entropy
        self.key = key
        self.device = b""  # of the shoe, when it has said it
        self.kept = b""  # the device whose key the host has on its disk: no other one is given it
        self.given = False  # the shoe may have the key
        self.written = False  # the shoe says that it has kept the key
        self.done = False  # and has proven it
        self._asked = False
        self._asked_at = now
        self._link = self._begin({}, now)

    def received(self, data: bytes, now: int) -> None:
        """Bytes from the shoe. Raises UserError when it will not come to an enrolment."""
        for told in self._link.receive(data, now):
            self._heed(told, now)

    def turn(self, now: int) -> bytes:
        """Run the timers; returns the bytes to send. Raises UserError."""
        due = not self._asked or elapsed(now, self._asked_at) >= AGAIN_MS
        if self._link.up and not self.written and due and self.kept == self.device:
            self._asked = self.given = True
            self._asked_at = now
            self._link.send(schema.Enroll(self.key), now)
        for told in self._link.poll(now):
            self._heed(told, now)
        return self._link.take()

    def _begin(self, keys: dict[bytes, bytes], now: int) -> Link:
        link = Link(schema.HOST, self._ident, self._entropy, decoder=Decoder(), keys=keys)
        link.start(now)
        return link

    def _meet(self, device: bytes) -> None:
        if self.given and device != self.device:
            raise UserError(
                "another shoe is on the line than the one that was given a key",
                "they were changed over",
                "put the first one back, and have one shoe on the line",
            )
        self.device = device

    def _prove(self, now: int) -> None:
        if not self.written:
            self.written = True
            self._link = self._begin({self.device: self.key}, now)

    def _heed(self, told: notice.Notice, now: int) -> None:
        match told:
            case notice.Greeting():
                self._meet(bytes(told.ident.device))
                self._link.resume(0, now)  # nothing is stored here: what the shoe holds, it keeps for its bridge
            case notice.Delivered(message=schema.Enrolled(result=schema.ENROLLED_WRITTEN)):
                self._prove(now)
            case notice.Delivered(message=schema.Enrolled(result=schema.ENROLLED_FAILED)):
                self.given = False
                raise UserError("the shoe cannot keep a key", "its flash is full or worn out", "flash it again")
            case notice.Delivered(message=schema.Enrolled(result=schema.ENROLLED_CLOSED)):
                self.given = False
                raise _closed()
            case notice.LinkUp():
                self.done = self.written
            case notice.Refused(reason="key"):
                if not self._asked:  # it has a key already and is not in its enrolment state
                    raise _closed()
                self._prove(now)  # its answer may have been lost
            case notice.Refused():
                raise UserError("there is no session with this shoe", told.detail)
