"""A seat node: its gate, whatever its sensors do, and its own program on its parts."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dealershoe.emulate.parts.seatline import BYTE_US, after

talk: Any = import_module("node.talk")
gate_module: Any = import_module("node.gate")
SEAT_5 = talk.PLACES.index(5)

# ---- the gate

BACK, FACE = 26000, 39000
WHITE_FACE, DARK_BACK, NOTHING = 52000, 12000, 2000


def cross(gate: Any, reading: int, speed: float, *, inwards: bool = True, length: float = 88.0) -> None:
    """A card crosses the gate: slots 20 mm apart, the light between them. Speed in mm a millisecond."""
    slots = (gate_module.OUTER, 0.0), (gate_module.INNER, 20.0)
    place = -5.0
    while place < length + 30:
        at = place if inwards else 20.0 - place
        low, high = (at - length, at) if inwards else (at, at + length)
        bits = sum(bit for bit, where in slots if low <= where <= high)
        gate.look(bits, reading if low <= 10.0 <= high else NOTHING)
        place += speed
    gate.look(0, NOTHING)


@pytest.mark.parametrize("speed", [0.3, 1.0, 3.0, 6.0])
@pytest.mark.parametrize(
    ("reading", "way"),
    [(WHITE_FACE, gate_module.DOWN), (DARK_BACK, gate_module.UP), (32000, gate_module.UNKNOWN)],
    ids=["face down", "face up", "neither"],
)
def test_a_card_that_comes_in_is_told_with_its_way_up(reading: int, way: int, speed: float) -> None:
    gate = gate_module.Gate(BACK, FACE)
    cross(gate, reading, speed)
    assert gate.arrived == [way]


def test_a_card_that_goes_out_has_not_arrived() -> None:
    gate = gate_module.Gate(BACK, FACE)
    cross(gate, WHITE_FACE, 1.0, inwards=False)
    assert gate.arrived == []


def test_two_cards_one_after_the_other_are_two() -> None:
    gate = gate_module.Gate(BACK, FACE)
    cross(gate, WHITE_FACE, 2.0)
    cross(gate, DARK_BACK, 2.0)
    assert gate.arrived == [gate_module.DOWN, gate_module.UP]


def test_a_finger_at_one_slot_and_a_card_taken_back_are_nothing() -> None:
    gate = gate_module.Gate(BACK, FACE)
    for slots in (gate_module.OUTER, gate_module.INNER):
        for _ in range(50):
            gate.look(slots, NOTHING)
        gate.look(0, NOTHING)
    for slots in (1, 3, 1, 0):  # in, and out again
        for _ in range(20):
            gate.look(slots, WHITE_FACE)
    assert gate.arrived == []


def test_what_stands_in_the_gate_for_three_seconds_blocks_it() -> None:
    gate = gate_module.Gate(BACK, FACE)
    for _ in range(2999):
        gate.look(3, WHITE_FACE)
    assert not gate.blocked
    gate.look(3, WHITE_FACE)
    assert gate.blocked
    gate.look(2, WHITE_FACE)
    gate.look(0, NOTHING)
    assert not gate.blocked
    assert gate.arrived == []


def test_a_dirty_window_says_not_which_way_up() -> None:
    gate = gate_module.Gate(BACK, FACE)
    for i in range(40):
        gate.look(3, (WHITE_FACE, DARK_BACK)[i % 2])
    gate.look(2, 0)
    gate.look(0, 0)
    assert gate.arrived == [gate_module.UNKNOWN]


@pytest.mark.parametrize(
    ("card", "rest"),
    [(0, 0), (999, 999), (65535, 65535), (52000, 40000)],
    ids=["light dead", "wire off", "stuck at its stop", "sun in the window"],
)
def test_a_light_that_lies_says_not_which_way_up_and_the_card_has_come(card: int, rest: int) -> None:
    """A dead light would make each card an exposed one, one that is stuck an exposed one a hidden one."""
    gate = gate_module.Gate(BACK, FACE)
    for _ in range(3):
        for slots, ms in ((0, 5), (1, 10), (3, 40), (2, 10)):
            for _ in range(ms):
                gate.look(slots, card if slots == 3 else rest)
        gate.look(0, rest)
    assert gate.arrived == [gate_module.UNKNOWN] * 3


def test_a_glimpse_of_a_card_says_not_which_way_up() -> None:
    """At 20 m/s, or with an inner sensor that sees late: four readings are none."""
    gate = gate_module.Gate(BACK, FACE)
    for slots, ms in ((0, 5), (1, 10), (3, 4), (2, 10), (0, 1), (1, 10), (3, 5), (2, 10), (0, 1)):
        for _ in range(ms):
            gate.look(slots, WHITE_FACE if slots == 3 else NOTHING)
    assert gate.arrived == [gate_module.UNKNOWN, gate_module.DOWN]


@pytest.mark.parametrize("stuck", [(1, 0), (2, 0), (0, 1), (0, 2)], ids=["outer 0", "inner 0", "outer 1", "inner 1"])
def test_a_slot_that_is_stuck_makes_no_arrival_out_of_nothing(stuck: tuple[int, int]) -> None:
    low, high = stuck
    gate = gate_module.Gate(BACK, FACE)
    for _ in range(3):
        for slots, ms in ((0, 200), (1, 20), (3, 40), (2, 20), (0, 200), (2, 20), (3, 40), (1, 20)):
            for _ in range(ms):
                gate.look(slots & ~low | high, WHITE_FACE if slots == 3 else NOTHING)
    assert gate.arrived == []


def test_nine_cards_that_nobody_asks_for_are_eight_and_one_that_is_told_as_lost() -> None:
    gate = gate_module.Gate(BACK, FACE)
    for _ in range(9):
        cross(gate, WHITE_FACE, 3.0)
    assert (len(gate.arrived), gate.lost) == (8, 1)
    node = talk.Answerer(5, gate)
    for byte in ask(5, talk.NONE):
        node.hear(byte)
    assert node.answer[3] & talk.LOST
    for byte in ask(5, talk.NONE):
        node.hear(byte)
    assert not node.answer[3] & talk.LOST  # once


# ---- a node's own program on its parts


class Clock:
    def __init__(self) -> None:
        self.us = 5000


class NodeBoard:
    """The parts of a node on a line that is played by the test."""

    BACK, FACE = BACK, FACE

    def __init__(self, clock: Clock, place: int) -> None:
        self.clock = clock
        self.number = place
        self.coming: list[int] = []
        self.said: list[tuple[int, bytes, int]] = []  # (µs, frame, level of the direction pin)
        self.driving: list[tuple[int, int]] = []
        self.slots = 0
        self.fed = 0
        self.watchdog = self
        self.bus = self
        self.light: Any = SimpleNamespace(read_u16=lambda: WHITE_FACE if self.slots == 3 else NOTHING)

    def place(self) -> int:
        return self.number

    def direction(self, level: int) -> None:
        self.driving.append((self.clock.us, level))

    def outer(self) -> int:
        return self.slots & 1

    def inner(self) -> int:
        return self.slots >> 1

    def any(self) -> int:
        return len(self.coming)

    def readinto(self, buffer: Any) -> int:
        buffer[0] = self.coming.pop(0)
        return 1

    def write(self, data: Any) -> None:
        assert self.driving[-1][1] == 1
        self.said.append((self.clock.us, bytes(data), self.driving[-1][1]))

    def txdone(self) -> bool:
        return after(self.clock.us, self.said[-1][0]) >= 5 * BYTE_US

    def feed(self) -> None:
        self.fed += 1


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Any:
    clock = Clock()
    stand_in = ModuleType("time")
    mask = 0x3FFFFFFF
    vars(stand_in).update(
        ticks_us=lambda: clock.us & mask, ticks_add=lambda a, b: (a + b) & mask, ticks_diff=lambda a, b: after(a, b)
    )
    machine = ModuleType("machine")
    vars(machine).update(ADC=None, UART=None, WDT=None, Pin=None)
    monkeypatch.setitem(sys.modules, "time", stand_in)
    monkeypatch.setitem(sys.modules, "machine", machine)
    monkeypatch.delitem(sys.modules, "node.main", raising=False)
    monkeypatch.delitem(sys.modules, "node.board", raising=False)
    main: Any = import_module("node.main")
    board = NodeBoard(clock, SEAT_5)

    def run(us: int) -> None:
        for _ in range(us // 50):
            clock.us += 50
            made.turn(clock.us & mask)

    made = main.Node(board, clock.us)
    made.run = run
    made.board = board
    return made


def ask(place: int, taken: int) -> bytes:
    frame = bytearray((talk.ASK, place, taken, 0))
    frame[3] = import_module("shoe.crc8").crc8(frame, 3)
    return bytes(frame)


def test_a_node_answers_its_own_question_after_half_a_millisecond_and_lets_go(node: Any) -> None:
    board = node.board
    board.coming += ask(6, talk.BEGIN)
    node.run(3000)
    assert board.said == []
    board.coming += ask(5, talk.BEGIN)
    asked = board.clock.us
    node.run(3000)
    ((at, frame, level),) = board.said
    assert talk.TURN_US <= at - asked <= talk.TURN_US + 150
    assert (frame[:4], level) == (bytes((talk.ANSWER, 5, 0, 0)), 1)
    (on, off) = board.driving
    assert (on[1], off[1]) == (1, 0)
    assert 0 <= off[0] - (at + talk.ANSWERS * BYTE_US) <= 100  # not before its last stop bit is out


def test_a_node_tells_the_card_that_crossed_its_gate_until_the_shoe_has_it(node: Any) -> None:
    board = node.board
    board.coming += ask(5, talk.BEGIN)
    node.run(3000)
    for slots in (1, 3, 2, 0):
        board.slots = slots
        node.run(20_000)
    for taken, number in ((talk.NONE, 1), (talk.NONE, 1), (1, 0)):
        board.coming += ask(5, taken)
        node.run(3000)
        assert board.said[-1][1][2:4] == bytes((number, 0))
    assert board.fed >= 80


def test_noise_between_questions_costs_no_question(node: Any) -> None:
    board = node.board
    for noise in (b"\xa5", b"\xa5\x05", b"\x00\xff\xa5\x05\x00", ask(5, 0)[:3]):
        board.coming += noise
        node.run(2000)
        before = len(board.said)
        board.coming += ask(5, talk.BEGIN)
        node.run(3000)
        assert len(board.said) == before + 1


def test_a_silence_ends_a_frame_that_was_cut(node: Any) -> None:
    """The first three bytes of a question, and 1 ms later its last one by chance: no question."""
    board = node.board
    whole = ask(5, talk.BEGIN)
    board.coming += whole[:3]
    node.run(1000)
    board.coming += whole[3:]
    node.run(3000)
    assert board.said == []


def test_a_node_drives_the_bus_until_its_last_stop_bit_is_out(node: Any) -> None:
    board = node.board
    slow = 9 * BYTE_US  # the UART takes longer than reckoned
    board.txdone = lambda: after(board.clock.us, board.said[-1][0]) >= slow
    board.coming += ask(5, talk.BEGIN)
    node.run(3000)
    ((at, _, _),) = board.said
    assert slow <= board.driving[-1][0] - at <= slow + 100
    assert board.driving[-1][1] == 0


def test_a_question_for_another_place_is_not_half_of_one_for_this(node: Any) -> None:
    """A5 5 0 c: a frame whose end, with what follows, would be one more question."""
    board = node.board
    other = ask(talk.ASK, 5)  # ... A5 05, the beginning of a question for seat 5 as it were
    board.coming += other + ask(5, talk.BEGIN)
    node.run(3000)
    assert len(board.said) == 1


def test_switches_that_name_no_place_make_a_node_that_says_nothing(monkeypatch: pytest.MonkeyPatch, node: Any) -> None:
    board = NodeBoard(node.board.clock, 14)
    silent = type(node)(board, board.clock.us)
    for place in (0, *talk.PLACES):
        board.coming += ask(place, 0) if place else b""
        for _ in range(60):
            board.clock.us += 50
            silent.turn(board.clock.us)
    assert board.said == []
