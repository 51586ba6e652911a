"""The shoe's journal in FRAM: events, their numbers and the journal's id outlive the power. For main.py and the link.

An event is written to the FRAM and read back before it has a number, so nothing is sent that a power cut could take
away. A copy in RAM serves the link. Where things are (all little-endian; CRC-32 as in a frame):

    0000, 0020   head, two copies written in turn: "DSJ1" | id 4 | oldest u32 | turn u32 | CRC
    0040 … 00BF  calibration (calibration.py)      00C0 … 00DF  the self-test writes here (selftest.py)
    00E0 … 00F5  note: the hand in play: its number u16 | its secret 16 | CRC
    00F8 … 00FD  note: the places that have a seat node, a bit each (node/talk.py): u16 | CRC
    0100 …       514 records of 38 bytes: id 4 | number u32 | kind | length | body 24 | CRC; number n in slot n % 514
    5000 …       with a reader of tags: which card which tag is stuck in (rfid/table.py)

A power cut in a record leaves one that fails its CRC, where a released event stood: as if the new one had never
happened, and it was never sent. A cut in a head leaves the other, which says that a few released events are still held:
they are sent again, and the host knows their numbers.
"""

from shoelink import schema
from shoelink.frame import copy, crc_into
from shoelink.journal import Journal

HEADS = (0x0000, 0x0020)
HAND = 0x00E0
NODES = 0x00F8
RING = 0x0100
_MAGIC = b"DSJ1"
_HEAD = 20
_SECRET = 16  # shoelink/tokens.py
_RECORD = 14 + schema.EVENT
_SLOT = 2 + schema.EVENT  # of the copy in RAM
CAPACITY = 512
_AT_ONCE = 8  # records read in a transfer, of 3.2 ms (drivers/fram.py)
_FLAGS = 17  # where they are in the body of CARD

GOOD, ABSENT, FAILED, DAMAGED = 0, 1, 2, 3  # detail of FAULT FRAM


