"""The shoe's key: kept in a file, and written by enrolment, a state with nothing in it but that. For main.py.

The shoe enrols only when it was switched on with its floor key held down. Then it speaks without a key, reports no
cards, and takes the key that a host sends; at any other time a host that sends one is told that enrolment is closed.
"""

import os

from shoelink import notice, schema
from shoelink.seal import KEY
from shoelink.timing import elapsed

from shoe.signals import LAMPS, MAGENTA

FILE = "device.key"
HELD = 4  # readings, 5 ms apart: a press that only begins does not count
LEAVE_MS = 300  # after the key is kept: time for the answer to get out
PATIENCE_MS = 300000  # then the shoe starts again as it was
_ROOM = 256  # bytes taken from the UART in a turn


def read_key():
    """The shoe's 32 bytes, None if it was never enrolled."""
    try:
        with open(FILE, "rb") as file:
            key = file.read()
    except OSError:
        return None
    # A file that was damaged must not make the shoe speak to anyone: a key that nobody has, until it is enrolled again.
    return key if len(key) == KEY else os.urandom(KEY)


def write_key(key) -> bool:
    """Keep a key, whole or not at all (a rename is one step on littlefs). Whether that went well."""
    try:
        with open(FILE + ".new", "wb") as file:
            file.write(key)
        os.rename(FILE + ".new", FILE)
    except OSError:
        return False
    return True


def is_held(adc, level: int, tolerance: int, wait) -> bool:
    """Whether the key of this ladder `level` is down; `wait` lets 5 ms pass."""
    for _ in range(HELD):
        if not -tolerance <= adc.read_u16() - level <= tolerance:
            return False
        wait()
    return True


class Enrolment:
    """The state. `uart` and `bar` are the board's, `link` a shoe's Link without a key; `now` is `ticks_ms`."""

    def __init__(self, uart, bar, link, now: int):
        self._uart = uart
        self._link = link
        self._began = now
        self._done = False
        self._ends = PATIENCE_MS
        self._in = bytearray(_ROOM)
        bar.show((1 << LAMPS) - 1, MAGENTA)

    def turn(self, now: int) -> bool:
        """One turn of the loop; True when the shoe is to start again."""
        link = self._link
        if self._uart.any():
            n = self._uart.readinto(self._in)
            if n:
                self._heed(link.receive(memoryview(self._in)[:n], now), now)
        link.poll(now)
        if link.ready:
            link.taken(self._uart.write(memoryview(link.out)[: link.ready]) or 0)
        return elapsed(now, self._began) >= self._ends

    def _heed(self, notices, now: int) -> None:
        for told in notices:
            kind = type(told)
            if kind is notice.Delivered and told.kind == schema.ENROLL:
                self._take(told.message.secret, now)

    def _take(self, secret, now: int) -> None:
        """Keep the key. The host repeats until it is answered; the first one counts."""
        if not self._done:
            self._done = write_key(secret)
            if self._done:
                self._began = now
                self._ends = LEAVE_MS
        result = schema.ENROLLED_WRITTEN if self._done else schema.ENROLLED_FAILED
        self._link.send(schema.Enrolled(result), now)
