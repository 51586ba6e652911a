"""The six keys on one ADC ladder: debounced, short or held. For the main loop.

A key counts once three readings in a row agree on it. A press is told when it ends, SHORT, or when it has lasted
800 ms, HELD, and then not again until the key is let go. Two keys at once read as the lower one, or as none.
"""

from shoelink.schema import PRESS_HELD, PRESS_SHORT

from shoe.sampleclock import PER_MS, since

EVERY = 4 * PER_MS  # samples between two readings; three make 12 ms, so a press of 40 ms is always seen
AGREE = 3
HELD_AFTER = 800 * PER_MS


class Keys:
    """`levels`: the ladder's reading (0..65535) of each key, in the order of the wire's codes from 1; `tolerance` how
    far a reading may be off. Tells `pressed(key, press)`."""

    def __init__(self, levels, tolerance: int, pressed):
        self._levels = levels
        self._tolerance = tolerance
        self._pressed = pressed
        self._read_at = 0
        self._candidate = 0  # the key that the last readings agree on, 0 for none
        self._agree = 0
        self._down = 0  # the key that is held down
        self._since = 0
        self._told = False

    def is_due(self, now: int) -> bool:
        """Whether it is time (a sample index) for the next reading."""
        return since(now, self._read_at) >= EVERY

    def read(self, level: int, now: int) -> None:
        """The ladder reads `level` at sample index `now`."""
        self._read_at = now
        key = self._key(level)
        if key != self._candidate:
            self._candidate = key
            self._agree = 1
            return
        if self._agree < AGREE:
            self._agree += 1
            if self._agree < AGREE:
                return
        if key != self._down:
            if self._down and not self._told:
                self._pressed(self._down, PRESS_SHORT)
            self._down = key
            self._since = now
            self._told = False
        elif key and not self._told and since(now, self._since) >= HELD_AFTER:
            self._told = True
            self._pressed(key, PRESS_HELD)

    def _key(self, level: int) -> int:
        for place in range(len(self._levels)):
            off = level - self._levels[place]
            if -self._tolerance <= off <= self._tolerance:
                return place + 1
        return 0
