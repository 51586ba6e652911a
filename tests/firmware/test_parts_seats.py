"""The seat bus: shoe and nodes on a modelled line, whatever the line does; the gate of a node; a node's own program."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dealershoe.emulate.parts.seatline import BYTE_US, Gate, SeatLine, after
from hypothesis import given, settings
from hypothesis import strategies as st
from shoelink import schema

seats: Any = import_module("shoe.seats")
talk: Any = import_module("node.talk")
gate_module: Any = import_module("node.gate")
SEAT_5 = talk.PLACES.index(5)
US = 20 / 1000  # samples in a microsecond


class Told:
    """What the bus tells; cards that are on their way are put in by hand."""

    def __init__(self) -> None:
        self.arrivals: list[tuple[int, int]] = []
        self.open: dict[int, int] = {}
        self.on_the_way = 1 << 30

    def arrived(self, place: int, way: int) -> int:
        self.arrivals.append((place, way))
        self.on_the_way -= 1
        return 0 if self.on_the_way >= 0 else place

    def fault(self, code: int, detail: int, index: int) -> None:
        self.open.setdefault(code, detail)

    def clear(self, code: int, detail: int, index: int) -> None:
        self.open.pop(code, None)


class Table:
    """A shoe, a line and fourteen nodes, in microseconds. A turn of the shoe's loop takes 2 ms."""

    def __init__(self, places: tuple[int, ...] = talk.PLACES) -> None:
        self.gates = {place: Gate() for place in places}
        self.nodes = [talk.Answerer(place, gate) for place, gate in self.gates.items()]
        self.line = SeatLine(self.nodes, talk.TURN_US)
        self.told = Told()
        self.now = 1000
        self.slow = 0  # microseconds for which the shoe keeps its driver on after a question
        self.bus = seats.SeatBus(self, self.told)
        self.damage: Any = None  # what becomes of the bytes that the shoe reads

    # the driver's methods (firmware/drivers/rs485.py)

    def ask(self, frame: Any) -> None:
        self.line.drive(1, self.now)
        self.line.write(bytes(frame), self.now)
        self.now += len(frame) * BYTE_US + self.slow
        self.line.drive(0, self.now)

    def any(self) -> int:
        return self.line.any(self.now)

    def readinto(self, buffer: Any) -> int:
        data = self.line.read(len(buffer), self.now)
        data = self.damage(data) if self.damage else data
        buffer[: len(data)] = data
        return len(data)

    def run(self, ms: int, may_ask: bool = True) -> Table:
        for _ in range(ms // 2):
            self.now += 2000
            self.bus.turn(int(self.now * US) & 0x3FFFFFFF, may_ask)
        return self

    def up(self) -> Table:
        return self.up_to(len(talk.PLACES))

    def up_to(self, count: int) -> Table:
        self.run(600)
        assert sum(self.bus.known) == count
        assert self.told.open == {}
        return self


def test_a_card_that_arrives_is_told_once_and_soon() -> None:
    table = Table().up()
    table.gates[7].arrived.append(gate_module.DOWN)
    table.gates[32].arrived.append(gate_module.UP)
    table.gates[33].arrived.append(gate_module.UNKNOWN)
    table.run(120)  # fourteen questions of 4 ms, and one in eight for nobody
    expected = [(7, schema.WAY_DOWN), (32, schema.WAY_UP), (33, schema.WAY_UNKNOWN)]
    assert sorted(table.told.arrivals) == expected
    table.run(2000)
    assert sorted(table.told.arrivals) == expected


def test_while_a_card_moves_nobody_is_asked_and_nothing_is_lost() -> None:
    table = Table().up()
    table.gates[3].arrived += [gate_module.DOWN, gate_module.UP]
    table.run(10, may_ask=False)
    written = table.line._until
    assert table.run(500, may_ask=False).told.arrivals == []
    assert table.line._until == written
    assert table.run(200).told.arrivals == [(3, schema.WAY_DOWN), (3, schema.WAY_UP)]


@given(
    arrivals=st.lists(st.tuples(st.sampled_from(talk.PLACES), st.integers(0, 2)), max_size=20),
    noise=st.lists(st.integers(0, 200), max_size=60),
)
@settings(deadline=None, max_examples=40)
def test_whatever_bytes_are_hurt_each_arrival_is_told_once_and_in_its_order(
    arrivals: list[tuple[int, int]], noise: list[int]
) -> None:
    table = Table().up()
    hurt = iter(noise)

    def damage(data: bytes) -> bytes:
        out = bytearray(data)
        for i in range(len(out)):
            out[i] ^= 1 << (next(hurt, 255) & 7) if next(hurt, 255) < 30 else 0
        return bytes(out)

    table.damage = damage
    for place, way in arrivals:
        table.gates[place].arrived.append(way)
        table.run(30)
    table.run(3000)
    for place in talk.PLACES:
        told = [way for where, way in table.told.arrivals if where == place]
        assert told == [way for where, way in arrivals if where == place]
    assert table.told.open == {}


def test_a_shoe_that_starts_again_takes_no_arrival_of_before_and_none_twice() -> None:
    table = Table().up()
    table.gates[4].arrived.append(0)
    table.run(200)
    table.gates[4].arrived.append(1)
    table.told, before = Told(), table.told
    table.bus = seats.SeatBus(table, table.told)
    table.up()
    assert (before.arrivals, table.told.arrivals) == ([(4, 0)], [])
    table.gates[4].arrived.append(1)
    assert table.run(200).told.arrivals == [(4, 1)]


def test_a_node_that_starts_again_is_met_anew() -> None:
    table = Table().up()
    table.gates[4].arrived.append(0)
    table.run(200)
    place = talk.PLACES.index(4)
    table.line.nodes[place] = talk.Answerer(4, table.gates[4])
    table.run(200)
    table.gates[4].arrived.append(1)
    assert table.run(200).told.arrivals == [(4, 0), (4, 1)]


def test_a_node_that_goes_is_missed_by_its_place_and_welcomed_back() -> None:
    table = Table().up()
    table.line.absent = {SEAT_5}
    table.run(1500)
    assert table.told.open == {schema.FAULT_SEAT_NODE: 5}
    table.gates[6].arrived.append(0)
    assert table.run(200).told.arrivals == [(6, 0)]  # the others go on
    table.line.absent = set()
    assert table.run(1000).told.open == {}


@pytest.mark.parametrize("apart", [0, 2, 30, 200, 600], ids=lambda us: f"{us} us apart")
def test_two_nodes_with_one_place_collide_and_are_named(apart: int) -> None:
    """Two boards answer with what each has. Word for word and bit for bit together they are one, and a card at either
    is a card; it differs as soon as one has a card and the other none."""
    table = Table()
    twin = Gate()
    table.line.nodes.append(talk.Answerer(5, twin))
    table.line.late = {len(talk.PLACES): apart}
    table.run(600)
    twin.arrived.append(gate_module.DOWN)
    table.run(2500)
    assert table.told.open == ({schema.FAULT_SEAT_NODE: seats.GARBLED | 5} if table.bus.known[SEAT_5] else {})
    assert table.told.arrivals == []
    assert bool(table.bus.known[SEAT_5]) == (apart == 0)  # else it never was one


def test_a_second_board_that_takes_the_place_of_one_that_is_known_is_named() -> None:
    table = Table().up()
    table.line.nodes.append(talk.Answerer(5, Gate()))
    table.line.late = {len(talk.PLACES): 30}
    table.gates[5].arrived.append(gate_module.DOWN)
    table.run(2000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 5}
    assert table.told.arrivals == []
    table.line.nodes.pop()
    assert table.run(1000).told.open == {}
    assert table.told.arrivals == [(5, schema.WAY_DOWN)]  # it was kept until somebody had it


@pytest.mark.parametrize("late", [5_000, 5_800, 7_000, 15_000])
def test_a_node_that_answers_late_is_named_and_its_neighbours_cards_are_told(late: int) -> None:
    """Its answer comes while another node is asked, or would, did the bus not rest behind a miss."""
    table = Table().up()
    table.line.late = {SEAT_5: late}
    for place in talk.PLACES:
        table.gates[place].arrived.append(gate_module.DOWN)
    table.run(2500)
    if late > 5_000:
        assert table.told.open == {schema.FAULT_SEAT_NODE: 5}
        assert sorted(table.told.arrivals) == [(place, schema.WAY_DOWN) for place in talk.PLACES if place != 5]
    else:  # in time
        assert table.told.open == {}
        assert sorted(table.told.arrivals) == [(place, schema.WAY_DOWN) for place in talk.PLACES]


class Restless:
    """A node that starts again before each question: its supply is bad."""

    def __init__(self, place: int, gate: Gate) -> None:
        self._place, self._gate = place, gate
        self._node = talk.Answerer(place, gate)

    @property
    def answer(self) -> bytes:
        return bytes(self._node.answer)

    def hear(self, byte: int) -> bool:
        if byte == talk.ASK:
            self._node = talk.Answerer(self._place, self._gate)
            self._node._reply = self._fresh  # it was started after it had heard the question
        return bool(self._node.hear(byte))

    def _fresh(self, _taken: int) -> None:
        talk.Answerer._reply(self._node, talk.NONE)


def test_a_node_that_starts_again_and_again_is_named_and_none_of_its_cards_is_taken() -> None:
    table = Table().up()
    table.gates[5].arrived.append(gate_module.DOWN)
    table.line.nodes[SEAT_5] = Restless(5, table.gates[5])
    table.run(2000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 5}
    assert table.told.arrivals == []


def test_a_node_that_starts_once_in_a_hand_is_no_fault_and_what_waited_there_belongs_to_no_draw() -> None:
    table = Table().up()
    table.gates[5].arrived.append(gate_module.DOWN)
    table.line.nodes[SEAT_5] = talk.Answerer(5, table.gates[5])  # with a card that it saw before the shoe had met it
    table.run(1000)
    assert (table.told.arrivals, table.told.open) == ([], {})
    table.gates[5].arrived.append(gate_module.UP)
    assert table.run(200).told.arrivals == [(5, schema.WAY_UP)]


def test_a_node_that_answers_the_question_for_another_is_not_taken_for_it() -> None:
    """Whole and with a good CRC: seat 6 answers for seat 5, which is silent."""
    table = Table().up()

    class Impostor(talk.Answerer):  # type: ignore[misc]
        def hear(self, byte: int) -> bool:
            self.place = 5
            mine = bool(super().hear(byte))
            self.place = 6
            if mine:
                self._reply(talk.NONE)
            return mine

    gate = Gate()
    gate.arrived.append(gate_module.UP)
    table.line.absent = {SEAT_5}
    table.line.nodes.append(Impostor(6, gate))
    table.run(1500)
    assert table.told.arrivals == []
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 5}