class KeptJournal(Journal):
    """`memory` is a `drivers.fram.Fram`, `entropy(n)` gives n random bytes. Begun with what the FRAM holds.

    Without an FRAM that answers (`trouble` ABSENT) this is a journal in RAM. One that fails while the shoe is on
    (FAILED) stays as it is, and so does its journal: what comes after belongs to a new one in RAM, with a new id, which
    begins when the host has stored what is in the old and the owner asks for it (`begin_anew`): a session that goes on
    would take its numbers for those of the old. DAMAGED: events were lost in it; the host sees by the numbers which.
    """

    def __init__(self, memory, entropy, capacity: int = CAPACITY, buffer=None):
        Journal.__init__(self, entropy(4), capacity, buffer)
        self.trouble = GOOD
        self.kept = False  # events go to the FRAM
        self.present = bytearray(self._slots)  # 1: the FRAM had a whole record in this slot at the start
        self._memory = memory
        self._entropy = entropy
        self._shift = 0  # the RAM's slot of a number is that of number + shift
        self._old = False  # `id` is still that of the journal in the FRAM
        self._behind = 0  # events of the new journal that wait for the old one to be stored
        self._turn = 0
        self._record = bytearray(2 + _RECORD)
        self._head = bytearray(2 + _HEAD)
        self._back = bytearray(2 + _RECORD)
        self._head_back = bytearray(2 + _HEAD)
        self._record_view = memoryview(self._back)[2:]
        self._head_view = memoryview(self._head_back)[2:]
        try:
            self._begin()
        except OSError:  # what was read until then counts for nothing
            self.trouble = ABSENT
            self.kept = self._old = False
            self.id = entropy(4)
            self.oldest = self.next = 1

    # ---- the journal's methods (shoelink/journal.py)

    def held(self) -> int:
        return self.next - self.oldest + self._behind

    def open(self, kind: int, length: int, reserve: bool = False) -> int:
        if self.held() >= (self._slots if reserve else self.capacity):
            return -1
        at = self._at(self.next + self._behind)
        self.buffer[at - 2] = kind
        self.buffer[at - 1] = length
        return at

    def close(self) -> int:
        number = self.next + self._behind
        if self.kept and not self._keep(number):
            self._fail()
        if self.kept or not self._old:
            self.next = number + 1
        else:
            self._behind += 1
        self.peak = max(self.peak, self.held())
        return number

    def load(self, number: int) -> int:
        return self._at(number)

    def length(self, number: int) -> int:
        return self.buffer[self._at(number) - 1]

    def release(self, number: int) -> None:
        before = self.oldest
        Journal.release(self, number)
        if self.oldest != before and self.kept and not self._keep_head():
            self._fail()

    # ---- the notes beside the ring: the hand in play, the seat nodes

    def keep_hand(self, hand: int, secret) -> None:
        """A hand has begun, and this is its secret (none: an open table)."""
        if len(secret) == _SECRET:
            self._keep_note(HAND, hand, secret)

    def secret_of(self, hand: int) -> bytes:
        """The secret of that hand, if it is the one that was kept."""
        number, secret = self._note(HAND, _SECRET)
        return secret if number == hand else b""

    def keep_nodes(self, nodes: int) -> None:
        """The places that have a seat node, a bit each: told of when the power comes on again."""
        self._keep_note(NODES, nodes, b"")

    def nodes(self) -> int:
        """What `keep_nodes` has kept; 0: nothing, or nothing whole."""
        return self._note(NODES, 0)[0] if self.kept else 0

    def _keep_note(self, at: int, number: int, content) -> None:
        if not self.kept:
            return
        size = 2 + len(content)
        message = bytearray(2 + size + 4)
        message[0] = at >> 8
        message[1] = at & 0xFF
        message[2] = number & 0xFF
        message[3] = number >> 8
        message[4 : 2 + size] = content
        crc_into(message, 2, size, message, 2 + size)
        back = bytearray(2 + size + 4)
        if not self._write(message, back, memoryview(back)[2:]):
            self._fail()

    def _note(self, at: int, length: int):
        """(number, content of `length` bytes) that `_keep_note` has kept there; (0, b""): nothing, or nothing whole."""
        size = 2 + length
        note, crc = bytearray(size + 4), bytearray(4)
        try:
            self._memory.read_into(at, note)
        except OSError:
            return 0, b""
        crc_into(note, 0, size, crc, 0)
        return (note[0] | note[1] << 8, bytes(note[2:size])) if note[size:] == crc else (0, b"")

    def last_hand(self):
        """(hand, draw) of the last events that the FRAM had at the start, stored by the host or not; (0, 0): none."""
        hand = draw = 0
        for number in range(max(1, self.next - self._slots), self.next):
            if not self.present[number % self._slots]:
                continue
            at = self.load(number)
            kind = self.buffer[at - 2]
            if kind not in (schema.CARD, schema.CARD_BACK, schema.KEY, schema.COMMIT):
                continue
            said = self.buffer[at] | self.buffer[at + 1] << 8  # all of them begin with the hand
            if kind == schema.COMMIT or said != hand:
                hand, draw = said, draw if said == hand else 0
            if kind == schema.CARD:
                double = self.buffer[at + _FLAGS] & schema.CARD_DOUBLE
                draw = (self.buffer[at + 2] | self.buffer[at + 3] << 8) + (1 if double else 0)
            elif kind == schema.CARD_BACK and self.buffer[at + 2] | self.buffer[at + 3] << 8 == draw:
                draw = max(draw - 1, 0)
        return hand, draw

    # ---- when the memory fails

    def _fail(self) -> None:
        self.kept = False
        self.trouble = FAILED

    def begin_anew(self) -> bool:
        """Whether the new journal, with number 1, begins now: the host has stored all of one that failed. Its owner
        greets anew at once."""
        if not self._old or self.kept or self.oldest != self.next:
            return False
        self._old = False
        self._shift += self.next - 1
        self.id = self._entropy(4)
        self.oldest = 1
        self.next = 1 + self._behind
        self._behind = 0
        return True

    # ---- the memory

    def _at(self, number: int) -> int:
        return ((number + self._shift) % self._slots) * _SLOT + 2

    def _keep(self, number: int) -> bool:
        """Write the event and read it back; False: it is not in the FRAM."""
        record = self._record
        slot = number % self._slots
        at = RING + slot * _RECORD
        record[0] = at >> 8
        record[1] = at & 0xFF
        copy(record, 2, self.id, 0, 4)
        _put(record, 6, number)
        copy(record, 10, self.buffer, slot * _SLOT, _SLOT)
        crc_into(record, 2, _RECORD - 4, record, 2 + _RECORD - 4)
        if self._write(record, self._back, self._record_view):
            return True
        _put(record, 2, 0)  # it may be there and only not read well: the new journal will have it, so not this one
        try:
            self._memory.write(record)
        except OSError:
            pass
        return False

    def _keep_head(self) -> bool:
        self._turn += 1
        head = self._head
        at = HEADS[self._turn & 1]
        head[0] = at >> 8
        head[1] = at & 0xFF
        copy(head, 2, _MAGIC, 0, 4)
        copy(head, 6, self.id, 0, 4)
        _put(head, 10, self.oldest)
        _put(head, 14, self._turn)
        crc_into(head, 2, _HEAD - 4, head, 2 + _HEAD - 4)
        return self._write(head, self._head_back, self._head_view)

    def _write(self, message, back, view) -> bool:
        """Twice at most: a part that was left in the middle of a byte answers after `recover`."""
        for _ in range(2):
            try:
                self._memory.write(message)
                back[0] = message[0]
                back[1] = message[1]
                self._memory.read_into(message[0] << 8 | message[1], view)
                if back == message:
                    return True
            except OSError:
                pass
            self._memory.recover()
        return False

    def _is_another(self) -> bool:
        """Whether the part says twice that it is another one. Who says nothing may be ours: the self-test tells."""
        try:
            for _ in range(2):
                if self._memory.device_id() == self._memory.DEVICE_ID:
                    return False
        except OSError:
            return False
        return True

    def _begin(self) -> None:
        """Go on from what the FRAM holds; a blank one gets a journal."""
        if self._is_another():
            raise OSError  # of another size, its ring would run over its heads
        best = -1
        blank = True
        for at in HEADS + HEADS:  # read twice: what is not read well now would be written over
            self._memory.read_into(at, self._head_view)
            for byte in self._head_view:
                if byte not in (0x00, 0xFF):
                    blank = False
            head = self._head_back
            crc_into(head, 2, _HEAD - 4, self._head, 0)
            if head[2:6] == _MAGIC and head[_HEAD - 2 :] == self._head[:4]:
                turn = _get(head, 14)
                if turn > best:
                    best = turn
                    self.id = bytes(head[6:10])
                    self.oldest = _get(head, 10)
        if best < 0:
            self.oldest = self.next = 1
            self._turn = 0
            if not blank:
                self.trouble = DAMAGED
            self.kept = self._keep_head() and self._keep_head()
        else:
            self._turn = best
            self._gather()
            self.kept = self._keep_head()
        if self.kept:
            self._old = True
        else:
            self.trouble = FAILED
            self._old = best >= 0
            self.begin_anew()  # nobody has been greeted yet

    def _gather(self) -> None:
        """Take the records over into RAM; one that is missing is read a second time. A hole among those that the head
        does not call released is damage: what lies before it is given up."""
        highest = self.oldest - 1
        numbers = [0] * self._slots
        records = bytearray(_AT_ONCE * _RECORD)
        for first in range(0, self._slots, _AT_ONCE):
            count = min(_AT_ONCE, self._slots - first)
            self._memory.read_into(RING + first * _RECORD, memoryview(records)[: count * _RECORD])
            for slot in range(first, first + count):
                numbers[slot] = self._take(records, (slot - first) * _RECORD, slot)
                highest = max(highest, numbers[slot])
        while self._take_again(highest + 1):
            highest += 1
            numbers[highest % self._slots] = highest
        self.next = highest + 1
        for slot in range(self._slots):
            self.present[slot] = 1 if numbers[slot] > max(0, highest - self._slots) else 0
        for number in range(max(self.oldest, self.next - self._slots), self.next):
            if not self.present[number % self._slots]:
                if self._take_again(number):
                    self.present[number % self._slots] = 1
                else:
                    self.oldest = number + 1
                    self.trouble = DAMAGED
        self.peak = self.held()

    def _take(self, records, at: int, slot: int) -> int:
        """The number of a record of this journal that stood in this slot, which is in RAM now; 0: it is none."""
        if records[at : at + 4] != self.id:
            return 0
        crc_into(records, at, _RECORD - 4, self._record, 0)
        number = _get(records, at + 4)
        if number % self._slots != slot or records[at + _RECORD - 4 : at + _RECORD] != self._record[:4]:
            return 0
        copy(self.buffer, slot * _SLOT, records, at + 8, _SLOT)
        return number

    def _take_again(self, number: int) -> bool:
        """Whether this record is there at a second look."""
        slot = number % self._slots
        self._memory.read_into(RING + slot * _RECORD, self._record_view)
        return self._take(self._back, 2, slot) == number


def _put(buffer, at: int, number: int) -> None:
    for i in range(4):
        buffer[at + i] = number & 0xFF
        number >>= 8


def _get(buffer, at: int) -> int:
    return buffer[at] | buffer[at + 1] << 8 | buffer[at + 2] << 16 | buffer[at + 3] << 24
