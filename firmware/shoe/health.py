"""Looks after the parts while the shoe deals: which one is absent, stuck or lies, as FAULT and CLEAR. For the loop.

Only looks at parts while no card is in the throat, but for the supply. `hardware/faults.md` says of each part what can
be seen of its failure and what is done then. A fault is over when its part has been well for a second, and for twice as
long each time it comes back within two minutes: a loose wire must not fill the journal, where there is room for cards.
"""

from array import array

from shoelink import schema

from shoe.sampleclock import PER_MS, since
from shoe.selftest import BIT, DARKEST, SLOTS, TRACKS

EVERY = 100 * PER_MS  # samples
SURE = 3  # looks that must agree
SUPPLY_LOW, SUPPLY_WELL = 27800, 28800  # a third of VSYS: 4.2 V and 4.35 V
LANES_STUCK = 20  # looks at rest, 2 s, that found a lane covered, beyond those that did not
NO_REGISTER = 0x100  # detail of FAULT LANES beside the stuck lanes
HEADS_EVERY = 10  # looks, 1 s
BLIND = 0x100  # detail of FAULT HEAD beside the tracks that stay light without light
SWITCHES_EVERY = 10 * PER_MS
CALM, CALM_MOST = 1000 * PER_MS, 64000 * PER_MS


class Switch:
    """A contact that is closed to ground when all is well: debounced, three readings 10 ms apart."""

    def __init__(self, pin, code: int):
        self._pin = pin
        self.code = code
        self.open = False
        self._agree = 0

    def look(self) -> bool:
        """Read it; whether it has changed."""
        if bool(self._pin()) == self.open:
            self._agree = 0
            return False
        self._agree += 1
        if self._agree < SURE:
            return False
        self._agree = 0
        self.open = not self.open
        return True


class Health:
    """`board` has the parts, `events` takes the faults, `light` is the loop's DoubleFeed, `exits` its lanes,
    `keys` its keys. `halted`: lid or base plate are open, and no key counts but the floor's."""

    def __init__(self, board, events, light, exits, keys):
        self._board = board
        self._events = events
        self._light = light
        self._exits = exits
        self._keys = keys
        self._looked = 0
        self._switched = 0
        self._supply = 0
        self._dark = 0
        self._head_looks = 0
        self._blind = 0
        self._lanes = bytearray(8)  # looks that found each covered
        self._bad_at = array("i", [-1] * 32)  # by fault: the last look that found it
        self._calm = array("i", [0] * 32)  # and how long all must be well
        self._tampered = [Switch(board.lid, schema.FAULT_LID)]
        if board.tamper is not None:
            self._tampered.append(Switch(board.tamper, schema.FAULT_TAMPER))

    @property
    def halted(self) -> bool:
        for switch in self._tampered:
            if switch.open:
                return True
        return False

    def turn(self, now: int, idle: bool) -> None:
        """Look at what is due at sample index `now`; `idle`: no card is in the throat."""
        if since(now, self._switched) >= SWITCHES_EVERY:
            self._switched = now
            for switch in self._tampered:
                switch.look()
                self._say(switch.code, switch.open, 0, now)
        if since(now, self._looked) < EVERY:
            return
        self._looked = now
        self._see_supply(now)
        self._see_ambient(now)
        trouble = self._keys.trouble()
        self._say(schema.FAULT_KEYS, trouble, trouble, now)
        if idle:
            self._see_light(now)
            self._see_heads(now)
            self._see_lanes(now)
            self._events.clear(schema.FAULT_SAMPLES_LOST, 0, now)

    def _say(self, code: int, bad, detail: int, now: int) -> None:
        """A look has found the part bad or well."""
        before = self._bad_at[code]
        if bad:
            if not self._events.faults >> code & 1:
                again = before >= 0 and since(now, before) < 2 * CALM_MOST
                self._calm[code] = min(2 * self._calm[code], CALM_MOST) if again else CALM
            self._bad_at[code] = now
            self._events.fault(code, detail, now)
        elif before < 0 or since(now, before) >= self._calm[code]:
            self._events.clear(code, detail, now)

    def _see_supply(self, now: int) -> None:
        level = self._board.supply.read_u16()
        if level >= SUPPLY_LOW:
            self._supply = 0
        elif self._supply < SURE:
            self._supply += 1
        if self._supply == SURE or level > SUPPLY_WELL:
            self._say(schema.FAULT_SUPPLY, self._supply, level, now)

    def _see_ambient(self, now: int) -> None:
        level = self._board.ambient.read_u16()
        dazzled = level > self._board.calibration.dazzle
        if dazzled or level < self._board.calibration.dazzle_over:
            self._say(schema.FAULT_DAZZLE, dazzled, level, now)

        if level < DARKEST:
            self._dark += 1
            if self._dark == SURE:
                self._events.fault(schema.FAULT_SELF_TEST, BIT["AMBIENT"], now)  # until the next test is passed
        else:
            self._dark = 0

    def _see_heads(self, now: int) -> None:
        """Without light all tracks are dark. The slots have light of their own: while both are free the next card has
        12 mm to go to the heads, 4 ms at 3 m/s, and the heads are dark for half of one."""
        board = self._board
        self._head_looks += 1
        if self._head_looks < HEADS_EVERY or board.head_emitter is None:
            return
        lit = board.levels()
        if lit & SLOTS:
            return
        self._head_looks = 0
        board.head_emitter(0)
        board.lanes.read()  # 0.1 ms: a phototransistor on 2.2 kΩ is dark after some 20 us (QRE1113/D)
        light = ~board.levels() & TRACKS
        board.head_emitter(1)
        blind, self._blind = self._blind, light
        if light & blind:  # twice the same
            self._events.fault(schema.FAULT_HEAD, BLIND | light & blind, now)
        elif blind and not light and not lit & TRACKS:  # one that stays dark is the passage's to clear
            self._events.clear(schema.FAULT_HEAD, 0, now)

    def _see_light(self, now: int) -> None:
        board = self._board
        lit = board.light.read_u16()
        dark = -1
        if board.emitter is not None:
            board.emitter(0)
            dark = board.light.read_u16()
            board.emitter(1)
        self._light.rest(lit, dark)
        self._say(schema.FAULT_LIGHT, self._light.trouble, self._light.trouble, now)

    def _see_lanes(self, now: int) -> None:
        """A lane that is covered with no card about for 2 s is stuck, or a hand rests there: no hint comes from it."""
        seen = self._board.lanes.read()
        ignore = self._exits.ignore
        looks = self._lanes
        for lane in range(8):
            if seen < 0:
                looks[lane] = LANES_STUCK
            elif not seen >> lane & 1:
                looks[lane] = max(looks[lane] - 1, 0)
            elif looks[lane] < LANES_STUCK:
                looks[lane] += 1
            if looks[lane] == LANES_STUCK:
                ignore |= 1 << lane
            elif not looks[lane]:
                ignore &= ~(1 << lane)
        self._exits.ignore = ignore
        self._say(schema.FAULT_LANES, ignore, NO_REGISTER if seen < 0 else ignore, now)
