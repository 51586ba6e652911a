"""Numbered events, go-back-N: `Sender` is the shoe's half, `Receiver` the host's. Neither knows frames or messages."""

from shoelink import schema
from shoelink.frame import extend
from shoelink.journal import Journal
from shoelink.timing import Rto, elapsed

WINDOW = 8  # frames in flight
# After a time-out: the oldest, and one behind it that brings a NAK if the oldest is lost again; then twice as many with
# each acknowledgement. A line that only stands still is not filled up with what it has already.
PROBE = 2
WINDOW_BYTES = 192  # bytes in flight: below the 256 bytes of a USB CDC FIFO, so that a write of the shoe never blocks
_OVERHEAD = 3 + schema.HEADER + schema.CRC  # bytes on the wire beside the body and the tag

NEW, DUPLICATE, GAP = 0, 1, 2


class Sender:
    """Which journalled event goes out next. Everything before `journal.oldest` is released."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.rto = Rto()
        self.resent = 0
        self.overhead = _OVERHEAD  # bytes on the wire beside the body
        self._next = journal.oldest  # to send next
        self._top = journal.oldest  # all below were sent in this session
        self._window = WINDOW_BYTES
        self._bytes = 0  # on the wire for oldest .. _next - 1
        self._timer = 0  # tick since which the oldest one waits
        self._timed = 0  # the event whose round trip is measured, 0: none
        self._timed_at = 0
        self._limit = WINDOW  # frames in flight; fewer after a time-out

    def resume(self, next: int, room: int, tag: int) -> bool:
        """The host has stored everything below `next` and can take `room` bytes; begin there, with `tag` bytes a frame.

        False: a number this journal cannot know.
        """
        journal = self.journal
        if not journal.oldest <= next <= journal.next:
            return False
        journal.release(next - 1)
        self.rto = Rto()
        self.overhead = _OVERHEAD + tag
        self._next = self._top = journal.oldest
        self._window = min(WINDOW_BYTES, max(room, schema.FRAME))
        self._bytes = self._timed = 0
        self._limit = WINDOW
        return True

    def ready(self) -> int:
        """The event to send now, 0: none or the window is full."""
        journal = self.journal
        number = self._next
        if number >= journal.next or number - journal.oldest >= self._limit:
            return 0
        if self._bytes + journal.length(number) + self.overhead > self._window:
            return 0
        return number

    def sent(self, number: int, now: int) -> None:
        """Event `number`, which `ready` gave, is on its way."""
        if number == self.journal.oldest:
            self._timer = now
        if number < self._top:
            self.resent += 1
        else:
            self._top = number + 1
            if not self._timed:
                self._timed = number
                self._timed_at = now
        self._bytes += self.journal.length(number) + self.overhead
        self._next = number + 1

    def acked(self, low: int, now: int) -> bool:
        """The host has stored everything up to the number with these low 16 bits. False: a number never sent."""
        journal = self.journal
        number = extend(low, journal.oldest - 1)
        if number >= self._top:
            return False
        if number < journal.oldest:
            return True
        if self._timed and number >= self._timed:
            self.rto.sample(elapsed(now, self._timed_at))
            self._timed = 0
        self.rto.progress()
        self._limit = min(WINDOW, 2 * self._limit)
        for stored in range(journal.oldest, min(number + 1, self._next)):
            self._bytes -= journal.length(stored) + self.overhead
        journal.release(number)
        self._next = max(self._next, journal.oldest)
        self._timer = now
        return True

    def back(self, low: int) -> None:
        """The host waits for the number with these low 16 bits: send again from there."""
        number = extend(low, self.journal.oldest)
        if self.journal.oldest <= number < self._next:
            self._limit = WINDOW
            self._back(number)

    def wait(self, now: int) -> int:
        """Milliseconds until the oldest event in flight must be repeated, -1: nothing is in flight."""
        if self._next == self.journal.oldest:
            return -1
        return max(0, self.rto.value - elapsed(now, self._timer))

    def expire(self, now: int) -> None:
        """Repeat everything in flight if the oldest has waited too long."""
        if self.wait(now) == 0:
            self.rto.expired()
            self._limit = PROBE
            self._back(self.journal.oldest)

    def _back(self, number: int) -> None:
        for again in range(number, self._next):
            self._bytes -= self.journal.length(again) + self.overhead
        self._next = number
        if number <= self._timed:
            self._timed = 0  # Karn's rule: a repeated frame says nothing about the round trip


class Receiver:
    """What has come in, in order, and how much of it is stored."""

    def __init__(self) -> None:
        self.expected = 1
        self.stored = 0
        self.low = -1  # the low 16 bits of `expected` while events are taken, else -1

    def resume(self, expected: int) -> None:
        """Begin with event `expected`; everything before it is stored."""
        self.expected = expected
        self.stored = expected - 1

    def open(self) -> None:
        """Take events from now on."""
        self.low = self.expected & 0xFFFF

    def close(self) -> None:
        """Take no more events."""
        self.low = -1

    def judge(self, low: int) -> int:
        """The number with these low 16 bits is expected (NEW), was here (DUPLICATE), or others are missing (GAP)."""
        number = extend(low, self.expected)
        if number == self.expected:
            return NEW
        return DUPLICATE if number < self.expected else GAP

    def take_to(self, number: int) -> bool:
        """All events below `number` were received in order. False: that is not news."""
        if number == self.expected:
            return False
        self.expected = number
        self.low = number & 0xFFFF
        return True

    def store(self, number: int) -> bool:
        """Everything up to `number` is stored. False: that is not news."""
        if not self.stored < number < self.expected:
            return False
        self.stored = number
        return True
