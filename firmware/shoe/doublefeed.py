"""The light through the card: is it dim enough for two, and is the light itself to be believed. For the loop.

Every card takes the same share of the light, so the limit is a share of what comes through no card, and that is
followed while the throat is empty: dust settles slowly. The limit lies between one card and two, in the geometric
middle.
"""

DUST, SATURATED, LIAR = 1, 2, 3  # detail of FAULT LIGHT: hardly any light comes; too much; it does not go off
_FULL = 64500  # a receiver in its stop
_SOON, _LATE = 3, 10  # readings at rest until a fault is one, and is over


class DoubleFeed:
    """`free` and `one` are the calibrated readings through no card and one. `well`: two_cards may be asked.

    A light that fails finds no doubles, and says so: it must not make two draws of each card.
    """

    def __init__(self, free: int, one: int):
        self.well = True
        self.trouble = 0
        self.adjust(free, one)

    def adjust(self, free: int, one: int) -> None:
        """Another calibration."""
        self._calibrated = free
        self._free16 = free << 4  # followed, times 16
        # between one card (one) and two (one * one / free): sqrt(free * one * one * one) / free, in 1024ths of free
        self._share = _root((one << 10) // free * ((one << 10) // free) * ((one << 10) // free) >> 10)
        self._bad = self._good = 0
        self.limit = free * self._share >> 10

    def two_cards(self, reading: int) -> bool:
        """The light is as dim as two cards make it."""
        return self.well and reading < self.limit

    def rest(self, reading: int, dark: int) -> None:
        """No card is in the throat: the light gives `reading`, and `dark` with its emitter off (-1: that cannot be
        switched). Some ten times a second."""
        trouble = 0
        if reading >= _FULL:
            trouble = SATURATED
        elif 2 * reading < self._calibrated:
            trouble = DUST
        elif dark >= 0 and 4 * dark > reading:
            trouble = LIAR
        if trouble:
            self._good = 0
            self._bad += 1
            if self._bad >= _SOON:
                self.trouble = trouble
                self.well = False
            return
        self._bad = 0
        self._free16 += reading - (self._free16 >> 4)
        self.limit = (self._free16 >> 4) * self._share >> 10
        if self.trouble:
            self._good += 1
            if self._good >= _LATE:
                self.trouble = 0
                self.well = True


def _root(square: int) -> int:
    """The whole part of a square root."""
    root = 0
    bit = 1 << 14
    while bit:
        if (root + bit) * (root + bit) <= square:
            root += bit
        bit >>= 1
    return root