def test_arrivals_that_a_node_had_no_room_for_are_told() -> None:
    table = Table().up()
    table.gates[5].lost = 2
    opened = []
    table.told.fault = lambda code, detail, index: opened.append((code, detail))  # type: ignore[method-assign]
    table.run(300)
    assert opened == [(schema.FAULT_SEAT_NODE, seats.LOST | 5)]


def test_the_nodes_are_met_also_when_the_samples_stand_still() -> None:
    """The shoe greets its host only then, and the host is to hear that the sampler is dead."""
    table = Table(())
    for _ in range(len(talk.PLACES) * (seats.MOST_TURNS + 1)):
        table.now += 6000
        table.bus.turn(0, True)
    assert table.bus.met
    assert table.told.open == {}


def test_an_answer_has_six_milliseconds_whatever_the_turns_of_the_loop() -> None:
    table = Table().up()
    table.line.late = dict.fromkeys(range(len(talk.PLACES)), 3000)
    for _ in range(4000):
        table.now += 500
        table.bus.turn(int(table.now * US) & 0x3FFFFFFF, True)
    assert table.told.open == {}


def test_a_few_bytes_that_nobody_asked_for_are_no_fault_and_thirty_two_are() -> None:
    table = Table((5,)).up_to(1)
    table.run(100, may_ask=False)

    def stray(count: int) -> None:
        table.line._coming += [(table.now, 0x55, True)] * count
        table.run(100, may_ask=False)

    stray(31)
    assert table.told.open == {}
    table.gates[5].arrived.append(gate_module.DOWN)
    assert table.run(200).told.arrivals == [(5, schema.WAY_DOWN)]  # and a question that was answered begins anew
    table.run(100, may_ask=False)
    stray(20)
    assert table.told.open == {}
    stray(20)
    assert table.told.open == {schema.FAULT_SEAT_BUS: seats.NOISE}


