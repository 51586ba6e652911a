"""Parts by their levels: calibration in FRAM, double-feed light, exit lanes through the register, the key ladder."""

from __future__ import annotations

import struct
import zlib
from importlib import import_module
from itertools import accumulate, cycle, pairwise
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import Fram, PowerLossError
from dealershoe.emulate.parts.register165 import FAULTS, Register165
from firmware.parts_machine import Wires, stand_in
from firmware.test_parts_fram import Memory
from hypothesis import given
from hypothesis import strategies as st
from shoelink import schema

calibration: Any = import_module("shoe.calibration")
doublefeed: Any = import_module("shoe.doublefeed")
keys: Any = import_module("shoe.keys")
lanes: Any = import_module("shoe.lanes")

LEVELS = (8191, 16383, 24575, 32767, 40959, 49151, 57343)  # of the keys, and of none: hardware/pinout.md
NONE = LEVELS[6]
DEFAULTS = (60000, 30000, 40000, 30000, *LEVELS, 2730)


def kept(part: Fram) -> Any:
    return calibration.Calibration(Memory(part), DEFAULTS)


# ---- calibration


def test_a_shoe_that_was_never_calibrated_takes_the_boards_levels_and_says_so() -> None:
    fresh = kept(Fram())
    assert (fresh.free, fresh.one, fresh.keys, fresh.state) == (60000, 30000, LEVELS, calibration.DEFAULTS)
    assert calibration.Calibration(None, DEFAULTS).state == calibration.DEFAULTS


