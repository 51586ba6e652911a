"""The six keys on one ADC ladder: debounced, short or held. For the main loop.

A key counts once three readings in a row agree on it. A press is told when it ends: SHORT, or HELD if it has lasted
800 ms. One of 5 s and more is nobody's finger, and nothing is told of it. The ladder shows the lower of two keys: one
that follows on another without a moment of none was pressed beside it, and neither is told. Two that go down within
three readings are one to the ladder: the lower. One pair means something: done held down, new hand added, and both held
for two seconds, ask for the self-test.

No key and no rest is at either end of the ladder: there its wire is at ground, or off (`hardware/board.toml`). That is
no key, and three such readings are told as a fault, however soon it is over.
"""

from shoelink.schema import KEY_DONE, KEY_NEW_HAND, PRESS_HELD, PRESS_SHORT

from shoe.sampleclock import PER_MS, since

# Samples between two readings, at least: a turn of the Pico's loop takes 6 to 12 ms without a card in the throat, so
# three readings take some 25 ms, and 50 where garbage is collected (emulated RP2040).
EVERY = 4 * PER_MS
AGREE = 3
HELD_AFTER = 800 * PER_MS
HELD_MOST = 5000 * PER_MS
TEST_AFTER = 2000 * PER_MS
STUCK_AFTER = 30000 * PER_MS
BETWEEN_AFTER = 2000 * PER_MS
# Not a key: none is down; a level of no key, nor of none; the wire is at ground; the wire is off, or its ground is. The
# last three are the detail of FAULT KEYS where no key is stuck.
NONE, BETWEEN, GROUND, OFF = 0, 7, 8, 9


class Keys:
    """`levels`: the ladder's reading (0..65535) of each key, in the order of the wire's codes from 1, and last of none;
    `tolerance` how far a reading may be off. Tells `pressed(key, press)`. `test`: the self-test was asked for; whoever
    does it clears this."""

    def __init__(self, levels, tolerance: int, pressed):
        self._levels = levels
        self._tolerance = tolerance
        self._pressed = pressed
        self._read_at = 0
        self._candidate = NONE  # what the last readings agree on
        self._agree = 0
        self._down = NONE  # the key that is held down
        self._since = 0
        self._spoilt = False
        self._rested = True  # all keys have been up since the start
        self._trouble = NONE
        self.test = False
        self._pair = False  # of the self-test, and nothing was asked for yet

    def start(self, level: int) -> None:
        """The ladder reads `level` as the shoe starts: a key that is down already does not count until it is let go."""
        self._rested = self._key(level) == NONE

    def is_due(self, now: int) -> bool:
        """Whether it is time (a sample index) for the next reading."""
        return since(now, self._read_at) >= EVERY

    def read(self, level: int, now: int) -> None:
        """The ladder reads `level` at sample index `now`."""
        self._read_at = now
        key = self._key(level)
        self._rested = self._rested or key == NONE
        if key != self._candidate:
            self._candidate = key
            self._agree = 1
            return
        if self._agree < AGREE:
            self._agree += 1
            if self._agree < AGREE:
                return
        if key != self._down:
            self._change(key, now)
            return
        lasts = since(now, self._since)
        if key == NONE:
            return
        if lasts >= (BETWEEN_AFTER if key == BETWEEN else STUCK_AFTER):
            self._trouble = key
        if self._pair and lasts >= TEST_AFTER:
            self._pair = False
            self.test = True

    def trouble(self) -> int:
        """What is out of order, or was since this was asked last: the key that has been down for 30 s, BETWEEN for 2 s,
        GROUND or OFF. 0: all is well."""
        found = self._trouble
        if self._down == NONE:
            self._trouble = NONE
        return found

    def _change(self, key: int, now: int) -> None:
        before, spoilt, lasted = self._down, self._spoilt, since(now, self._since)
        self._down = key
        self._since = now
        self._pair = before == KEY_DONE and key == KEY_NEW_HAND and not spoilt and lasted < HELD_AFTER
        # beside another one, or down since the power came on: it does not count until all are let go
        self._spoilt = before != NONE or not self._rested
        if key >= GROUND:
            self._trouble = key
        if key == NONE:
            self._spoilt = False
            if before < BETWEEN and not spoilt and lasted < HELD_MOST:
                self._pressed(before, PRESS_SHORT if lasted < HELD_AFTER else PRESS_HELD)

    def _key(self, level: int) -> int:
        levels = self._levels
        none = len(levels) - 1
        for place in range(none + 1):
            off = level - levels[place]
            if -self._tolerance <= off <= self._tolerance:
                return place + 1 if place < none else NONE
        if level < levels[0]:
            return GROUND
        return OFF if level > levels[none] else BETWEEN