def test_half_a_frame_and_a_wrong_check_are_asked_for_again() -> None:
    table = Table().up()
    table.gates[5].arrived.append(gate_module.DOWN)
    hurt = iter([3, 8, 12, 5])  # bytes of the next answers that come through

    def cut(data: bytes) -> bytes:
        asked = table.bus._asked
        return data[: next(hurt, 99)] if asked == SEAT_5 else data

    table.damage = cut
    table.run(1000)
    assert (table.told.open, table.told.arrivals) == ({}, [(5, schema.WAY_DOWN)])


def test_three_reports_out_of_nothing_with_a_true_one_between_are_believed() -> None:
    table = Table().up()
    for true in (False, False, True, False, False, True):
        table.told.on_the_way = 1 if true else 0
        table.gates[5].arrived.append(gate_module.DOWN)
        table.run(200)
    assert table.told.open == {}
    assert len(table.told.arrivals) == 6


def test_a_node_that_reports_cards_out_of_nothing_is_not_believed() -> None:
    table = Table().up()
    table.told.on_the_way = 0
    table.gates[5].arrived += [0] * 8
    table.run(2000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.LYING | 5}
    assert table.told.arrivals == [(5, 0)] * seats.LIES  # each doubtful in itself: a card that lies down twice, say


def test_something_that_stands_in_a_gate_is_told() -> None:
    table = Table().up()
    table.gates[33].blocked = True
    assert table.run(200).told.open == {schema.FAULT_SEAT_NODE: seats.BLOCKED | 33}
    table.gates[33].blocked = False
    assert table.run(200).told.open == {}


