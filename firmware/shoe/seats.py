"""The shoe's half of the seat bus: asks one node after the other, tells arrivals, and which node fails. For the loop.

The shoe is the master and nobody speaks unasked, so nothing collides. A node keeps an arrival until the shoe says
that it has it: a damaged frame costs a repeat, never a card. Nodes that have answered once are asked in turn; places
without a node are tried now and then. The FRAM keeps which places have a node: one that does not answer when the power
comes on again is missed like one that falls silent, until it counts as taken away: when a person calibrates the shoe,
or when that has been on for an hour without it. A node that was there and does not answer, or answers nonsense (two
boards with one place; one that starts again and again), or reports cards though none has left the shoe, is a FAULT
SEAT_NODE, with the place in its detail; one that reports cards out of nothing is no longer believed. Behind a missed
answer the bus rests, so that one that comes late does not hurt the next node's. A bus on which the shoe's own question
does not come back as it was sent, or that is never quiet, is a FAULT SEAT_BUS.
"""

from node import talk
from shoelink import schema

from shoe.crc8 import crc8
from shoe.sampleclock import PER_MS, since

# detail of SEAT_NODE beside the place; 0: it does not answer. LOST: arrivals, for want of room
GARBLED, LYING, BLOCKED, LOST = 0x100, 0x200, 0x300, 0x400
NO_ECHO, NOISE = 1, 2  # detail of SEAT_BUS
PATIENCE = 6 * PER_MS  # samples until an answer is missed
TURNS, MOST_TURNS = 3, 12  # and turns of the loop, of 6 ms and more; so many are enough if the samples stand still
REST = 20 * PER_MS  # samples between two questions behind a miss, while no node is known, or the bus is out of order
PROBE_EVERY = 8  # questions: then one to a place without a node
MISSES = 8  # in a row: then the node, or the bus, is out of order
# Samples until a node is well again, and from one that fails to the next: loose wires must not fill the journal.
WELL = 5000 * PER_MS
LATE = 10000 * PER_MS  # samples from the start: by then a node that got its power with the shoe has started, too
HOUR = 3600000 * PER_MS
LIES = 3  # arrivals without a card: then a node is not believed any more
NOISE_BYTES = 32  # that nobody asked for
_ROOM = 16
_PIECES = 16  # of what the UART holds


