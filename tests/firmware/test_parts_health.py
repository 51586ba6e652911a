"""The shoe's looks at its own parts: what is called a fault and when it is over; and the self-test, part by part.

The board's parts are levels as hardware/pinout.md has them; lamps light what they light, so that a part that fails is
seen through the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import Fram
from dealershoe.link.faults import DETAILS
from firmware.test_parts_fram import Memory
from shoelink import schema

health: Any = import_module("shoe.health")
selftest: Any = import_module("shoe.selftest")
calibration: Any = import_module("shoe.calibration")
lanes: Any = import_module("shoe.lanes")
LEVELS = (8191, 16383, 24575, 32767, 40959, 49151, 57343)  # of the keys, and of none: hardware/pinout.md
DEFAULTS = (60000, 30000, 40000, 30000, *LEVELS, 2730)
MS = 20  # samples
MINUTE = 60_000
TRACKS, THROAT, LIP = 0x1F, 0x20, 0x40
BIT = {name: bit for bit, name in schema.CODES["part"]}


def now_of(level: int | Callable[[], int]) -> int:
    return level if isinstance(level, int) else level()


class Adc:
    def __init__(self, level: int | Callable[[], int]) -> None:
        self.level = level

    def read_u16(self) -> int:
        return now_of(self.level)


class Parts:
    """All is well with it; a test spoils what it likes. `now` in ms."""

    SUPPLY_LOW = health.SUPPLY_LOW

    def __init__(self) -> None:
        self.now = 0
        self.lit = {"heads": 1, "light": 1}
        self.shown: list[Any] = []
        self.dark = self.blind = self.slots = 0
        self.lane_bits: int | Callable[[], int] = 0
        self.ambient, self.supply, self.keys = Adc(3000), Adc(30800), Adc(LEVELS[6])
        self.light = Adc(lambda: 60000 if self.lit["light"] else 300)
        self.lid_open: int | Callable[[], int] = 0
        self.plate_off: int | Callable[[], int] = 0
        self.lid: Any = lambda: now_of(self.lid_open)
        self.tamper: Any = lambda: now_of(self.plate_off)
        self.head_emitter: Any = lambda level: self.lit.__setitem__("heads", level)
        self.emitter: Any = lambda level: self.lit.__setitem__("light", level)
        self.part = Fram()
        self.memory: Any = Memory(self.part)
        self.calibration = calibration.Calibration(self.memory, DEFAULTS)
        self.lanes = self.sampler = self.bar = self.piezo = self
        self.free = 60_000
        self.sampling = True

    def levels(self) -> int:
        heads = 0 if self.lit["heads"] else TRACKS
        return (heads | self.dark) & ~self.blind | self.slots

    def read(self) -> int:
        return now_of(self.lane_bits)

    def waiting(self) -> int:
        return self.now * MS if self.sampling else 77

    def free_memory(self) -> int:
        return self.free

    def show(self, lamps: int, colour: Any) -> None:
        self.shown.append((lamps, colour))

    def tone(self, hertz: int) -> None:
        self.shown.append(hertz)


class Told:
    """FAULT and CLEAR as events.py tells them."""

    def __init__(self) -> None:
        self.faults = 0
        self.said: Counter[str] = Counter()
        self.open: dict[str, int] = {}

    def fault(self, code: int, detail: int, index: int) -> None:
        name = dict(schema.CODES["code"])[code]
        if not self.faults >> code & 1:
            self.faults |= 1 << code
            self.said[name] += 1
            self.open[name] = detail

    def clear(self, code: int, detail: int, index: int) -> None:
        if self.faults >> code & 1:
            self.faults &= ~(1 << code)
            del self.open[dict(schema.CODES["code"])[code]]


class Looks:
    """A shoe's health, a turn of the loop each 10 ms."""

    def __init__(self) -> None:
        self.parts, self.told = Parts(), Told()
        self.exits = lanes.ExitLanes()
        self.stuck = 0
        light = import_module("shoe.doublefeed").DoubleFeed(60000, 30000)
        self.health = health.Health(self.parts, self.told, light, self.exits, self)

    def trouble(self) -> int:
        return self.stuck

    def run(self, ms: int, idle: bool = True) -> Looks:
        for _ in range(ms // 10):
            self.parts.now += 10
            self.health.turn(self.parts.now * MS & 0x3FFFFFFF, idle)
        return self


@pytest.fixture
def looks() -> Looks:
    made = Looks().run(5_000)
    assert made.told.said == {}
    return made


# ---- while the shoe deals


def every(looks: Looks, ms: int, good: int, bad: int) -> Callable[[], int]:
    """A level that is good and bad in turn, for so many ms each: a loose wire."""
    return lambda: (good, bad)[looks.parts.now // ms % 2]


LOOSE: dict[str, tuple[str, Callable[[Looks], None]]] = {
    "lid": ("LID", lambda looks: setattr(looks.parts, "lid_open", every(looks, 50, 0, 1))),
    "base plate": ("TAMPER", lambda looks: setattr(looks.parts, "plate_off", every(looks, 50, 0, 1))),
    "exit lanes' clock": ("LANES", lambda looks: setattr(looks.parts, "lane_bits", every(looks, 300, 0, -1))),
    "ambient light": ("DAZZLE", lambda looks: setattr(looks.parts, "ambient", Adc(every(looks, 150, 3000, 65535)))),
    "supply": ("SUPPLY", lambda looks: setattr(looks.parts, "supply", Adc(every(looks, 400, 30800, 20000)))),
    "light": ("LIGHT", lambda looks: setattr(looks.parts, "light", Adc(every(looks, 1500, 60000, 0)))),
}


@pytest.mark.parametrize("wire", LOOSE)
def test_a_loose_wire_is_named_and_leaves_the_journal_its_room(wire: str, looks: Looks) -> None:
    """The journal has 512 places, and a shoe without a host must keep its cards in them."""
    name, loosen = LOOSE[wire]
    loosen(looks)
    looks.run(2_000)
    assert name in looks.told.said
    looks.run(10 * MINUTE)
    assert set(looks.told.said) == {name}
    assert looks.told.said[name] <= 20


def test_a_fault_that_came_once_is_over_after_a_second_and_one_that_comes_again_and_again_after_a_minute(
    looks: Looks,
) -> None:
    def open_for(ms: int) -> int:
        """How long LID lasts, in ms, after the lid was open for so long."""
        looks.parts.lid_open = 1
        looks.run(ms)
        assert "LID" in looks.told.open
        looks.parts.lid_open = 0
        begun = looks.parts.now
        while "LID" in looks.told.open:
            looks.run(10)
        return looks.parts.now - begun

    lasted = [open_for(100) for _ in range(8)]
    assert [round(ms, -3) for ms in lasted] == [1000, 2000, 4000, 8000, 16000, 32000, 64000, 64000]
    looks.run(3 * MINUTE)
    assert round(open_for(100), -3) == 1000


def test_keys_count_again_as_soon_as_the_lid_is_closed(looks: Looks) -> None:
    looks.parts.lid_open = 1
    assert looks.run(50).health.halted
    looks.parts.lid_open = 0
    assert not looks.run(50).health.halted
    assert "LID" in looks.told.open


@pytest.mark.parametrize("switch", ["lid_open", "plate_off"])
def test_a_contact_that_bounces_for_20_ms_is_not_open(switch: str, looks: Looks) -> None:
    setattr(looks.parts, switch, 1)
    looks.run(20)
    setattr(looks.parts, switch, 0)
    assert looks.run(1000).told.said == {}


def test_the_supply_is_low_after_three_looks_and_well_above_435_volts(looks: Looks) -> None:
    """hardware/faults.md: a third of VSYS below 4.2 V in three readings. 65535 are 3.3 V."""
    volts = 65535 / 3.3 / 3
    looks.parts.supply = Adc(round(4.1 * volts))
    assert looks.run(200).told.said == {}
    assert "SUPPLY" in looks.run(150).told.open
    looks.parts.supply = Adc(round(4.3 * volts))
    assert "SUPPLY" in looks.run(5000).told.open  # neither low nor well: no end
    looks.parts.supply = Adc(round(4.4 * volts))
    assert looks.run(2500).told.open == {}


def test_a_dip_between_low_and_well_does_not_add_up(looks: Looks) -> None:
    for _ in range(20):
        for level in (27_000, 28_000):
            looks.parts.supply = Adc(level)
            looks.run(200)
    assert looks.told.said == {}


def test_dazzle_ends_below_its_own_level(looks: Looks) -> None:
    looks.parts.ambient = Adc(41_000)
    assert "DAZZLE" in looks.run(200).told.open
    looks.parts.ambient = Adc(35_000)
    assert "DAZZLE" in looks.run(5000).told.open
    looks.parts.ambient = Adc(29_000)
    assert looks.run(2500).told.open == {}


def test_the_ambient_receiver_is_dead_after_three_looks(looks: Looks) -> None:
    looks.parts.ambient = Adc(0)
    assert looks.run(200).told.said == {}
    assert looks.run(150).told.open == {"SELF_TEST": BIT["AMBIENT"]}


def test_a_track_that_stays_light_is_named_at_the_second_look_with_its_number(looks: Looks) -> None:
    looks.parts.blind = 0x02
    assert looks.run(1000).told.said == {}
    assert looks.run(1100).told.open == {"HEAD": health.BLIND | 0x02}
    looks.parts.blind = 0
    assert looks.run(1100).told.open == {}


def test_a_track_that_stays_light_while_another_one_flickers_is_named(looks: Looks) -> None:
    for blind in (0x02, 0x06, 0x02, 0x06):
        looks.parts.blind = blind
        looks.run(1000)
    assert looks.told.open == {"HEAD": health.BLIND | 0x02}


def test_a_dark_track_is_not_called_well_because_another_one_was_light_once(looks: Looks) -> None:
    looks.parts.blind = 0x02
    looks.run(1000)
    looks.parts.blind, looks.parts.dark = 0, 0x04
    looks.told.fault(schema.FAULT_HEAD, 0x04, 0)  # as the passage says it
    assert looks.run(3000).told.open == {"HEAD": 0x04}


def test_the_emitters_are_not_switched_off_with_a_card_at_a_slot(looks: Looks) -> None:
    off = []

    def emit(level: int) -> None:
        off.append(level)

    looks.parts.head_emitter = emit
    looks.parts.slots = THROAT
    looks.run(5000)
    looks.parts.slots = 0
    looks.run(5000, idle=False)
    assert off == []
    assert len(looks.run(5000).parts.shown) == 0
    assert off == [0, 1] * 5


def test_no_part_in_the_cards_way_is_looked_at_while_one_is_in_the_throat(looks: Looks) -> None:
    looks.parts.lane_bits, looks.parts.light = 0x08, Adc(400)
    assert looks.run(10_000, idle=False).told.said == {}


def test_a_covered_lane_gives_no_hint_after_two_seconds_and_does_again_when_it_is_clear(looks: Looks) -> None:
    looks.parts.lane_bits = 0x08
    assert looks.run(1900).told.said == {}
    assert looks.run(200).told.open == {"LANES": 0x08}
    looks.exits.see(0x08)
    assert looks.exits.take() == 0
    looks.parts.lane_bits = 0
    looks.run(3500)
    looks.exits.see(0x08)
    assert (looks.exits.take(), looks.told.open) == (0x08, {})


def test_a_covered_lane_is_found_though_another_one_comes_and_goes(looks: Looks) -> None:
    for _ in range(15):
        for seen in (0x08, 0x28):
            looks.parts.lane_bits = seen
            looks.run(100)
    assert looks.told.open == {"LANES": 0x08}


def test_a_lane_that_drops_out_now_and_then_is_found(looks: Looks) -> None:
    for _ in range(12):
        for seen, ms in ((0x08, 300), (0x00, 100)):
            looks.parts.lane_bits = seen
            looks.run(ms)
    assert looks.told.open == {"LANES": 0x08}


def test_a_register_that_does_not_answer_gives_no_hint_at_once(looks: Looks) -> None:
    looks.parts.lane_bits = -1
    assert looks.run(100).told.open == {"LANES": health.NO_REGISTER}
    looks.exits.see(0x08)
    assert looks.exits.take() == 0
    looks.parts.lane_bits = 0
    assert "LANES" in looks.run(1500).told.open
    assert looks.run(2000).told.open == {}
    looks.exits.see(0x08)
    assert looks.exits.take() == 0x08


def test_a_double_feed_sensor_that_is_stuck_at_one_card_is_a_liar(looks: Looks) -> None:
    """30000 through one card: half of what is calibrated, so it is no dust; but it does not go off with its emitter."""
    looks.parts.light = Adc(30_000)
    assert looks.run(500).told.open == {"LIGHT": import_module("shoe.doublefeed").LIAR}


# ---- the self-test


@pytest.fixture(autouse=True)
def no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython's takes half a second of a test run."""
    monkeypatch.setattr(selftest, "gc", SimpleNamespace(collect=lambda: None))


def judged(parts: Parts) -> Any:
    def wait(ms: int) -> None:
        parts.now += ms

    test = selftest.SelfTest(parts, wait, lambda: parts.now)
    test.took = test.run()
    return test


SPOIL: dict[str, list[tuple[str, Callable[[Parts], None]]]] = {
    "MEMORY": [("short", lambda parts: setattr(parts, "free", 19_999))],
    "FRAM": [
        (fault, lambda parts, fault=fault: setattr(parts.part, "fault", fault))  # type: ignore[misc]
        for fault in ("absent", "stuck", "forgets", "protected", "flips", "stranger")
    ],
    "HEADS": [
        (f"track {bit} {how}", lambda parts, bit=bit, how=how: setattr(parts, how, 1 << bit))
        for bit in range(5)
        for how in ("dark", "blind")
    ]
    + [("emitters dead", lambda parts: setattr(parts, "head_emitter", lambda level: parts.lit.update(heads=0)))],
    "SLOTS": [
        ("throat blocked", lambda parts: setattr(parts, "slots", THROAT)),
        ("lip blocked", lambda parts: setattr(parts, "slots", LIP)),
    ],
    "LIGHT": [
        ("dark", lambda parts: setattr(parts, "light", Adc(400))),
        ("dusty", lambda parts: setattr(parts, "light", Adc(lambda: 29_000 * parts.lit["light"]))),
        ("stuck at one card", lambda parts: setattr(parts, "light", Adc(30_000))),
        ("saturated", lambda parts: setattr(parts, "light", Adc(lambda: 65_535 * parts.lit["light"]))),
    ],
    "LANES": [("no register", lambda parts: setattr(parts, "lane_bits", -1))]
    + [
        (f"lane {lane}", lambda parts, lane=lane: setattr(parts, "lane_bits", 1 << lane))  # type: ignore[misc]
        for lane in range(8)
    ],
    "KEYS": [
        ("between two keys", lambda parts: setattr(parts, "keys", Adc(20_479))),
        ("wire at ground", lambda parts: setattr(parts, "keys", Adc(400))),
        ("wire off", lambda parts: setattr(parts, "keys", Adc(65_535))),
    ],
    "LID": [
        ("lid", lambda parts: setattr(parts, "lid_open", 1)),
        ("plate", lambda parts: setattr(parts, "plate_off", 1)),
    ],
    "AMBIENT": [
        ("dead", lambda parts: setattr(parts, "ambient", Adc(0))),
        ("dazzled", lambda parts: setattr(parts, "ambient", Adc(40_001))),
    ],
    "SUPPLY": [
        ("low", lambda parts: setattr(parts, "supply", Adc(27_799))),
        ("dead", lambda parts: setattr(parts, "supply", Adc(0))),
        ("over 6 V", lambda parts: setattr(parts, "supply", Adc(40_001))),
    ],
    "SAMPLER": [("stalled", lambda parts: setattr(parts, "sampling", False))],
}
CASES = [(part, name, spoil) for part, ways in SPOIL.items() for name, spoil in ways]


@pytest.mark.parametrize(("part", "name", "spoil"), CASES, ids=[f"{part} {name}" for part, name, _ in CASES])
def test_each_test_fails_when_its_part_is_broken_and_no_other_does(
    part: str, name: str, spoil: Callable[[Parts], None]
) -> None:
    parts = Parts()
    test = judged(parts)
    assert test.failed == BIT["CALIBRATION"]  # never calibrated; else all is well
    spoil(parts)
    test = judged(parts)
    assert test.failed & ~BIT["CALIBRATION"] == test.faulty == BIT[part]
    assert test.tested & test.failed == test.failed


def test_every_detail_that_the_firmware_tells_of_memory_and_keys_has_a_sentence_of_its_own() -> None:
    keys, kept = import_module("shoe.keys"), import_module("shoe.kept")
    assert {key: name for key, (name, _) in DETAILS.items() if key[0] != schema.FAULT_TAG} == {  # test_tags.py has it
        (schema.FAULT_FRAM, kept.ABSENT): "absent",
        (schema.FAULT_FRAM, kept.FAILED): "failed",
        (schema.FAULT_FRAM, kept.DAMAGED): "damaged",
        (schema.FAULT_KEYS, keys.BETWEEN): "between",
        (schema.FAULT_KEYS, keys.GROUND): "ground",
        (schema.FAULT_KEYS, keys.OFF): "off",
    }


def test_every_part_that_can_be_sensed_is_spoilt_above() -> None:
    shown = {"BAR", "PIEZO"}  # a person looks and listens
    person = {"CODE"}  # draws the test card
    assert set(SPOIL) == set(BIT) - shown - person - {"CALIBRATION", "READER"}  # of the other variant: test_reader.py
    whole = sum(bit for name, bit in BIT.items() if name not in person | {"READER"})
    assert judged(Parts()).tested == whole


def test_bar_and_piezo_are_shown_for_50_ms_each_and_silent_after() -> None:
    parts = Parts()
    took = judged(parts).took
    assert parts.shown == [(0xFF, (40, 40, 40)), 880, 0]
    assert 100 <= took <= 150


def test_the_emitters_burn_again_after_the_test() -> None:
    parts = Parts()
    judged(parts)
    assert parts.lit == {"heads": 1, "light": 1}


def test_what_was_mended_is_well_in_the_next_test_and_a_test_card_in_its_own() -> None:
    parts = Parts()
    parts.lid_open = 1
    test = judged(parts)
    test.judge_card(False)
    assert test.failed & (BIT["LID"] | BIT["CODE"]) == BIT["LID"] | BIT["CODE"]
    test.judge_card(True)
    assert test.failed & BIT["CODE"] == 0
    parts.lid_open = 0
    test.run()
    assert test.faulty == 0


def test_a_board_without_the_optional_parts_is_not_told_to_have_tested_them() -> None:
    parts = Parts()
    parts.memory = parts.tamper = parts.emitter = parts.head_emitter = None
    test = judged(parts)
    assert not test.tested & BIT["FRAM"]
    assert test.faulty == 0
    parts.dark = 0x04  # that is seen without switching the emitters
    assert judged(parts).faulty == BIT["HEADS"]
