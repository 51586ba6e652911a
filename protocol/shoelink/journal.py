"""The shoe's event journal in RAM: an event stays until the host says that it is stored, and is never overwritten."""

from shoelink import schema

_SLOT = 2 + schema.EVENT  # kind, length, body


class Journal:
    """Numbered events, the oldest `oldest`, the next to be given `next`; 64-bit numbers from 1.

    `id` is 4 random bytes that stay the same as long as the numbers go on: here, until the RAM is lost.
    A journal in FRAM has the same methods and keeps `id`, `oldest` and `next` across boots.
    """

    RESERVE = 2  # slots that only the link may use, to say that the journal is full

    def __init__(self, id: bytes, capacity: int = 256, buffer: "bytearray | None" = None) -> None:
        """`buffer`: 26 bytes for each event of the capacity and the reserve, where they have been put aside."""
        self.id = id
        self.capacity = capacity
        self.oldest = 1
        self.next = 1
        self.peak = 0  # most events ever held
        self.buffer = buffer if buffer is not None else bytearray((capacity + self.RESERVE) * _SLOT)
        self._slots = capacity + self.RESERVE

    def held(self) -> int:
        """Events that no host has stored yet."""
        return self.next - self.oldest

    def room(self) -> int:
        """Events that can be added; at most 0 when it is full."""
        return self.capacity - self.held()

    def open(self, kind: int, length: int, reserve: bool = False) -> int:
        """Begin an event and return where in `buffer` its body of `length` bytes goes, or -1: full. Then `close`."""
        if self.held() >= (self._slots if reserve else self.capacity):
            return -1
        at = (self.next % self._slots) * _SLOT
        self.buffer[at] = kind
        self.buffer[at + 1] = length
        return at + 2

    def close(self) -> int:
        """The event that was opened last is written: give it its number."""
        number = self.next
        self.next = number + 1
        self.peak = max(self.peak, self.held())
        return number

    def load(self, number: int) -> int:
        """Where in `buffer` the body of a held event is; its kind and length are the two bytes before."""
        return (number % self._slots) * _SLOT + 2

    def length(self, number: int) -> int:
        """Bytes of body of a held event."""
        return self.buffer[(number % self._slots) * _SLOT + 1]

    def release(self, number: int) -> None:
        """The host has stored everything up to `number`."""
        self.oldest = max(self.oldest, min(number + 1, self.next))


class Reporter:
    """The way into a journal: refuses events by name while it is full, and then says there how many are missing."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.refused = 0  # events in all
        self.missing = 0  # of these since the journal filled up; the condition stands while it is not 0

    def open(self, kind: int, length: int, stamp: bytes) -> int:
        """`Journal.open`, or -1: the journal is full. The first refusal leaves a FAULT with the time `stamp`."""
        at = -1 if self.missing else self.journal.open(kind, length)
        if at < 0:
            self.refused += 1
            self.missing += 1
            if self.missing == 1:
                self._add(schema.FAULT, schema.Fault(stamp, schema.FAULT_JOURNAL_FULL, 0))
        return at

    def reopen(self, stamp: bytes) -> int:
        """End the condition if there is room again, with a CLEAR. Returns how many events are missing there, else 0."""
        missing = self.missing
        if not missing or self.journal.room() < 2:  # for the CLEAR and the event after it
            return 0
        self._add(schema.CLEAR, schema.Clear(stamp, schema.FAULT_JOURNAL_FULL, min(missing, 0xFFFF)))
        self.missing = 0
        return missing

    def _add(self, kind: int, message: "schema.Fault | schema.Clear") -> None:
        at = self.journal.open(kind, schema.MINIMUM[kind], True)
        if at >= 0:
            schema.pack_into(self.journal.buffer, at, message)
            self.journal.close()
