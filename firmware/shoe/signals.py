"""Light and sound: one pattern for each class of state, as a table. For the main loop and the lights' drivers.

A pattern depends on the class alone: whatever the card, the seat or the rule, a misdeal looks and sounds like any
other. Every class has its own colour, its own lamps and its own rhythm, so that colour is never needed to tell them
apart. `hardware/signals.md` shows them.
"""

from shoelink import schema
from shoelink.timing import elapsed

LAMPS = 8

# colours as (red, green, blue); a bar at a table, not a torch
WHITE = (40, 40, 40)
AMBER = (90, 45, 0)
RED = (120, 0, 0)
BLUE = (0, 0, 90)
MAGENTA = (90, 0, 90)

READY, ATTENTION, STOP, FLOOR, ALIGN, UNSUPERVISED, FAULT, OPEN = 0, 1, 2, 3, 4, 5, 6, 7

# class: colour, light as ((lamps, ms), …) for ever (ms 0: steady), sound as ((Hz, ms), …) at its beginning (Hz 0: none)
PATTERNS = {
    READY: (WHITE, ((0xFF, 0),), ()),
    OPEN: (WHITE, ((0x7E, 900), (0xFF, 300)), ()),
    ATTENTION: (AMBER, ((0x3C, 600), (0x00, 600)), ((440, 250),)),
    STOP: (RED, ((0xFF, 120), (0x00, 120)), ((880, 200), (660, 200), (880, 200), (660, 200))),
    FLOOR: (RED, ((0xF0, 400), (0x0F, 400)), ((660, 200), (880, 200))),
    ALIGN: (BLUE, ((0x18, 0),), ()),
    UNSUPERVISED: (BLUE, ((0xAA, 900), (0x55, 900)), ((330, 150), (0, 100), (330, 150))),
    FAULT: (MAGENTA, ((0x81, 300), (0x00, 300)), ((520, 150),)),
}

DOUBT_MS = 1500  # a card that the shoe doubts is shown so long, unless the host says something before
SWEEP_MS = 25  # a lamp: white runs along the bar when a card is accepted, the same for every card
VOLUME = 16384  # of 65535: the piezo's duty, limited

_CLASS_OF = {
    schema.SIGNAL_READY: READY,
    schema.SIGNAL_ATTENTION: ATTENTION,
    schema.SIGNAL_STOP: STOP,
    schema.SIGNAL_FLOOR: FLOOR,
}


class Signals:
    """What the bar and the piezo show. `lamps` and `colour` are for the bar, `hertz` (0: silent) for the piezo.

    `opened`: the table is open, its cards are named on the line; READY is shown as OPEN then.

    Without a supervisor the host's last signal counts for nothing: it may be old. A device fault never hides a stop or
    a call for the floor.
    """

    def __init__(self, now: int, opened: bool = False):
        self.lamps = 0
        self.colour = BLUE
        self.hertz = 0
        self.supervised = False
        self.faulty = False
        self._signal = READY
        self._align = False
        self._ready = OPEN if opened else READY
        self._shown = -1
        self._began = now
        self._swept = -1
        self._doubted = -1

    def obey(self, signal: int, mode: int) -> None:
        """The host's SIGNAL and mode, in the codes of the wire; an unknown signal is a call for the floor."""
        self._signal = _CLASS_OF.get(signal, FLOOR)
        self._align = mode == schema.MODE_ALIGN
        self._doubted = -1

    def accept(self, now: int) -> None:
        """A card has left."""
        self._swept = now
        self._doubted = -1

    def doubt(self, now: int) -> None:
        """A card has left that was not read, came with another, was boxed or turned about: shown as a fault at once,
        with or without a host. What the host says next counts more."""
        self._doubted = now
        if self._shown == FAULT:
            self._shown = -1  # begins anew: its light may be between two flashes, for 300 ms

    def shown(self) -> int:
        """The class that counts now."""
        if self.supervised and self._signal in (STOP, FLOOR):
            return self._signal
        if self._doubted >= 0:
            return FAULT
        if not self.supervised:
            return UNSUPERVISED
        if self.faulty:
            return FAULT
        if self._signal == ATTENTION:
            return ATTENTION
        return ALIGN if self._align else self._ready

    def turn(self, now: int) -> bool:
        """Work out light and sound for `now` (ms); True when either changed."""
        if self._doubted >= 0 and elapsed(now, self._doubted) >= DOUBT_MS:
            self._doubted = -1
        shown = self.shown()
        if shown != self._shown:
            self._shown = shown
            self._began = now
            self._swept = -1
        colour, light, sound = PATTERNS[shown]
        since = elapsed(now, self._began)
        lamps = _at(light, since, True)
        if self._swept >= 0 and shown == self._ready:
            step = elapsed(now, self._swept) // SWEEP_MS
            if step < LAMPS:
                lamps = 1 << step
            else:
                self._swept = -1
        hertz = _at(sound, since, False)
        changed = lamps != self.lamps or colour is not self.colour or hertz != self.hertz
        self.lamps = lamps
        self.colour = colour
        self.hertz = hertz
        return changed


def _at(steps, since: int, again: bool) -> int:
    """The value of ((value, ms), …) after `since` ms; 0 after its end, unless it begins `again`."""
    whole = 0
    for value, lasts in steps:
        if lasts == 0:
            return value
        whole += lasts
    if not whole or (since >= whole and not again):
        return 0
    since %= whole
    for value, lasts in steps:
        if since < lasts:
            return value
        since -= lasts
    return 0
