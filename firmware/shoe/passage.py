"""A card's way through the throat, from samples of pin levels: left, pulled back, stopped half out. For the main loop.

Fed with chunks of samples of any size; what it finds does not depend on the cuts. It tells a listener:

    left(passage)            a card has left the shoe: its trailing edge has passed the lip. `passage` has the facts
    back(passage)            a card went back into the shoe: `distance`, and whether it had left before (`had_left`)
    stopped(passage, slots)  a slot (bit 0 throat, bit 1 lip) has been blocked for 1.5 s and nothing moved
    moved(passage)           ... and now it does
    odd(passage, marks)      the slots went as for a card put in and taken out, and no whole code was seen
    missed(passage, slot)    most of a code went by while this slot (a bit as above) saw nothing: it is out of order,
                             and a card may have left uncounted
    dirty(passage, bits)     a head has been dark for 1 s with no card about; 0: light again

`passage.at` is the sample index of what is told. Geometry (mm from the throat slot): throat 0, heads 12, lip 24.
"""

from shoe.cardcode import CELLS, FEW, NOTHING, READ, UNREAD, Reading
from shoe.edges import new_out, new_state, scan
from shoe.sampleclock import MASK, PER_MS, SampleClock, since
from shoe.strip import Strip

CHUNK = 256  # samples looked at in one go

BOTTOM = 0x07  # bits of a sample: the bottom head's CLK, DATA, /DATA
TOP_SHIFT = 3
TOP = 0x18  # the top head's CLK, DATA
HEADS = BOTTOM | TOP
CLOCKS = 0x09
THROAT = 0x20
LIP = 0x40
SLOTS = THROAT | LIP
MOVES = SLOTS | CLOCKS

SLOTS_MM = 24  # throat to lip
TRAVEL_MM10 = 635  # a card's 63.5 mm
CELL_MM10 = 25  # 2.5 mm
TURNED_BACK_MM10 = TRAVEL_MM10 - 10 * SLOTS_MM  # trailing edge at the throat back to leading edge at the lip
LONG_MM, LONGEST_MM = 79, 140  # a passage without a code, timed: more than a card and a quarter, no more than two
STOPPED_AFTER = 1500 * PER_MS
DIRTY_AFTER = 1000 * PER_MS
TURNED_BACK = 9  # marks from the throat blocked again to the lip clear: a card going back shows 15 or 16 (from
# 42.25 mm of the code down to 2.75), a next card close behind one at most
MISSED = 14  # marks while only one slot is blocked: a card that does not reach the other shows 2 on its way, 4 there
# and back; one that leaves past a dead slot shows 17
MOST_SPEED = 65535

# Where the card is. The states after LEAVING are for what comes from outside.
EMPTY, ENTERING, ACROSS, LEAVING, FOLLOWED, AT_LIP, INWARD = 0, 1, 2, 3, 4, 5, 6

# The next state for each state and edge; the method of the same place in `_ACTIONS` tells what it means.
THROAT_ON, THROAT_OFF, LIP_ON, LIP_OFF = 0, 1, 2, 3
_NEXT = (
    # throat on   throat off   lip on      lip off
    (ENTERING, EMPTY, AT_LIP, EMPTY),  # EMPTY
    (ENTERING, EMPTY, ACROSS, ENTERING),  # ENTERING: leading edge between the slots
    (ACROSS, LEAVING, ACROSS, ENTERING),  # ACROSS: both slots blocked
    (FOLLOWED, LEAVING, LEAVING, EMPTY),  # LEAVING: trailing edge between the slots
    (FOLLOWED, LEAVING, FOLLOWED, ENTERING),  # FOLLOWED: ... and the next card in the throat, or it goes back
    (INWARD, AT_LIP, AT_LIP, EMPTY),  # AT_LIP: something blocks the lip only, from outside
    (INWARD, AT_LIP, INWARD, ENTERING),  # INWARD: ... and the throat as well
)


def _begun(strip) -> int:
    """How many marks have begun, the last of which may not have ended."""
    return strip.marks + 1 if strip.in_mark else strip.marks


