"""The tag as second witness: which card passed where the heads could not say, and whether both agree. For the loop.

While a card is between the slots the reader asks again and again, in a rest ten times a second. A tag belongs to a card
if it alone answered, always the same one, and only to requests that began while this card was in the throat; and if in
the rest before nobody answered, or the reader reaches as far as the stack, and a tag says nothing of the card that
leaves. What the heads have read for certain (face down, no cell put right, one card) teaches the table a pair of which
neither half is known. A pair that contradicts it is a FAULT TAG, and what the heads have read counts; the pair that
was known tells no card any more, and is learned anew when the shoe is switched on again. A card that they could not
read is told by its tag if the table knows it.

No UID leaves this shoe: no event, light or word has one. Nothing here allocates while a card passes.
"""

from drivers.pn5180 import NOBODY, ONE, SEVERAL
from shoe.cardcode import CARDS, READ
from shoe.sampleclock import PER_MS, since
from shoelink import schema

MANY, AT_REST, CONTRADICTS = 1, 2, 3  # detail of FAULT TAG
EVERY = 100 * PER_MS  # samples between two requests in a rest
SURE = 3  # looks in a rest that found somebody
AWAY = 20 * PER_MS  # samples behind a card: by then it is out of the field
UNANSWERED = 20  # requests, 120 ms, with a card in the throat: the field is switched off and on
CALM = 5000 * PER_MS  # a fault is over so long after it was last seen
LOOKS = 1000  # of the loop: by then a reader of which nothing is known is not waited for
_HALF = 1 << 29  # samples: a request is older than the passage, or the rest


class Tags:
    """`reader` is a `drivers.pn5180.Pn5180`, `table` the TagTable; `events` asks `passed` and is told of faults."""

    def __init__(self, reader, table, events):
        self.reader = reader
        self._table = table
        self._events = events
        events.tags = self
        self._number = reader.inventories
        self._looks = 0
        self._passing = False
        self._begun = 0  # the sample from which on a tag is this card's, or of this rest
        self._reads = 0
        self._uid = bytearray(8)
        self._many = False
        self._unanswered = 0
        self._at_rest = 0  # looks in a row that found somebody
        self._asked_at = 0
        self._odd = 0  # of the last cards: MANY or CONTRADICTS, until one is as it should be
        self._odd_at = 0
        self._bad_at = -1  # the reader was last out of order
        self._wrong = -1  # a card whose pair is to be dropped
        self._new = -1  # a card whose tag is to be kept,
        self._new_uid = bytearray(8)  # and which that is

    # ---- in every turn of the loop

    def look(self, now: int, idle: bool, steps: int) -> None:
        """Go on by so many steps of 0.3 ms; `idle`: no card is in the throat. At sample index `now`."""
        if idle == self._passing:
            self._passing = not idle
            self._begin(now)
        reader = self.reader
        for _ in range(steps):
            if reader.ready:
                if idle and since(now, self._asked_at) < EVERY:
                    break
                self._ask(now)
            reader.step(now)
            if reader.inventories != self._number:
                self._number = reader.inventories
                self._hear()
        if reader.trouble:
            self._bad_at = now

    def _ask(self, now: int) -> None:
        self._asked_at = now
        if self._unanswered >= UNANSWERED:
            self._unanswered = 0
            self.reader.cycle()
        else:
            self.reader.ask()

    def _begin(self, at: int) -> None:
        self._begun = at
        self._reads = self._unanswered = 0
        self._many = False

    def _hear(self) -> None:
        """What the reader has found."""
        reader = self.reader
        found = reader.found
        waited = since(reader.asked, self._begun)
        if waited >= _HALF:
            return
        if not self._passing:
            if waited >= AWAY:
                self._at_rest = 0 if found == NOBODY else min(self._at_rest + 1, SURE)
            return
        if found == NOBODY:
            self._unanswered += 1
            return
        self._unanswered = 0
        if found == SEVERAL:
            self._many = True
        elif found == ONE:
            if not self._reads:
                self._uid[:] = reader.uid
            elif self._uid != reader.uid:
                self._many = True
            self._reads += 1

    # ---- when a card has left

    def passed(self, reading, down: bool, double: bool, at: int) -> int:
        """A card has left at sample `at`; `reading` is what the heads saw, `down`: of its face, from below. The place
        (table.py) that its tag tells of one that they could not read; -1: nothing."""
        read = reading.result == READ
        alone = self._reads > 0 and not self._many and not self._at_rest and not self.reader.trouble
        many = self._many and not double
        self._begin(at)
        if many:
            self._note(MANY, at)
        if not alone or double or (read and reading.card >= CARDS):
            return -1
        known = self._table.place_of(self._uid)
        if not read:
            return known if known >= 0 and self._table.trusts(known) else -1
        place = reading.deck * CARDS + reading.card
        if known == place:
            self._odd = 0
        elif known >= 0 or self._table.has(place):
            self._wrong = known if known >= 0 else place
            self._table.distrust(self._wrong)
            self._note(CONTRADICTS, at)
        elif down and not reading.erasures:
            self._odd = 0
            self._new = place
            self._new_uid[:] = self._uid
        return -1

    def _note(self, odd: int, at: int) -> None:
        self._odd = odd
        self._odd_at = at

    # ---- what the loop asks of whatever is on these pins, as of the seat bus

    @property
    def met(self) -> bool:
        """The reader has started, or is known not to."""
        return self.reader.started or self.reader.trouble != 0 or self._looks >= LOOKS

    def turn(self, now: int, still: bool) -> None:
        """Tell of faults, and keep what was learned if no card moves (`still`): that takes 1 ms."""
        if not self.met:
            self._looks += 1
        if still and self._wrong >= 0:
            self._table.drop(self._wrong)
            self._wrong = -1
        elif still and self._new >= 0:
            self._keep()
        odd = self._odd
        if self._at_rest >= SURE:
            odd = AT_REST
            self._odd_at = now
        self._say(schema.FAULT_TAG, odd, self._odd_at, now)
        self._say(schema.FAULT_READER, self.reader.trouble, self._bad_at, now)

    def _say(self, code: int, detail: int, bad_at: int, now: int) -> None:
        if detail:
            self._events.fault(code, detail, now)
        elif since(now, bad_at) >= CALM:
            self._events.clear(code, 0, now)

    def _keep(self) -> None:
        """The same tag may have been kept for another card since."""
        if self._table.place_of(self._new_uid) < 0 and not self._table.has(self._new):
            self._table.learn(self._new, self._new_uid)
        self._new = -1

    def settle(self) -> None:
        """A person sets the shoe up: the deck may be another."""
        self._table.forget()
        self._odd = 0
        self._wrong = self._new = -1
