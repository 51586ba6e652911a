"""The shoe as a whole, turn by turn: parts in, cores run, parts out. Knows no pins: `main.py` gives it the parts.

To hear a sealed frame of the host takes a Pico 9 ms, all the rest 8, to collect garbage 13 (emulated RP2040), and a
card that left meanwhile would be decoded that much later. So while no card is in the throat a turn does one of these;
while a card may be out within such a time a turn only looks at the samples and the keys; and behind a card that takes
its time, or that stays, it does one job after the other. No job waits longer than three times UNSERVED_MS, 0.45 s.
Garbage is collected behind each card, when the next one cannot be on its way yet, and else when it must be.

The watchdog is fed at the end of a turn that got there, and only while samples keep coming: a loop that hangs, and one
that sees nothing any more, start again.
"""

from shoelink import schema
from shoelink.timing import elapsed

from shoe import garbage
from shoe.calibration import SPOILT
from shoe.doublefeed import DoubleFeed
from shoe.events import AWAITED, NO_TEST, TEST_READ, Events
from shoe.health import Health
from shoe.keys import Keys
from shoe.lanes import ExitLanes
from shoe.linktask import LinkTask
from shoe.passage import CHUNK, THROAT, Passage
from shoe.sampleclock import SampleClock
from shoe.signals import Signals

STATS_MS = 5000
HEARD = 4  # turns on end that a host that does not stop may take
TIDY_MS = 4000  # an idle shoe leaves 4.4 kB of garbage a second (emulated RP2040) and has 60 kB of memory
LITTER = 12  # turns in which the host was heard and answered: 2 kB each
AWAY_MS = 40  # after a card has left: the host has answered, and no hand is back for the next one
SAMPLES_STOPPED_MS = 200
STARVED_MS = 1000  # without a sample: the watchdog is not fed any more
SLOW_MS = 40  # a card that covers the throat for longer is slower than 1.6 m/s: when it clears it, it has 15 ms to go
TAIL_MS = 120  # from the throat clear to the lip clear, 24 mm; a card that takes longer is slower than 0.2 m/s
UNSERVED_MS = 150  # with a card in the throat whatever it does, so long until the next of the jobs is done all the same
CHUNKS = 8  # a turn: 100 ms of samples, so a backlog is worked off and the rest of the loop still gets its turn