class Passage:
    """Follows the cards. `listener` has the seven methods above; they are called in the order of the samples."""

    def __init__(self, listener, clock=None):
        self.listener = listener
        self.clock = clock if clock is not None else SampleClock()
        self.bottom = Strip(True)
        self.top = Strip(False)
        self.state = EMPTY
        self.at = 0  # sample index of what is being told
        self.levels = 0  # accepted pin levels
        self.distance = 0  # of a card that went back: 0.1 mm; 0 when it has no code to measure by
        self.had_left = False
        self.double = False  # longer than one card
        self.speed = 0  # mm/s over the slots as it left
        self.below = Reading()  # what the bottom head read
        self.above = Reading()  # what the top head read
        self._last_below = self.clock.index  # up to where the strips know the levels
        self._last_above = self.clock.index
        self._moved = self.clock.index  # the last edge of a slot or a CLK
        self._stopped = False
        self._dirty = 0
        self._dark_since = self.clock.index
        self._entered = 0  # sample indices: throat blocked,
        self._lipped = 0  # lip blocked,
        self._tail = 0  # throat clear again,
        self._tail_above = 0  # marks above, begun or ended, when the throat was clear again
        self._read_below = -1  # marks of the strips when `below` and `above` were read
        self._read_above = -1
        self._next_entered = 0  # throat blocked by the next card
        self._lip_marks = 0  # marks seen when the lip was blocked,
        self._lip_below = 0  # begun or ended below, above
        self._lip_above = 0
        self._next_below = 0  # marks that belong to this card when the next one came to the throat, or it goes back
        self._next_above = 0
        self._reached = False  # what came from outside has blocked the throat
        self._turned = False  # it has been back and forth: its length cannot be known
        self._long = False  # its code had passed the heads while the throat was still blocked
        self._long_above = False  # the same of a boxed card's
        self._dim = False  # the light through it was that of two cards
        self._state = new_state()
        self._out = new_out(CHUNK)
        self._actions = (
            (self._enter, None, self._enter, None),
            (None, self._back_in, self._at_lip, None),
            (None, self._tail_in, None, self._pulled_back),
            (self._next_card, None, None, self._left),
            (None, self._tail_again, None, self._left_or_back),
            (self._reach, None, None, self._untouch),
            (None, self._tail_in, None, self._put_back),
        )

    @property
    def idle(self) -> bool:
        """Nothing in the throat or at the lip."""
        return self.state == EMPTY

    @property
    def still(self) -> bool:
        """No card is moving."""
        return self.state == EMPTY or self._stopped

    def feed(self, samples, n: int) -> None:
        """Take the next `n` samples (at most CHUNK), one byte of levels each."""
        clock = self.clock
        base = clock.index
        edges = scan(samples, n, self._state, self._out)
        clock.advance(n)
        # At 3 m/s an edge comes every 0.25 ms, so as little as possible is done for each: timers are asked edge by edge
        # only if one may be due in this chunk.
        now = clock.index
        timed = since(now, self._moved) >= DIRTY_AFTER or since(now, self._dark_since) >= DIRTY_AFTER
        out = self._out
        for k in range(0, 2 * edges, 2):
            at = (base + out[k]) & MASK
            if timed:
                self._timers(at)
            self._edge(at, out[k + 1])
        self._timers(now)
        if self.state == LEAVING:  # the code is past the heads: read it while the card still has some mm to go
            self.bottom.add(self.levels & BOTTOM, 0)  # its last mark has ended, though no edge has come since
            self.top.add((self.levels & TOP) >> TOP_SHIFT, 0)
            self._read(self.bottom.marks, self.top.marks)

    def _edge(self, at: int, levels: int) -> None:
        old = self.levels
        changed = old ^ levels
        slots = changed & SLOTS
        if self.state == EMPTY:
            self._last_below = self._last_above = at
        else:  # a strip is told of its own edges, and brought up to date for those of the slots
            if slots or changed & BOTTOM:
                self.bottom.add(old & BOTTOM, (at - self._last_below) & MASK)
                self._last_below = at
            if slots or changed & TOP:
                # The top head has no /DATA: only CLK and DATA are given.
                self.top.add((old & TOP) >> TOP_SHIFT, (at - self._last_above) & MASK)
                self._last_above = at
        self.levels = levels
        self.at = at
        if changed & MOVES:
            self._moved = at
            if self._stopped:
                self._stopped = False
                self.listener.moved(self)
        if slots & THROAT:
            self._slot(THROAT_ON if levels & THROAT else THROAT_OFF)
        if slots & LIP:
            self._slot(LIP_ON if levels & LIP else LIP_OFF)
        if levels & HEADS:
            if not old & HEADS:
                self._dark_since = at
        elif self._dirty:
            self._dirty = 0
            self.listener.dirty(self, 0)

    def _slot(self, edge: int) -> None:
        action = self._actions[self.state][edge]
        self.state = _NEXT[self.state][edge]
        if action is not None:
            action()
        if self.state == EMPTY:
            self._dark_since = self.at

    def two_cards(self) -> None:
        """The light through what is between the slots is that of two cards (the double-feed sensor)."""
        self._dim = True

    def _timers(self, now: int) -> None:
        """What is due by `now` without an edge."""
        if self.state != EMPTY:
            if not self._stopped and since(now, self._moved) >= STOPPED_AFTER:
                self._stopped = True
                self.at = (self._moved + STOPPED_AFTER) & MASK
                self.listener.stopped(self, self.levels >> 5)
        elif self.levels & HEADS and not self._dirty and since(now, self._dark_since) >= DIRTY_AFTER:
            self._dirty = self.levels & HEADS
            self.at = (self._dark_since + DIRTY_AFTER) & MASK
            self.listener.dirty(self, self._dirty)

    # ---- what the edges of the slots mean

    def _enter(self) -> None:
        """Something comes, from inside or outside; nothing is known of it."""
        self.bottom.clear()
        self.top.clear()
        self._read_below = self._read_above = -1
        self._entered = self._lipped = self._tail = self.at
        self._lip_marks = self._lip_below = self._lip_above = 0
        self._reached = self._turned = self._dim = False
        self._long = self._long_above = False

    def _read(self, marks_below: int, marks_above: int) -> None:
        """Read both strips, unless nothing has come since they were read last."""
        if marks_below != self._read_below:
            self._read_below = marks_below
            self.below.read(self.bottom, marks_below)
        if marks_above != self._read_above:
            self._read_above = marks_above
            self.above.read(self.top, marks_above)

    def _most_marks(self) -> int:
        return max(self.bottom.marks, self.top.marks)

    def _back_in(self) -> None:
        """The throat is clear: the card is back. If its code went by and it never was at the lip, the lip is blind."""
        if not self._turned and self._most_marks() >= MISSED:
            self.listener.missed(self, LIP >> 5)

    def _at_lip(self) -> None:
        self._lipped = self.at
        self._lip_marks = self._most_marks()
        self._lip_below = _begun(self.bottom)
        self._lip_above = _begun(self.top)

    def _tail_in(self) -> None:
        """The throat is clear: a single card's code has 1.5 mm to go until its last mark ends (65.0 of 63.5 mm)."""
        self._tail_again()
        if not self._turned:
            self._read(self.bottom.marks, self.top.marks)
            self._long = self.below.result == READ
            # The top head is at the card's other edge, so a card that lies askew has up to 1.3 mm less to go there.
            margin = self.top.light() >= 2 * self.top.halves[2 * CELLS - 1]
            self._long_above = margin and self.above.result == READ

    def _tail_again(self) -> None:
        """The throat is clear, perhaps once more: the card came back a little, or another touches it and the lip did
        not see where they meet."""
        self._tail = self.at
        self._tail_above = _begun(self.top)

    def _next_card(self) -> None:
        """The throat is blocked again behind this card: the next one, or this one goes back."""
        self._next_entered = self.at
        self._next_below = self._own(self.bottom)
        self._next_above = self._own(self.top)

    def _own(self, strip) -> int:
        """How many of the marks are this card's. Of the next card only a leading edge is in, 21 mm short of its code;
        of this one the last mark may still be to come, if the gap is under 1.5 mm."""
        own = _begun(strip)
        return CELLS if own == CELLS - 1 else own

    def _pulled_back(self) -> None:
        self._turned = True
        self._back((self._most_marks() - self._lip_marks) // 2 * CELL_MM10, False)

    def _left_or_back(self) -> None:
        turned = max(self.bottom.marks - self._next_below, self.top.marks - self._next_above)
        if turned >= TURNED_BACK:
            self._turned = True
            self._back(TURNED_BACK_MM10, False)
            return
        self._gone(self._next_below, self._next_above)
        self.bottom.keep_from(self._next_below)
        self.top.keep_from(self._next_above)
        self._read_below = self._read_above = -1
        self._entered = self._next_entered
        self._turned = self._long = self._long_above = self._dim = False

    def _left(self) -> None:
        self._gone(self.bottom.marks, self.top.marks)

    def _gone(self, marks_below: int, marks_above: int) -> None:
        """A card is out; so many of the marks are its own."""
        below, above = self.below, self.above
        self._read(min(marks_below, self.bottom.marks), min(marks_above, self.top.marks))
        # A boxed card's code rests on its CRC alone, so the slots are asked as well: at 42.25 mm of the code, where the
        # throat clears, 17 marks have passed or the 17th is passing (one less the other way), more if it is long.
        if above.result == READ and self._tail_above < (CELLS - 2 if above.reversed else CELLS - 1):
            above.result = UNREAD
        took = since(self.at, self._tail)
        self.speed = min(SLOTS_MM * 1000 * PER_MS // took, MOST_SPEED) if took else MOST_SPEED
        both = below.result == READ and above.result == READ
        plain = below.result == NOTHING and above.result == NOTHING
        # The top head cannot tell a stop cell from a zero: its code had ended only if no mark came after.
        long = self._long or (self._long_above and marks_above == CELLS)
        two = below.two or above.two or both or self._is_second(below, self.bottom, self._lip_below)
        two = two or self._is_second(above, self.top, self._lip_above)
        self.double = two or long or self._dim or (plain and self._timed_long(took))
        self.listener.left(self)

    def _is_second(self, reading, strip, lip_marks: int) -> bool:
        """Whether the code that was read is not the first card's: when something came to the lip, that one had 2.75 mm
        of its code past the head, its first mark whole; this one's began later. (The other way about only 1.5 mm.)

        If it was a finger that came, the code has gone 21.25 mm since the throat was blocked, and from a rest just
        before it took as long as 47 mm at the speed of the code's first 10: a second card is more than 50 mm.
        """
        first = reading.first
        if reading.result != READ or self._reached or first < lip_marks + (FEW if reading.reversed else 0):
            return False
        halves = strip.halves
        came = ruler = 0
        for half in range(2 * first + 1):
            came += halves[half]
        for half in range(2 * first + 1, 2 * first + 9):
            ruler += halves[half]
        return came > 5 * ruler

    def _timed_long(self, out: int) -> bool:
        """Whether cards without a code were longer than one, by the speeds of both edges; False if these differ much.
        An unread code is no ruler and gives no claim: a suspicion takes a draw number."""
        into = since(self._lipped, self._entered)
        if self._turned or self._reached or not into or not out or into > 2 * out or out > 2 * into:
            return False
        between = since(self._tail, self._lipped)
        length = SLOTS_MM + SLOTS_MM * between * (into + out) // (2 * into * out)
        return LONG_MM < length < LONGEST_MM

    def _back(self, distance: int, had_left: bool) -> None:
        self.distance = distance
        self.had_left = had_left
        self.listener.back(self)

    # ---- from outside

    def _reach(self) -> None:
        if not self._reached:
            self._lipped, self._entered = self._entered, self.at
        self._reached = True

    def _put_back(self) -> None:
        """The lip is clear, the throat is not. A card pushed in has shown its code but for the start cell. Without a
        code, one that moves evenly takes 1.65 times as long for its last 39.5 mm as for its first 24. Anything else
        was a finger at the lip, and the card in the throat comes from inside."""
        marks = self._most_marks()
        first = since(self._entered, self._lipped)
        rest = since(self.at, self._entered)
        if self._went_out():  # with a finger at the lip until now; what is in the throat is the next card
            self._left()
            self._enter()
        elif marks >= TURNED_BACK or (marks == 0 and first < rest < 3 * first):
            self._back(TRAVEL_MM10, True)
        self._turned = True

    def _untouch(self) -> None:
        """Lip and throat are clear. A whole code that went outward was a card, with a finger at the lip."""
        if not self._reached:
            if self._most_marks() >= MISSED:
                self.listener.missed(self, THROAT >> 5)
        elif self._went_out():
            self._left()
        else:
            self.listener.odd(self, self._most_marks())

    def _went_out(self) -> bool:
        """Whether a whole code went outward past a head."""
        below, above = self.below, self.above
        self._read(self.bottom.marks, self.top.marks)
        return (below.result == READ and not below.reversed) or (above.result == READ and not above.reversed)