class SeatBus:
    """`line` is a `drivers.rs485.SeatLine`. `events` is told `arrived(place, way)`, which answers whose report was out
    of nothing, `fault` and `clear`, and keeps which places have a node (`nodes`, `keep_nodes`). `heard` says that the
    bus has worked since the start."""

    def __init__(self, line, events):
        self._line = line
        self._events = events
        count = len(talk.PLACES)
        self.known = bytearray(count)  # the node has answered since the start
        self.believed = bytearray([1] * count)
        self.heard = False
        self.damaged = 0  # frames
        self._before = events.nodes()  # the places that had a node before the power was off, a bit each
        self._nodes = self._before  # and those that are kept now
        self._began = -1
        self._late = self._settled = False  # LATE and HOUR have passed
        self._taken = bytearray(count)
        self._misses = bytearray(count)
        self._lies = bytearray(count)
        self._bad_at = [-1] * count  # by place, if its fault is told: when it was out of order last
        self._named = -1  # the place that was told last, while the FAULT SEAT_NODE stands,
        self._named_at = 0  # and when
        self._asked = -1  # the place that is asked, as an index; -1: none
        self._asked_at = 0
        self._turns = 0
        self._missed = False  # the last question to a node that is known
        self._next_known = 0
        self._next_other = 0
        self._questions = 0
        self._echoless = 0
        self._noise = 0
        self._out = bytearray(talk.ASKS)
        self._in = bytearray(_ROOM)
        self._piece = bytearray(_ROOM)
        self._have = 0

    def turn(self, now: int, may_ask: bool) -> None:
        """Take what has come and ask the next node, at sample index `now`; `may_ask`: no card is in the throat."""
        if not self._settled:
            self._wait(now)
        self._listen(now)
        if self._asked >= 0:
            self._turns += 1
            late = since(now, self._asked_at) >= PATIENCE
            if self._turns >= (TURNS if late else MOST_TURNS):
                self._miss(now)
        if self._asked < 0 and may_ask:
            resting = self._missed or (self.met and (self._echoless >= MISSES or not any(self.known)))
            if not resting or since(now, self._asked_at) >= REST:
                self._ask(now)

    def _wait(self, now: int) -> None:
        if self._began < 0:
            self._began = now
        lasts = since(now, self._began)
        self._late = lasts >= LATE
        if lasts >= HOUR:
            self.settle()

    def settle(self) -> None:
        """Those that have answered since the start are all that there are."""
        self._settled = True
        self._before = 0
        nodes = 0
        for place in range(len(self.known)):
            nodes |= self.known[place] << place
        self._keep(nodes)

    def _keep(self, nodes: int) -> None:
        if nodes != self._nodes:
            self._nodes = nodes
            self._events.keep_nodes(nodes)

    # ---- asking

    @property
    def met(self) -> bool:
        """Every place was asked once: from here on what a node tells has come since the start."""
        return self._questions > len(self.known) or (self._questions == len(self.known) and self._asked < 0)

    def _ask(self, now: int) -> None:
        self._questions += 1
        probe = self._questions % PROBE_EVERY == 0 or not self.met
        place = self._after(self._next_other if probe else self._next_known, not probe)
        if place < 0:
            place = self._after(self._next_other, False)
        if place < 0:
            place = self._after(self._next_known, True)
        if self.known[place]:
            self._next_known = place + 1
        else:
            self._next_other = place + 1
        out = self._out
        out[0] = talk.ASK
        out[1] = talk.PLACES[place]
        out[2] = self._taken[place]
        out[3] = crc8(out, 3)
        self._asked = place
        self._asked_at = now
        self._turns = 0
        self._have = 0
        self._missed = False
        self._line.ask(out)

    def _after(self, first: int, known: bool) -> int:
        """The next place from `first` on, and round, that has a node (or, not `known`, has none); -1: there is none."""
        count = len(self.known)
        for i in range(count):
            place = (first + i) % count
            if bool(self.known[place]) == known:
                return place
        return -1

    # ---- listening

    def _drain(self, now: int) -> None:
        """What comes while nobody is asked belongs to nobody."""
        for _ in range(_PIECES):
            if not self._line.any():
                break
            self._noise += self._line.readinto(self._piece) or 0
        if self._noise >= NOISE_BYTES:
            self._noise = 0
            self._events.fault(schema.FAULT_SEAT_BUS, NOISE, now)

    def _listen(self, now: int) -> None:
        if self._asked < 0:
            self._drain(now)
            return
        if not self._line.any():
            return
        n = self._line.readinto(self._piece) or 0
        for i in range(n):
            if self._have < _ROOM:
                self._in[self._have] = self._piece[i]
                self._have += 1
        if self._have == talk.ASKS + talk.ANSWERS and self._echo() and self._sound():
            self._answer(now)

    def _echo(self) -> bool:
        """What was sent has come back."""
        for i in range(talk.ASKS):
            if self._in[i] != self._out[i]:
                return False
        return True

    def _sound(self) -> bool:
        """Behind it is a whole answer of the node that was asked."""
        heard, at = self._in, talk.ASKS
        crc = self._piece
        for i in range(talk.ANSWERS - 1):
            crc[i] = heard[at + i]
        if heard[at] != talk.ANSWER or heard[at + 1] != self._out[1]:
            return False
        return crc8(crc, talk.ANSWERS - 1) == heard[at + talk.ANSWERS - 1]

    def _answer(self, now: int) -> None:
        place, heard = self._asked, self._in
        number, flags = heard[talk.ASKS + 2], heard[talk.ASKS + 3]
        self._asked = -1
        self._echo_came(now)
        self.known[place] = 1
        self._keep(self._nodes | 1 << place)
        if flags & talk.FRESH:
            self._taken[place] = talk.BEGIN
            self._count_miss(place, GARBLED, now)
            return
        self._misses[place] = 0
        if self._taken[place] == talk.BEGIN:
            self._taken[place] = talk.NONE
        if number and number != self._taken[place]:
            self._taken[place] = number
            self._arrived(place, flags, now)
        if flags & talk.BLOCKED:
            self._fail(place, BLOCKED, now)
        elif flags & talk.LOST:
            self._fail(place, LOST, now)
        elif not self.believed[place]:
            self._fail(place, LYING, now)
        else:
            self._pass(place, now)

    def _pass(self, place: int, now: int) -> None:
        """It is well, or nobody is there."""
        bad_at = self._bad_at
        if bad_at[place] >= 0 and since(now, bad_at[place]) >= WELL:
            bad_at[place] = -1
            if place == self._named:
                self._named = -1
                self._events.clear(schema.FAULT_SEAT_NODE, talk.PLACES[place], now)

    def _fail(self, place: int, how: int, now: int) -> None:
        """Each that fails is told, one after the other. When the last of them is well the fault is over, and one that
        still fails is told anew."""
        stands, bad_at = self._named >= 0, self._bad_at
        if not stands or (bad_at[place] < 0 and since(now, self._named_at) >= WELL):
            self._named = place
            self._named_at = bad_at[place] = now
            self._events.fault(schema.FAULT_SEAT_NODE, how | talk.PLACES[place], now, stands)
        elif bad_at[place] >= 0:
            bad_at[place] = now

    def _arrived(self, place: int, flags: int, now: int) -> None:
        if not self.believed[place]:
            return
        way = schema.WAY_DOWN
        if flags & talk.UP:
            way = schema.WAY_UP
        elif flags & talk.UNSURE:
            way = schema.WAY_UNKNOWN
        liar = self._events.arrived(talk.PLACES[place], way)
        if not liar:
            self._lies[place] = 0
        elif liar > 0:
            place = talk.PLACES.index(liar)
            self._lies[place] += 1
            if self._lies[place] >= LIES:
                self.believed[place] = 0
                self._fail(place, LYING, now)

    def _echo_came(self, now: int) -> None:
        self.heard = True
        self._echoless = 0
        self._noise = 0
        self._events.clear(schema.FAULT_SEAT_BUS, 0, now)

    def _miss(self, now: int) -> None:
        """No whole answer has come in time."""
        place = self._asked
        self._asked = -1
        if self._have < talk.ASKS or not self._echo():
            if self._echoless < MISSES:
                self._echoless += 1
            if self._echoless == MISSES and (self.heard or self._before):
                self._events.fault(schema.FAULT_SEAT_BUS, NO_ECHO, now)
            return
        self._echo_came(now)
        garbled = self._have > talk.ASKS
        if garbled:
            self.damaged += 1
        self._missed = bool(self.known[place])
        # where no node is known nobody should say anything
        if self._missed or garbled or (self._late and self._before >> place & 1):
            self._count_miss(place, GARBLED if garbled else 0, now)
        else:
            self._misses[place] = 0
            self._pass(place, now)

    def _count_miss(self, place: int, detail: int, now: int) -> None:
        if self._misses[place] < MISSES:
            self._misses[place] += 1
        if self._misses[place] == MISSES:
            self._fail(place, detail, now)