def test_a_calibration_is_kept_and_the_newest_counts() -> None:
    part = Fram()
    for free in (50000, 52000, 54000):
        assert kept(part).keep(free, free // 2)
        again = kept(part)
        assert (again.free, again.one, again.state) == (free, free // 2, calibration.GOOD)


def test_a_cut_at_any_byte_leaves_the_old_calibration_or_the_new() -> None:
    part = Fram()
    kept(part).keep(50000, 25000)
    before = bytes(part.memory)
    size = None
    for cut in range(33):
        again = Fram(bytearray(before))
        again.cut = cut
        try:
            kept(again).keep(40000, 20000)
        except PowerLossError:
            assert kept(again).free == 50000
        else:
            size = size or cut
            assert kept(again).free == 40000
        assert kept(again).state == calibration.GOOD
    assert size == 32


@given(place=st.sampled_from((0x40, 0x80)), at=st.integers(0, 31), bit=st.integers(0, 7))
def test_any_wrong_bit_in_one_copy_is_seen_and_the_other_counts(place: int, at: int, bit: int) -> None:
    part = Fram()
    kept(part).keep(50000, 25000)
    kept(part).keep(40000, 20000)
    part.memory[place + at] ^= 1 << bit
    assert kept(part).free in (50000, 40000)
    part.memory[(0xC0 - place) + at] ^= 1 << bit
    spoilt = kept(part)
    assert (spoilt.state, spoilt.free) == (calibration.SPOILT, 60000)


@pytest.mark.parametrize(
    ("free", "one"), [(0, 0), (60000, 60000), (60000, 9000), (5000, 2500)], ids=["dark", "no card", "three", "dim"]
)
def test_levels_that_cannot_be_true_are_not_kept(free: int, one: int) -> None:
    part = Fram()
    one_kept = kept(part)
    assert not one_kept.keep(free, one)
    assert one_kept.free == 60000
    assert kept(part).state == calibration.DEFAULTS


def test_a_memory_that_does_not_keep_is_noticed() -> None:
    part = Fram()
    part.fault = "forgets"
    assert not kept(part).keep(50000, 25000)


def test_the_newest_copy_counts_when_its_number_goes_round() -> None:
    """65535 of 16 bits is older than 0."""
    part = Fram()
    one = kept(part)
    one._turn = 65_534
    for free in (50000, 52000, 54000):
        assert one.keep(free, free // 2)
        assert kept(part).free == free


def test_a_copy_of_another_version_or_with_levels_that_cannot_be_true_is_not_used() -> None:
    part = Fram()
    kept(part).keep(50000, 25000)
    place = next(place for place in (0x40, 0x80) if any(part.memory[place : place + 32]))
    good = bytes(part.memory[place : place + 28])
    for at, wrong in ((3, b"\x02"), (26, bytes(2)), (6, bytes(2))):  # version, tolerance, the light through no card
        copy = good[:at] + wrong + good[at + len(wrong) :]
        part.memory[place : place + 32] = copy + zlib.crc32(copy).to_bytes(4, "little")
        assert kept(part).state == calibration.SPOILT, at
    part.memory[place : place + 32] = good + zlib.crc32(good).to_bytes(4, "little")
    assert kept(part).state == calibration.GOOD


def test_a_calibration_of_an_older_firmware_counts_for_the_light_and_the_keys_are_the_boards() -> None:
    """It has the levels of a ladder that began at ground: taken for these keys, a wire at ground would be one."""
    part = Fram()
    older = (55000, 27000, 41000, 31000, 0, 10922, 21845, 32767, 43690, 54612, 3640)
    copy = struct.pack("<3sBH11H", b"DSC", 1, 9, *older)
    part.memory[0x80:0xA0] = copy + zlib.crc32(copy).to_bytes(4, "little")
    found = kept(part)
    assert (found.state, found.free, found.one) == (calibration.GOOD, 55000, 27000)
    assert (found.dazzle, found.dazzle_over) == (41000, 31000)
    assert (found.keys, found.tolerance) == (LEVELS, 2730)
    assert found.keep(50000, 25000)  # and the next copy has these, for a firmware that takes them from there
    _, _, turn, *values = struct.unpack("<3sBH11H", bytes(part.memory[0x40:0x5C]))
    assert (turn, values) == (10, [50000, 25000, 41000, 31000, *LEVELS[:6], 2730])


def test_dazzle_must_begin_above_its_end_and_without_a_memory_nothing_is_kept() -> None:
    assert calibration.sensible((50000, 25000, 30001, 30000, *LEVELS[:6], 2730))
    assert not calibration.sensible((50000, 25000, 30000, 30000, *LEVELS[:6], 2730))
    assert not calibration.Calibration(None, DEFAULTS).keep(50000, 25000)


# ---- the double-feed light


@given(free=st.integers(20000, 64000), share=st.integers(40, 60))
def test_the_limit_lies_between_one_card_and_two(free: int, share: int) -> None:
    one = free * share // 100
    light = doublefeed.DoubleFeed(free, one)
    assert light.two_cards(one * one // free * 102 // 100)
    assert not light.two_cards(one * 95 // 100)


def test_dust_is_followed_and_at_half_of_the_light_it_is_a_fault() -> None:
    light = doublefeed.DoubleFeed(60000, 30000)
    level = 60000
    while level > 30500:  # half the light gone over 5 minutes
        level -= 10
        light.rest(level, 300)
        assert light.well
        # one card through the dust is not two, two are; the limit follows within a second or two
        assert not light.two_cards(level // 2)
        assert light.two_cards(level // 4)
    for _ in range(3):
        light.rest(29000, 300)
    assert (light.trouble, light.two_cards(1000)) == (doublefeed.DUST, False)
    for _ in range(9):
        light.rest(60000, 300)
    assert (light.trouble, light.well) == (doublefeed.DUST, False)  # one look is none
    light.rest(60000, 300)
    assert (light.trouble, light.well) == (0, True)


@pytest.mark.parametrize(
    ("lit", "dark", "trouble"),
    [(400, 300, doublefeed.DUST), (65535, 300, doublefeed.SATURATED), (60000, 59000, doublefeed.LIAR)],
    ids=["emitter dead", "receiver in its stop", "light that does not go off"],
)
def test_a_light_that_cannot_be_believed_makes_no_double(lit: int, dark: int, trouble: int) -> None:
    light = doublefeed.DoubleFeed(60000, 30000)
    light.rest(lit, dark)
    assert light.trouble == 0  # one reading is none
    for _ in range(2):
        light.rest(lit, dark)
    assert light.trouble == trouble
    assert not light.two_cards(0)


# ---- the exit lanes


@pytest.fixture
def register() -> Register165:
    return Register165()


@pytest.fixture
def reader(register: Register165, monkeypatch: pytest.MonkeyPatch) -> Any:
    wires = Wires()

    def drive(pin: int, level: int) -> None:
        (register.load if pin == 19 else register.clock)(level)
        wires.levels[17] = register.data()

    wires.on_drive = drive
    return stand_in(monkeypatch, "drivers.shift165", None, wires).Shift165(17, 18, 19)


@given(levels=st.integers(0, 255))
def test_the_register_shifts_d7_first_and_takes_ds_in_behind(levels: int) -> None:
    """Nexperia 74HC165, function table; DS is tied to the supply."""
    register = Register165()
    register.lanes = levels
    register.load(0)
    register.load(1)
    register.lanes = ~levels & 0xFF  # what comes after the load does not count
    out = []
    for _ in range(10):
        out.append(register.data())
        register.clock(1)
        register.clock(0)
    assert out == [levels >> bit & 1 for bit in range(7, -1, -1)] + [1, 1]


def test_while_load_is_low_the_output_follows_d7_and_no_clock_counts() -> None:
    register = Register165()
    register.load(0)
    for level in (0x80, 0x00, 0x80):
        register.lanes = level
        register.clock(1)
        register.clock(0)
        assert register.data() == level >> 7


@pytest.mark.parametrize("levels", [0x00, 0x01, 0x80, 0x5A, 0xFF])
def test_the_driver_reads_the_lanes(reader: Any, register: Register165, levels: int) -> None:
    register.lanes = levels
    assert [reader.read(), reader.read()] == [levels, levels]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_register_that_fails_gives_no_lane(reader: Any, register: Register165, fault: str) -> None:
    """NOTHING, or all eight at once, which no card covers; after some readings, for a register that held something."""
    register.fault = fault
    register.lanes = 0x04
    exits = lanes.ExitLanes()
    readings = [reader.read() for _ in range(4)]
    exits.see(readings[-1])
    assert readings[-1] in (-1, 0xFF)
    assert exits.take() == 0


def test_a_lane_that_is_ignored_and_more_than_two_lanes_give_no_hint() -> None:
    exits = lanes.ExitLanes()
    exits.ignore = 0b1000
    for seen, hint in ((0b1000, 0), (0b1100, 0b0100), (0b0111, 0), (0b0011, 0b0011), (-1, 0)):
        exits.see(seen)
        assert exits.take() == hint


# ---- the keys


class Fingers:
    """Presses keys at sample times; the ladder is a series of equal resistors, the lower of two keys counts."""

    def __init__(self, level: int = NONE) -> None:
        self.told: list[tuple[int, int]] = []
        self.keys = keys.Keys(LEVELS, 2730, lambda key, press: self.told.append((key, press)))
        self.keys.start(level)
        self.now = 0

    def hold(self, level: int, ms: int) -> Fingers:
        end = self.now + ms * 20
        while self.now < end:
            if self.keys.is_due(self.now):
                self.keys.read(level, self.now)
            self.now += 20
        return self


def test_two_keys_at_once_are_neither() -> None:
    for first, second in ((5, 2), (2, 5)):
        fingers = Fingers().hold(NONE, 30).hold(LEVELS[first], 60).hold(LEVELS[second], 60).hold(LEVELS[first], 60)
        assert fingers.hold(NONE, 30).told == []
        assert fingers.hold(LEVELS[first], 60).hold(NONE, 30).told == [(first + 1, schema.PRESS_SHORT)]


@given(
    press=st.floats(60, 500),  # ms
    bounces=st.tuples(*[st.lists(st.floats(0.02, 5), max_size=40)] * 2),
    turns=st.lists(st.floats(4, 12), min_size=1),
)
def test_a_press_is_one_however_its_contact_bounces(
    press: float, bounces: tuple[list[float], list[float]], turns: list[float]
) -> None:
    """For 10 ms as it closes and as it opens (B3F, data sheet: 5 ms at most). Readings are 4 to 12 ms apart."""
    edges = []  # ms, at which the contact is the other way from then on
    for at, bounce in zip((0, press), bounces, strict=True):
        edges += [at, *(at + ms for ms in accumulate(bounce) if ms < 10)]
        if len(edges) % 2 == (at > 0):
            edges.append(at + 10)  # at rest
    fingers, now = Fingers().hold(NONE, 50), -50.0
    start = fingers.now
    for turn in cycle(turns):
        now += turn
        closed = sum(edge <= now for edge in edges) % 2
        fingers.keys.read(LEVELS[4] if closed else NONE, start + round((now + 50) * 20))
        if now > press + 60:
            break
    assert fingers.told == [(5, schema.PRESS_SHORT)]


def test_done_and_new_hand_held_for_two_seconds_ask_for_the_self_test() -> None:
    """Done is held first; the ladder then shows new hand, the lower of the two."""
    fingers = Fingers().hold(NONE, 30).hold(LEVELS[4], 300).hold(LEVELS[0], 1900)
    assert not fingers.keys.test
    assert fingers.hold(LEVELS[0], 150).keys.test
    fingers.keys.test = False
    assert not fingers.hold(LEVELS[0], 5000).hold(NONE, 30).keys.test  # once
    assert fingers.told == []


@pytest.mark.parametrize("steps", [((0, 3000),), ((4, 900), (0, 3000)), ((3, 300), (0, 3000)), ((4, 300), (1, 3000)),
                                   ((4, 300), (0, 1800), (4, 300), (0, 1800))])  # fmt: skip
def test_no_other_pair_and_no_key_alone_asks_for_it(steps: tuple[tuple[int, int], ...]) -> None:
    fingers = Fingers().hold(NONE, 30)
    for key, ms in steps:
        fingers.hold(LEVELS[key], ms)
    assert not fingers.hold(NONE, 30).keys.test


def test_a_key_that_is_stuck_is_named_after_30_s_and_over_when_it_is_let_go() -> None:
    fingers = Fingers().hold(NONE, 30).hold(LEVELS[1], 29_900)
    assert fingers.keys.trouble() == 0
    assert fingers.hold(LEVELS[1], 300).keys.trouble() == 2
    fingers.hold(NONE, 30)
    assert [fingers.keys.trouble() for _ in range(2)] == [2, 0]  # until it was let go, and not from then on
    assert fingers.told == []


@pytest.mark.parametrize(("ms", "press"), [(780, schema.PRESS_SHORT), (820, schema.PRESS_HELD),
                                           (4900, schema.PRESS_HELD), (5100, None)])  # fmt: skip
def test_a_held_key_is_told_when_it_is_let_go_and_one_that_is_held_for_5_s_is_not(ms: int, press: int | None) -> None:
    """Done held is undo, exposed held says that a player showed a card: neither from a key that is stuck."""
    fingers = Fingers().hold(NONE, 30).hold(LEVELS[4], ms)
    assert fingers.told == []
    assert fingers.hold(NONE, 30).told == ([] if press is None else [(5, press)])


def test_a_key_that_sticks_below_another_one_tells_of_neither() -> None:
    """Nor does any other count until it is let go: the ladder shows the lower of two."""
    fingers = Fingers().hold(NONE, 30).hold(LEVELS[4], 40_000)
    for key in (0, 1, 2, 3):
        fingers.hold(LEVELS[key], 100).hold(LEVELS[4], 200)
    assert fingers.keys.trouble() == 5
    assert fingers.hold(NONE, 30).told == []


def test_a_level_of_no_key_between_two_presses_tells_of_neither() -> None:
    fingers = Fingers().hold(NONE, 30).hold(20479, 100).hold(LEVELS[1], 100).hold(NONE, 30)
    assert fingers.hold(20479, 900).hold(NONE, 30).told == []


def test_a_level_of_no_key_is_named_after_2_s() -> None:
    fingers = Fingers().hold(20479, 1900)
    assert fingers.keys.trouble() == 0
    assert fingers.hold(20479, 300).keys.trouble() == keys.BETWEEN
    assert fingers.hold(NONE, 30).told == []


@pytest.mark.parametrize(
    ("level", "what"),
    [(0, keys.GROUND), (1303, keys.GROUND), (5460, keys.GROUND), (60074, keys.OFF), (65535, keys.OFF)],
)
def test_a_wire_that_is_at_ground_or_off_for_a_moment_is_no_key_and_is_named(level: int, what: int) -> None:
    """1303: the most that a wire at ground reads, by board.toml at its worst; a third of a step from a key it ends."""
    fingers = Fingers().hold(NONE, 30).hold(level, 30)
    assert fingers.keys.trouble() == what
    assert fingers.hold(level, 8000).keys.trouble() == what  # as long as it lasts
    fingers.hold(NONE, 30)
    assert [fingers.keys.trouble() for _ in range(2)] == [what, 0]  # until then, and not from then on
    fingers.hold(level, 30).hold(NONE, 900)  # over before anybody has asked
    assert [fingers.keys.trouble() for _ in range(2)] == [what, 0]
    assert fingers.told == []
    assert fingers.hold(LEVELS[0], 60).hold(NONE, 30).told == [(1, schema.PRESS_SHORT)]


@pytest.mark.parametrize("level", [0, 65535])
@pytest.mark.parametrize("key", range(6))
def test_a_key_that_is_down_as_its_wire_fails_does_not_count(level: int, key: int) -> None:
    for steps in (
        (LEVELS[key], level),
        (level, LEVELS[key]),
        (LEVELS[key], level, LEVELS[key]),
        (level, LEVELS[key], level),
    ):
        fingers = Fingers().hold(NONE, 30)
        for step in steps:
            fingers.hold(step, 60)
        assert fingers.keys.trouble() in (keys.GROUND, keys.OFF)
        assert fingers.hold(NONE, 30).told == []
        assert not fingers.keys.test


def test_done_and_a_wire_at_ground_do_not_ask_for_the_self_test() -> None:
    fingers = Fingers().hold(NONE, 30).hold(LEVELS[4], 300).hold(0, 3000)
    assert not fingers.keys.test


def test_a_wire_that_is_off_as_the_shoe_starts_is_named_and_no_key_counts_before_it_was_well() -> None:
    fingers = Fingers(65535).hold(65535, 30)
    assert fingers.keys.trouble() == keys.OFF
    assert fingers.hold(LEVELS[0], 60).hold(65535, 60).told == []
    assert fingers.hold(NONE, 60).hold(LEVELS[0], 60).hold(NONE, 30).told == [(1, schema.PRESS_SHORT)]


def test_a_key_that_is_down_as_the_shoe_starts_does_not_count() -> None:
    fingers = Fingers(LEVELS[3]).hold(LEVELS[3], 2000).hold(NONE, 30)
    assert fingers.told == []
    assert fingers.hold(LEVELS[3], 60).hold(NONE, 30).told == [(4, schema.PRESS_SHORT)]
    # and let go before the first reading
    assert Fingers(LEVELS[3]).hold(NONE, 30).hold(LEVELS[0], 60).hold(NONE, 30).told == [(1, schema.PRESS_SHORT)]


def test_the_ladders_levels_are_apart() -> None:
    assert all(b - a > 2 * 2730 for a, b in pairwise((0, *LEVELS, 65535)))
