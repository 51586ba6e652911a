"""The small parts: sample clock, edges, lanes, seat bus, keys, signals. Right values from the pages in hardware/."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shoelink import schema

sampleclock: Any = import_module("shoe.sampleclock")
edges: Any = import_module("shoe.edges")
lanes: Any = import_module("shoe.lanes")
keys: Any = import_module("shoe.keys")
signals: Any = import_module("shoe.signals")

# ---- sample clock


@given(st.integers(0, 2**31 - 1))
def test_the_wire_time_is_the_sample_times_50_us_modulo_2_32(sample: int) -> None:
    out = bytearray(4)
    sampleclock.write_t_us(out, sample & (2**30 - 1), sample >> 30)
    assert int.from_bytes(out, "little") == sample * 50 % 2**32


@given(start=st.integers(0, 2**31 - 1), taken=st.integers(0, 4096), ago=st.integers(0, 100_000))
def test_the_wire_time_goes_on_over_the_wrap_of_the_index(start: int, taken: int, ago: int) -> None:
    clock = sampleclock.SampleClock(start & (2**30 - 1), start >> 30)
    clock.advance(taken)
    sample = start + taken - ago
    out = bytearray(4)
    clock.stamp(sample & (2**30 - 1), out)
    assert int.from_bytes(out, "little") == sample * 50 % 2**32


# ---- edges


def accepted(samples: bytes) -> list[int]:
    """The levels after each sample, by the rule alone: a bit changes when two samples in a row agree."""
    levels, last, result = 0, 0, []
    for now in samples:
        for bit in range(7):
            mask = 1 << bit
            if now & mask == last & mask:
                levels = levels & ~mask | now & mask
        result.append(levels)
        last = now
    return result


@given(st.lists(st.binary(min_size=1, max_size=64).map(lambda data: bytes(b & 0x7F for b in data)), max_size=8))
def test_edges_are_where_two_samples_agree(chunks: list[bytes]) -> None:
    state, out = edges.new_state(), edges.new_out(64)
    found = []
    at = 0
    for chunk in chunks:
        for k in range(edges.scan(chunk, len(chunk), state, out)):
            found.append((at + out[2 * k], out[2 * k + 1]))
        at += len(chunk)
    levels = [0, *accepted(b"".join(chunks))]
    assert found == [(i, new) for i, (old, new) in enumerate(pairwise(levels)) if old != new]


# ---- lanes


def test_lane_of_each_seat() -> None:
    assert [lanes.lane_of(seat) for seat in range(1, 12)] == [0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6]
    assert [lanes.lane_of(place) for place in (0, 32, 33, 34, 35)] == [-1, 7, 7, 7, -1]


@pytest.mark.parametrize(
    ("covered", "due", "hint"),
    [
        (0b00000000, 5, 0),  # no lane: unknown
        (0b00000001, 2, 2),  # seat 2 is in lane 0
        (0b00000001, 1, 1),
        (0b00000001, 7, 1),  # seat 7 is not: the lowest seat of lane 0
        (0b00000010, 0, 3),
        (0b10000000, 33, 33),
        (0b10000000, 6, 32),  # the lowest of burn, board, muck
        (0b00000011, 4, 4),  # between two lanes
        (0b00000110, 9, 3),
        (0b01000000, 0, 11),
    ],
)
def test_a_lane_hints_at_what_is_due_or_at_its_lowest_target(covered: int, due: int, hint: int) -> None:
    assert lanes.hint(covered, due) == hint


def test_what_is_due_as_a_target() -> None:
    assert lanes.due_target(schema.DUE_SEAT, 9) == 9
    assert lanes.due_target(schema.DUE_BURN, 0) == schema.TARGET_BURN
    assert lanes.due_target(schema.DUE_BOARD, 0) == schema.TARGET_BOARD
    assert lanes.due_target(schema.DUE_BETTING, 0) == schema.TARGET_UNKNOWN


# ---- keys

LEVELS = (8191, 16383, 24575, 32767, 40959, 49151, 57343)  # of the keys, and of none: hardware/pinout.md
IDLE = LEVELS[6]
MS = 20  # samples


class Fingers:
    """Presses keys at sample times; reads the ladder as the loop does, each 4 ms."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []
        self.keys = keys.Keys(LEVELS, 2730, lambda key, press: self.told.append((key, press)))
        self.now = 0

    def hold(self, level: int, ms: int) -> Fingers:
        end = self.now + ms * MS
        while self.now < end:
            if self.keys.is_due(self.now):
                self.keys.read(level, self.now)
            self.now += MS
        return self


