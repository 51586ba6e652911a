"""The shoe as a whole, turn by turn: parts in, cores run, parts out. Knows no pins: `main.py` gives it the parts."""

import gc

from shoelink import schema
from shoelink.timing import elapsed

from shoe.events import Events
from shoe.keys import Keys
from shoe.lanes import ExitLanes
from shoe.linktask import LinkTask
from shoe.passage import CHUNK, Passage
from shoe.sampleclock import PER_MS, SampleClock, since
from shoe.seats import SeatBus
from shoe.signals import Signals

STATS_MS = 5000
AMBIENT_EVERY = 100 * PER_MS  # samples
CHUNKS = 8  # a turn: 100 ms of samples, so a backlog is worked off and the rest of the loop still gets its turn


class Shoe:
    """`board` has the parts (see `board.py`), `link` the shoe's Link, `now` is `ticks_ms`."""

    def __init__(self, board, link, now: int):
        self.board = board
        self.link = link
        self.clock = SampleClock()
        self.exits = ExitLanes()
        self.events = Events(link, self.clock, self.exits)
        self.passage = Passage(self.events, self.clock)
        self.signals = Signals(now)
        self.task = LinkTask(board.host, link, self.clock, board.sampler, self.signals, self.events)
        self.keys = Keys(board.KEY_LEVELS, board.KEY_TOLERANCE, self.events.pressed)
        self.seats = SeatBus(self.events.arrived)
        self._samples = bytearray(CHUNK)
        self._bus = bytearray(64)
        self._lost = 0
        self._overruns = 0
        self._dim = False
        self._cards = 0
        self._looked = 0
        self._stats_at = now
        self._show()

    def turn(self, now: int) -> bool:
        """One turn; True if no card is moving and the loop may rest a millisecond."""
        self._sense()
        self._look_around()
        self.task.turn(now)
        self._light(now)
        if self.passage.idle:
            self._tidy(now)
        return self.passage.still

    def _sense(self) -> None:
        board, passage = self.board, self.passage
        for _ in range(CHUNKS):
            n = board.sampler.readinto(self._samples)
            if not n:
                return
            if board.sampler.overruns != self._overruns:
                self._skip()
            if not passage.idle:
                # Both are looked at as of now, a chunk of samples later than what `feed` is about to tell: a lane is
                # still covered then, for its sensors are 16 mm beyond the lip.
                self.exits.see(board.lanes.read())
                dim = board.light.read_u16() < board.TWO_CARDS
                if dim and self._dim:
                    passage.two_cards()
                self._dim = dim
            passage.feed(self._samples, n)
            if n < CHUNK:
                return

    def _skip(self) -> None:
        """The loop was too slow and samples were overwritten: time goes on, a card in the throat may be unread."""
        lost = self.board.sampler.lost - self._lost
        self._overruns = self.board.sampler.overruns
        self._lost += lost
        self.clock.advance(lost)
        self.events.fault(schema.FAULT_SAMPLES_LOST, min(lost, 0xFFFF), self.clock.index)

    def _look_around(self) -> None:
        board, now = self.board, self.clock.index
        if self.keys.is_due(now):
            self.keys.read(board.keys.read_u16(), now)
        if board.seats.any():
            self.seats.feed(self._bus, board.seats.readinto(self._bus) or 0)
        if since(now, self._looked) >= AMBIENT_EVERY:
            self._looked = now
            level = board.ambient.read_u16()
            if level > board.DAZZLE:
                self.events.fault(schema.FAULT_DAZZLE, level, now)
            elif level < board.DAZZLE_OVER:
                self.events.clear(schema.FAULT_DAZZLE, level, now)
            if self.passage.idle:
                self.events.clear(schema.FAULT_SAMPLES_LOST, 0, now)

    def _light(self, now: int) -> None:
        if self.events.cards != self._cards:
            self._cards = self.events.cards
            if self.events.doubtful:
                self.signals.doubt(now)
            else:
                self.signals.accept(now)
        self.signals.faulty = self.events.faults != 0
        if self.signals.turn(now):
            self._show()

    def _show(self) -> None:
        self.board.bar.show(self.signals.lamps, self.signals.colour)
        self.board.piezo.tone(self.signals.hertz)

    def _tidy(self, now: int) -> None:
        """No card is about: the time for what takes time."""
        if self.events.new_hand:
            self.events.new_hand = False
            gc.collect()
        if elapsed(now, self._stats_at) >= STATS_MS:
            self._stats_at = now
            self.link.send(self.link.stats(self.board.sampler.overruns, self.board.free_memory() >> 4), now)
