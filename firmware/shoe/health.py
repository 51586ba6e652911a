"""Looks after the parts while the shoe deals: which one is absent, stuck or lies, as FAULT and CLEAR. For the loop.

Only looks at parts while no card is in the throat, but for the supply. `hardware/faults.md` says of each part what can
be seen of its failure and what is done then.
"""

from shoelink import schema

from shoe.sampleclock import PER_MS, since
from shoe.selftest import BIT, DARKEST, SLOTS, TRACKS

EVERY = 100 * PER_MS  # samples
SURE = 3  # looks that must agree
SUPPLY_LOW, SUPPLY_WELL = 27800, 28800  # a third of VSYS: 4.2 V and 4.35 V
LANES_STUCK = 20  # looks at rest, 2 s
NO_REGISTER = 0x100  # detail of FAULT LANES beside the stuck lanes
HEADS_EVERY = 10  # looks, 1 s
BLIND = 0x100  # detail of FAULT HEAD beside the tracks that stay light without light
SWITCHES_EVERY = 10 * PER_MS


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
        self._lane_looks = 0
        self._lanes_seen = 0
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
                if switch.look():
                    if switch.open:
                        self._events.fault(switch.code, 0, now)
                    else:
                        self._events.clear(switch.code, 0, now)
        if since(now, self._looked) < EVERY:
            return
        self._looked = now
        self._see_supply(now)
        self._see_ambient(now)
        self._say(self._keys.stuck, schema.FAULT_KEYS, now)
        if idle:
            self._see_light(now)
            self._see_heads(now)
            self._see_lanes(now)
            self._events.clear(schema.FAULT_SAMPLES_LOST, 0, now)

    def _say(self, trouble: int, code: int, now: int) -> None:
        if trouble:
            self._events.fault(code, trouble, now)
        else:
            self._events.clear(code, 0, now)

    def _see_supply(self, now: int) -> None:
        level = self._board.supply.read_u16()
        if level < SUPPLY_LOW:
            self._supply += 1
            if self._supply == SURE:
                self._events.fault(schema.FAULT_SUPPLY, level, now)
        else:
            self._supply = 0
            if level > SUPPLY_WELL:
                self._events.clear(schema.FAULT_SUPPLY, level, now)

    def _see_ambient(self, now: int) -> None:
        level = self._board.ambient.read_u16()
        if level > self._board.calibration.dazzle:
            self._events.fault(schema.FAULT_DAZZLE, level, now)
        elif level < self._board.calibration.dazzle_over:
            self._events.clear(schema.FAULT_DAZZLE, level, now)

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
        if self._head_looks < HEADS_EVERY or board.head_emitter is None or board.levels() & SLOTS:
            return
        self._head_looks = 0
        board.head_emitter(0)
        board.lanes.read()  # 0.1 ms: a phototransistor on 2.2 kΩ is dark after some 20 us (QRE1113/D)
        light = ~board.levels() & TRACKS
        board.head_emitter(1)
        blind, self._blind = self._blind, light
        if light and light == blind:  # twice the same
            self._events.fault(schema.FAULT_HEAD, BLIND | light, now)
        elif blind and not light:
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
        self._say(self._light.trouble, schema.FAULT_LIGHT, now)

    def _see_lanes(self, now: int) -> None:
        """A lane that is covered with no card about for 2 s is stuck, or a hand rests there: no hint comes from it."""
        seen = self._board.lanes.read()
        if seen < 0:
            self._exits.ignore = 0xFF
            self._events.fault(schema.FAULT_LANES, NO_REGISTER, now)
            return
        if seen != self._lanes_seen:
            self._lanes_seen = seen
            self._lane_looks = 0
            return
        self._lane_looks += 1
        if self._lane_looks >= LANES_STUCK:
            self._exits.ignore = seen
            self._say(seen, schema.FAULT_LANES, now)