def test_a_bus_on_which_the_shoes_own_words_do_not_come_back_is_named() -> None:
    table = Table().up()
    table.line.shorted = True
    assert table.run(1000).told.open == {schema.FAULT_SEAT_BUS: seats.NO_ECHO}
    table.line.shorted = False
    table.gates[2].arrived.append(1)
    assert table.run(1000).told.arrivals == [(2, 1)]
    assert table.told.open == {}


def test_a_bus_that_is_never_quiet_is_named() -> None:
    table = Table().up()
    table.line.noisy = True
    table.run(1000)
    assert schema.FAULT_SEAT_BUS in table.told.open
    assert table.told.arrivals == []


def test_a_shoe_without_a_seat_bus_has_no_fault() -> None:
    table = Table()
    table.line.shorted = True
    assert table.run(2000).told.open == {}
    assert not table.bus.heard


def test_a_shoe_with_three_nodes_asks_the_others_only_now_and_then() -> None:
    table = Table((1, 2, 33))
    table.run(600)
    assert [place for place, known in zip(talk.PLACES, table.bus.known, strict=True) if known] == [1, 2, 33]
    table.gates[33].arrived.append(0)
    assert table.run(40).told.arrivals == [(33, 0)]


def test_the_driver_lets_go_before_a_node_answers_and_a_late_one_collides() -> None:
    """Half duplex: a node answers 500 µs after the question; a shoe that drives the line longer hurts the answer."""
    table = Table().up()
    assert table.line.collisions == 0
    table.slow = talk.TURN_US + 3 * BYTE_US
    table.run(3000)
    assert table.line.collisions > 0
    assert schema.FAULT_SEAT_NODE in table.told.open


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