class Shoe:
    """`board` has the parts (see `board.py`), `link` the shoe's Link, `veil` what cards are called, `selftest` has
    run and took `took` ms; `now` is `ticks_ms`.
    """

    def __init__(self, board, link, veil, selftest, took: int, now: int):
        self.board = board
        self.link = link
        self.veil = veil
        self.clock = SampleClock()
        self.exits = ExitLanes()
        self.events = Events(link, self.clock, self.exits, veil)
        self.passage = Passage(self.events, self.clock)
        self.signals = Signals(now, veil.opened)
        self.task = LinkTask(board.host, link, self.clock, board.sampler, self.signals, self.events)
        calibration = board.calibration
        self.doubles = DoubleFeed(calibration.free, calibration.one)
        self.keys = Keys(calibration.keys, calibration.tolerance, self._pressed)
        self.keys.start(board.keys.read_u16())
        self.witness = board.witness(self.events)  # what else tells of a card: the seat bus, or the reader of tags
        self.health = Health(board, self.events, self.doubles, self.exits, self.keys)
        self.selftest = selftest
        self._took = took
        self._why = schema.WHY_POWER_UP
        self._told = False  # the host of this session has the result of the test
        self._calibrating = False
        self._darkest = 0xFFFF  # of the light while a card passes that calibrates it
        self._moved_at = now
        self._index = 0
        self._greets = False
        self._samples = bytearray(CHUNK)
        self._lost = 0
        self._overruns = 0
        self._dim = False
        self._cards = 0
        self._stats_at = now
        self._tidied_at = now
        self._litter = 0
        self._swept = False  # garbage was collected, and little has been done since
        self._out_at = -1  # when the last card left, until garbage was collected behind it
        self._heard = 0  # turns on end in which only the host was heard
        self._covered = 0  # the throat's level, and since when
        self._covered_at = now
        self._served_at = now
        self._jobs = (self._look_around, self._talk, self._light)
        self._job = 0
        self._show()
        self._resume()
        self._judge_test()
        if calibration.state == SPOILT:
            self.events.fault(schema.FAULT_CALIBRATION, calibration.state, 0)

    def turn(self, now: int) -> bool:
        """One turn; True if no card is moving and the loop may rest a millisecond."""
        self._sense()
        if self.events.cards != self._cards:
            self._light(now)  # before all else: a card in doubt is shown within 10 ms
            self.task.say(now)  # and told: looking around takes longer than the host's answer should
            self._out_at = now
        self._see_keys()
        if self.passage.idle:
            self._covered = 0
            self._serve(now)
        elif self._is_urgent(now):
            return False
        else:
            self._jobs[self._job](now)
            self._job = (self._job + 1) % len(self._jobs)
        self._served_at = now
        self._keep_alive(now)
        return self.passage.still and not self._swept  # samples wait where garbage was collected

    def _serve(self, now: int) -> None:
        """No card is in the throat: one of the things that take long, or all the rest."""
        if not self._greets:
            self._meet(now)
            return
        if self._heard < HEARD and self.board.host.any():
            self._heard += 1
            self._litter += 1
            self._talk(now)
            self._light(now)  # what the host has said
            return
        self._heard = 0
        if self.events.new_hand:
            self._begin_hand()
            self._litter = LITTER
        elif self._is_littered(now):
            self._collect(now)
        elif elapsed(now, self._stats_at) >= STATS_MS:
            if self._swept:
                self._take_stock(now)
            else:
                self._collect(now)  # or what is told as free were a matter of chance
        else:
            self._swept = False
            self._tidy(now)
            self._look_around(now)
            self._greet(now)
            self.task.say(now)
            self._light(now)

    def _meet(self, now: int) -> None:
        """The seat nodes are asked first of all: what they tell from then on is of this time; a reader is started."""
        self.witness.turn(self.clock.index, self.passage.still)
        self._greet(now)

    def _is_urgent(self, now: int) -> bool:
        """Whether the card in the throat may be out within a few ms: all else waits."""
        covered = self.passage.levels & THROAT
        if covered != self._covered:
            self._covered = covered
            self._covered_at = now
        if elapsed(now, self._served_at) >= UNSERVED_MS:
            return False
        return elapsed(now, self._covered_at) < (SLOW_MS if covered else TAIL_MS)

    def _keep_alive(self, now: int) -> None:
        if self.clock.index != self._index:
            self._index = self.clock.index
            self._moved_at = now
            self.events.clear(schema.FAULT_SAMPLER, 0, self._index)
        elif elapsed(now, self._moved_at) >= SAMPLES_STOPPED_MS:
            self.events.fault(schema.FAULT_SAMPLER, 0, self._index)
        if self._greets and elapsed(now, self._moved_at) < STARVED_MS:
            self.board.watchdog.feed()

    def _pressed(self, key: int, press: int) -> None:
        """A key; with the lid or the base plate off none counts but the one that calls the floor."""
        if not self.health.halted or key == schema.KEY_FLOOR:
            self.events.pressed(key, press)

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
                reading = board.light.read_u16()
                self._darkest = min(self._darkest, reading)
                dim = self.doubles.two_cards(reading)
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

    def _see_keys(self) -> None:
        """In every turn: 0.3 ms each 4 ms, and a short press is not missed for a card."""
        if self.keys.is_due(self.clock.index):
            self.keys.read(self.board.keys.read_u16(), self.clock.index)

    # ---- the jobs, which take their time

    def _look_around(self, _now: int) -> None:
        self.witness.turn(self.clock.index, self.passage.still)
        self.health.turn(self.clock.index, self.passage.idle)

    def _talk(self, now: int) -> None:
        self._greet(now)
        self.task.turn(now)

    def _greet(self, now: int) -> None:
        """Once the seat nodes (or the reader) are met, or a card came first."""
        if not self._greets and (self.witness.met or not self.passage.still):
            self._greets = True
            self.link.start(now)

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

    def _begin_hand(self) -> None:
        self.events.new_hand = False
        self.veil.prepare()
        self.link.journal.keep_hand(self.events.hand, self.veil.secret)

    def _is_littered(self, now: int) -> bool:
        """Whether garbage is to be collected: before memory is short, or it happens in the middle of a longer turn."""
        if self._out_at >= 0 and elapsed(now, self._out_at) >= AWAY_MS:
            return True
        return self._litter >= LITTER or elapsed(now, self._tidied_at) >= TIDY_MS

    def _collect(self, now: int) -> None:
        self._tidied_at = now
        self._litter = 0
        self._out_at = -1
        self._swept = True
        garbage.collect()

    def _take_stock(self, now: int) -> None:
        """To ask how much memory is free takes a Pico 7 ms."""
        self._stats_at = now
        self.link.send(self.link.stats(self.board.sampler.overruns, self.board.free_memory() >> 4), now)

    def _tidy(self, now: int) -> None:
        """No card is about: the time for what takes time."""
        journal = self.link.journal
        if journal.trouble:
            self.events.fault(schema.FAULT_FRAM, journal.trouble, self.clock.index)
        if journal.begin_anew():
            self.link.start(now)
        self._test(now)

    def _resume(self) -> None:
        """Go on in the hand that a reset has cut: its number, its draws and what its cards are called are in the
        FRAM.
        """
        hand, draw = self.link.journal.last_hand()
        if not hand and not draw:
            return
        secret = self.link.journal.secret_of(hand)
        if secret and not self.veil.opened:
            self.veil.resume(hand, secret)
        self.events.resume(hand, draw, not secret and not self.veil.opened)

    # ---- tests of the parts

    def _test(self, now: int) -> None:
        """Do what the host or a person at the keys asks for, and tell each host the last result."""
        if self.keys.test:
            self.keys.test = False
            self._test_parts()
            if self.selftest.faulty:
                self.signals.doubt(now)  # also without a host, which is when a person tests a shoe
        if not self.link.up:
            self._told = False
            return
        wanted = self.task.test
        self.task.test = 0
        if wanted == schema.TEST_PARTS:
            self._test_parts()
        elif wanted:
            self.events.test_card = AWAITED
            self._calibrating = wanted == schema.TEST_CALIBRATE
            self._darkest = 0xFFFF
        if self.events.test_card not in (NO_TEST, AWAITED):
            self._why = schema.WHY_HOST
            self._judge_card()
        if not self._told:
            test = self.selftest
            message = schema.SelfTest(self.link.stamp, self._why, test.tested, test.failed, self._took)
            self._told = self.link.send(message, now)

    def _test_parts(self) -> None:
        self._why = schema.WHY_HOST  # the wire has one word for all that was asked for
        self._took = self.selftest.run()
        self._show()  # over the lamps of the test
        self._judge_test()

    def _judge_card(self) -> None:
        """The test card has passed, or another card has."""
        read = self.events.test_card == TEST_READ
        self.events.test_card = NO_TEST
        self.selftest.judge_card(read)
        if self._calibrating and read:
            calibration = self.board.calibration
            if calibration.keep(self.board.light.read_u16(), self._darkest):
                self.doubles.adjust(calibration.free, calibration.one)
                self.events.clear(schema.FAULT_CALIBRATION, 0, self.clock.index)
            self.witness.settle()  # whoever calibrates sets the shoe up as it is
            self.selftest.judge_calibration()
        self._calibrating = False
        self._judge_test()

    def _judge_test(self) -> None:
        self._told = False
        if self.selftest.faulty:
            self.events.fault(schema.FAULT_SELF_TEST, self.selftest.faulty, self.clock.index)
        else:
            self.events.clear(schema.FAULT_SELF_TEST, 0, self.clock.index)
