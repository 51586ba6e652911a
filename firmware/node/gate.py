"""The gate that a card crosses on its way to a place: two slots and a light from below say that it came, and which
way up.

Two slot sensors, outer and inner, 20 mm apart across the gate; a card that clears the inner one last has come in, one
that clears the outer one last has gone. Between them a reflective sensor looks at its lower side: the back of the
deck is printed in an ink that is dark in infrared (CARD_BACK), a face is white but for its marks. What a card shows
for most of its way counts; anything between the two levels is not said, nor is what a sensor says that sees nothing of
a card, or saw something before it came.
"""

OUTER, INNER = 1, 2
DOWN, UP, UNKNOWN = 0, 1, 2  # which way up a card lies; the codes of the link
ROOM = 8  # arrivals that wait to be asked for
LEAST = 5  # samples of the lower side, 1 ms apart: fewer say nothing
DEAD = 1000  # a reading below is no card's: 2 % of a white face's. The light is dead, or a wire is off


class Gate:
    """`look` is called each millisecond. `arrived` are the ways up of cards that came, oldest first; `blocked` says
    that something has stood in the gate for STUCK ms, `lost` counts arrivals for which there was no room."""

    STUCK = 3000

    def __init__(self, back: int, face: int):
        self._back = back  # readings up to this are a back, dark
        self._face = face  # from this on they are a face, light
        self.arrived: list = []
        self.lost = 0
        self.blocked = False
        self._slots = 0
        self._first = 0
        self._ms = 0
        self._crossed = False
        self._dark = 0
        self._light = 0
        self._between = 0
        self._lit = False  # light came back though there was no card

    def look(self, slots: int, reading: int) -> None:
        """`slots`: OUTER and INNER, as bits, blocked. `reading` 0 to 65535: light that comes back from below."""
        before, self._slots = self._slots, slots
        if slots and not before:
            self._first = slots
            self._ms = self._dark = self._light = self._between = 0
            self._crossed = False
        if not slots:
            if before:
                self._leave(before)
            self.blocked = False
            self._lit = reading > self._back
            return
        self._ms += 1
        if self._ms >= self.STUCK:
            self.blocked = True
        if slots == OUTER | INNER:  # the card is over the light for certain
            self._crossed = True
            if DEAD <= reading <= self._back:
                self._dark += 1
            elif reading >= self._face:
                self._light += 1
            else:
                self._between += 1

    def _leave(self, last: int) -> None:
        """The gate is clear; what was blocked last says where the card went."""
        if not self._crossed or last != INNER or self._first == INNER or self.blocked:
            return
        if len(self.arrived) == ROOM:
            self.lost += 1
            return
        seen = self._dark + self._light + self._between
        way = UNKNOWN
        if seen >= LEAST and not self._lit:
            if 3 * self._light >= 2 * seen:
                way = DOWN  # its face looks down at the light
            elif 3 * self._dark >= 2 * seen:
                way = UP
        self.arrived.append(way)
