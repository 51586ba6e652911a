"""Which card which tag is stuck in, kept in FRAM: learned by the shoe, never overwritten; dropped where it is
contradicted. For rfid/tags.py.

A tag is its UID of eight bytes, a card its place: deck × 54 + card. Where things are (little-endian; CRC-32 as in a
frame), behind the journal's ring (shoe/kept.py):

    5000 … 5009  head: "DST1" | generation u16 | CRC
    5010 … 5D8F  216 records of 16 bytes, one a place: UID 8 | generation u16 | place u16 | CRC

A record of another generation is forgotten: to forget all is to write the head. A power cut in a record leaves one that
fails its CRC, as if the pair had not been learned; one in the head leaves none, and the table begins with a generation
above all that are there.
"""

from shoe.cardcode import CARDS
from shoelink.frame import crc_into

DECKS = 4
PLACES = DECKS * CARDS
HEAD = 0x5000
FIRST = 0x5010
RECORD = 16
_MAGIC = b"DST1"
_HEAD = 10
_AT_ONCE = 18  # records read in a transfer, of 3.0 ms (drivers/fram.py: 4 at most)
_HASHES = 0x1FF


class TagTable:
    """`memory` is a `drivers.fram.Fram`. Without one that answers the table is in RAM, until the power is cut."""

    def __init__(self, memory):
        self._memory = memory
        self._uids = bytearray(8 * PLACES)
        self._known = bytearray(PLACES)
        self._places = bytearray(_HASHES + 1)  # by hash: place + 1, or 0
        self._generation = 1
        self._kept = self._loads() or self._loads()  # else nothing is written over what could not be read

    def place_of(self, uid) -> int:
        """The card that this tag is stuck in; -1: not known. Allocates nothing."""
        uids, places = self._uids, self._places
        at = _hash(uid)
        while places[at]:
            place = places[at] - 1
            i = 0
            while i < 8 and uids[8 * place + i] == uid[i]:
                i += 1
            if i == 8:
                return place
            at = at + 1 & _HASHES
        return -1

    def has(self, place: int) -> bool:
        """Whether this card's tag is known."""
        return self._known[place] != 0

    def trusts(self, place: int) -> bool:
        """Whether this card's pair has not been contradicted since the shoe was switched on."""
        return self._known[place] == 1

    def distrust(self, place: int) -> None:
        """One of this card's pair has been seen with another. Allocates nothing; `drop` forgets it."""
        self._known[place] = 2

    def drop(self, place: int) -> bool:
        """Learn this pair anew when the shoe is switched on again; whether the FRAM has forgotten it."""
        record = bytearray(2 + RECORD)  # zeros fail their CRC
        at = FIRST + RECORD * place
        record[0] = at >> 8
        record[1] = at & 0xFF
        return self._kept and self._write(record)

    def learn(self, place: int, uid) -> bool:
        """Keep a pair of which neither is known yet; whether the FRAM has it."""
        self._take(place, uid, 0)
        if not self._kept:
            return False
        record = bytearray(2 + RECORD)
        at = FIRST + RECORD * place
        record[0] = at >> 8
        record[1] = at & 0xFF
        record[2:10] = uid
        record[10] = self._generation & 0xFF
        record[11] = self._generation >> 8
        record[12] = place & 0xFF
        record[13] = place >> 8
        crc_into(record, 2, RECORD - 4, record, RECORD - 2)
        return self._write(record)

    def forget(self) -> None:
        """Another deck: all are to be learned anew."""
        self._uids = bytearray(8 * PLACES)
        self._known = bytearray(PLACES)
        self._places = bytearray(_HASHES + 1)
        self._generation = self._generation % 0xFFFF + 1
        if self._kept:
            self._write_head()

    def _take(self, place: int, uid, at: int) -> None:
        for i in range(8):
            self._uids[8 * place + i] = uid[at + i]
        self._known[place] = 1
        where = _hash(memoryview(self._uids)[8 * place :])
        while self._places[where]:
            where = where + 1 & _HASHES
        self._places[where] = place + 1

    def _write_head(self) -> bool:
        head = bytearray(2 + _HEAD)
        head[0] = HEAD >> 8
        head[1] = HEAD & 0xFF
        head[2:6] = _MAGIC
        head[6] = self._generation & 0xFF
        head[7] = self._generation >> 8
        crc_into(head, 2, _HEAD - 4, head, _HEAD - 2)
        return self._write(head)

    def _write(self, message) -> bool:
        """Write it and read it back."""
        back = bytearray(len(message) - 2)
        try:
            self._memory.write(message)
            self._memory.read_into(message[0] << 8 | message[1], back)
        except OSError:
            return False
        return back == message[2:]

    def _loads(self) -> bool:
        """Whether all could be read; that it could not, the journal says."""
        try:
            self._load()
        except OSError:
            return False
        return True

    def _load(self) -> None:
        head, crc = bytearray(_HEAD), bytearray(4)
        self._memory.read_into(HEAD, head)
        crc_into(head, 0, _HEAD - 4, crc, 0)
        whole = head[:4] == _MAGIC and head[_HEAD - 4 :] == crc
        if whole:
            self._generation = head[4] | head[5] << 8
        records = bytearray(_AT_ONCE * RECORD)
        highest = 0
        for first in range(0, PLACES, _AT_ONCE):
            self._memory.read_into(FIRST + first * RECORD, records)
            for at in range(0, len(records), RECORD):
                generation = records[at + 8] | records[at + 9] << 8
                if whole and generation != self._generation:
                    continue
                crc_into(records, at, RECORD - 4, crc, 0)
                if records[at + RECORD - 4 : at + RECORD] != crc:
                    continue
                highest = max(highest, generation)
                place = records[at + 10] | records[at + 11] << 8
                if whole and place == first + at // RECORD:
                    self._take(place, records, at)
        if not whole:
            self._generation = highest % 0xFFFF + 1
            self._write_head()


def _hash(uid) -> int:
    """Of the number that a maker counts on with, the low bytes."""
    return (uid[0] ^ uid[1] << 3 ^ uid[2] << 5) & _HASHES