@pytest.mark.parametrize("key", range(1, 7))
def test_a_press_of_40_ms_is_short_and_one_of_800_ms_is_held_once(key: int) -> None:
    level = LEVELS[key - 1]
    fingers = Fingers().hold(IDLE, 30).hold(level, 40).hold(IDLE, 30)
    assert fingers.told == [(key, schema.PRESS_SHORT)]
    fingers.hold(level, 3000).hold(IDLE, 30)
    assert fingers.told == [(key, schema.PRESS_SHORT), (key, schema.PRESS_HELD)]


def test_780_ms_is_not_held() -> None:
    assert Fingers().hold(IDLE, 30).hold(LEVELS[4], 780).hold(IDLE, 30).told == [(5, schema.PRESS_SHORT)]


@pytest.mark.parametrize("ms", [4, 8])  # one reading, two
def test_bounce_and_a_level_between_two_keys_are_nothing(ms: int) -> None:
    fingers = Fingers().hold(IDLE, 30)
    for _ in range(20):
        fingers.hold(LEVELS[2], ms).hold(IDLE, ms)
    fingers.hold(20479, 500).hold(IDLE, 30)
    assert fingers.told == []


def test_an_uncertain_level_is_the_nearest_key() -> None:
    for off in (-2700, 2700):
        assert Fingers().hold(IDLE, 30).hold(LEVELS[3] + off, 60).hold(IDLE, 30).told == [(4, schema.PRESS_SHORT)]


# ---- signals


def shown(signal: int, mode: int = schema.MODE_SUPERVISED, *, up: bool = True, faulty: bool = False) -> int:
    lights = signals.Signals(0)
    lights.supervised, lights.faulty = up, faulty
    lights.obey(signal, mode)
    return int(lights.shown())


def test_which_state_is_shown() -> None:
    ready, attention, stop, floor = range(4)
    assert shown(ready) == signals.READY
    assert shown(ready, schema.MODE_ALIGN) == signals.ALIGN
    assert shown(attention, schema.MODE_ALIGN) == signals.ATTENTION
    assert shown(ready, faulty=True) == signals.FAULT
    assert shown(stop, faulty=True) == signals.STOP
    assert shown(floor, faulty=True) == signals.FLOOR
    for signal in range(4):
        assert shown(signal, up=False) == signals.UNSUPERVISED
    opened = signals.Signals(0, opened=True)
    assert opened.shown() == signals.UNSUPERVISED
    opened.supervised = True
    assert opened.shown() == signals.OPEN  # and a dealer sees that it is
    assert shown(200) == signals.FLOOR  # a newer host's signal: a person looks


def film(lights: Any, ms: int, start: int = 0) -> list[tuple[int, Any, int]]:
    frames = []
    for now in range(start, start + ms):
        lights.turn(now & 0x3FFFFFFF)
        frames.append((lights.lamps, lights.colour, lights.hertz))
    return frames


def test_every_state_differs_from_every_other_without_its_colour() -> None:
    rhythms = {state: pattern[1] for state, pattern in signals.PATTERNS.items()}
    assert len(set(rhythms.values())) == len(rhythms) == 8


def test_signals_of_a_class_are_the_same_whatever_the_cause() -> None:
    """SIGNAL's cause is not even handed on: the pattern has nothing but the class to depend on."""
    films = []
    for _cause in range(8):
        lights = signals.Signals(0)
        lights.supervised = True
        lights.obey(schema.SIGNAL_STOP, schema.MODE_SUPERVISED)
        films.append(film(lights, 3000))
    assert all(one == films[0] for one in films)
    assert {hertz for _, _, hertz in films[0]} == {880, 660, 0}


def test_a_card_sweeps_over_the_bar_and_only_when_ready() -> None:
    lights = signals.Signals(0)
    lights.supervised = True
    film(lights, 10)
    lights.accept(10)
    seen = [lamps for lamps, _, _ in film(lights, 250, 10)]
    assert list(dict.fromkeys(seen)) == [1, 2, 4, 8, 16, 32, 64, 128, 0xFF]
    lights.obey(schema.SIGNAL_ATTENTION, schema.MODE_SUPERVISED)
    film(lights, 10, 300)
    lights.accept(310)
    assert {lamps for lamps, _, _ in film(lights, 250, 310)} == {0x3C}


def test_rhythm_goes_on_over_the_wrap_of_the_milliseconds() -> None:
    start = 2**30 - 300
    lights = signals.Signals(start)
    lights.supervised = True
    lights.obey(schema.SIGNAL_ATTENTION, schema.MODE_SUPERVISED)
    lamps = [lamps for lamps, _, _ in film(lights, 2400, start)]
    assert lamps == [0x3C] * 600 + [0] * 600 + [0x3C] * 600 + [0] * 600
