"""The seat bus: shoe and nodes on a modelled line, whatever the line and the nodes do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from dealershoe.emulate.parts.seatline import BYTE_US, Gate, SeatLine
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
        self.kept: list[int] = []  # the nodes, whenever they were kept

    def nodes(self) -> int:
        return self.kept[-1] if self.kept else 0

    def keep_nodes(self, nodes: int) -> None:
        self.kept.append(nodes)

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
    assert table.run(6000).told.open == {}


def switched_on_again(table: Table) -> Table:
    """The shoe's power was off; the nodes have their own."""
    before = table.told
    table.told = Told()
    table.told.kept = before.kept[-1:]
    table.bus = seats.SeatBus(table, table.told)
    return table


@pytest.mark.parametrize("others", [(), (3,), tuple(place for place in talk.PLACES if place != 5)])
def test_a_node_that_is_missing_when_the_power_comes_on_is_named_each_time(others: tuple[int, ...]) -> None:
    table = Table((5, *others))
    table.run(1500)
    table.line.absent = {table.nodes.index(next(node for node in table.nodes if node.place == 5))}
    for _ in range(3):
        switched_on_again(table).run(8_000)  # of turns, and a few tenths of a ms with each question
        assert table.told.open == {}  # it may start later than the shoe
        assert table.run(7_000).told.open == {schema.FAULT_SEAT_NODE: 5}
    table.line.absent = set()
    assert table.run(7_000).told.open == {}
    assert switched_on_again(table).run(20_000).told.open == {}


def test_a_bus_that_is_dead_when_the_power_comes_on_is_named_where_there_were_nodes() -> None:
    table = Table((3,))
    table.line.shorted = True
    assert table.run(15_000).told.open == {}  # nobody can say that there is one
    table.line.shorted = False
    table.run(1_500)
    table.line.shorted = True
    assert switched_on_again(table).run(1_500).told.open == {schema.FAULT_SEAT_BUS: seats.NO_ECHO}
    table.line.shorted = False
    assert table.run(1_500).told.open == {}


def test_where_there_never_was_a_node_none_is_missing() -> None:
    table = Table((3, 4))
    table.run(20_000)
    assert table.told.kept == [1 << 2, 1 << 2 | 1 << 3]  # written once each
    assert switched_on_again(table).run(20_000).told.open == {}
    assert table.told.kept == [1 << 2 | 1 << 3]


def test_a_node_that_is_taken_away_is_forgotten_when_the_shoe_was_on_for_an_hour_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seats, "HOUR", seats.HOUR // 60)  # a minute
    table = Table((3, 5))
    table.run(1500)
    table.line.absent = {1}
    switched_on_again(table).run(45_000)
    assert table.told.kept == [1 << 2 | 1 << 4]
    assert table.run(20_000).told.kept[-1] == 1 << 2
    assert table.run(10_000).told.open == {}
    assert switched_on_again(table).run(20_000).told.open == {}
    table.line.absent = set()  # it is back
    assert table.run(2_000).told.kept[-1] == 1 << 2 | 1 << 4


def test_a_node_that_is_taken_away_is_forgotten_when_the_shoe_is_set_up_without_it() -> None:
    table = Table((3, 5))
    table.run(1500)
    table.line.absent = {1}
    assert switched_on_again(table).run(15_000).told.open == {schema.FAULT_SEAT_NODE: 5}
    table.bus.settle()
    assert table.told.kept[-1] == 1 << 2
    assert table.run(10_000).told.open == {}
    table.line.absent = {0, 1}  # one that has answered since the start is not forgotten
    assert table.run(15_000).told.open == {schema.FAULT_SEAT_NODE: 3}
    table.bus.settle()
    assert table.run(10_000).told.open == {schema.FAULT_SEAT_NODE: 3}


@pytest.mark.parametrize("apart", [0, 2, 30, 200, 600], ids=lambda us: f"{us} us apart")
def test_two_nodes_with_one_place_collide_and_are_named(apart: int) -> None:
    """Two boards answer with what each has. Bit for bit together they are one until one has a card and the other none;
    else they never were a node that is known."""
    table = Table()
    twin = Gate()
    table.line.nodes.append(talk.Answerer(5, twin))
    table.line.late = {len(talk.PLACES): apart}
    table.run(600)
    assert bool(table.bus.known[SEAT_5]) == (apart == 0)
    twin.arrived.append(gate_module.DOWN)
    table.run(8000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 5}
    assert table.told.arrivals == []
    table.line.nodes.pop()
    assert table.run(8000).told.open == {}
    assert table.bus.known[SEAT_5]


def test_two_nodes_with_one_place_that_are_taken_away_are_forgotten() -> None:
    table = Table((1, 2, 5)).up_to(3)
    for _ in range(2):
        table.line.nodes.append(talk.Answerer(9, Gate()))
    table.line.late = {4: 30}
    table.run(8000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 9}
    del table.line.nodes[3:]
    assert table.run(8000).told.open == {}
    assert not table.bus.known[talk.PLACES.index(9)]


def test_a_spike_now_and_then_where_no_node_is_makes_none() -> None:
    table = Table((1, 2, 5)).up_to(3)
    nobody = talk.PLACES.index(9)
    spikes: list[int] = []

    def spike(data: bytes) -> bytes:
        if table.bus._asked != nobody or len(data) != talk.ASKS:
            return data
        spikes.append(len(spikes) % 2)
        return data + b"\x7f" * spikes[-1]

    table.damage = spike
    table.run(20_000)
    assert sum(spikes) > 8
    assert table.told.open == {}


def test_a_second_board_that_takes_the_place_of_one_that_is_known_is_named() -> None:
    table = Table().up()
    table.line.nodes.append(talk.Answerer(5, Gate()))
    table.line.late = {len(talk.PLACES): 30}
    table.gates[5].arrived.append(gate_module.DOWN)
    table.run(2000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.GARBLED | 5}
    assert table.told.arrivals == []
    table.line.nodes.pop()
    assert table.run(6000).told.open == {}
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


def test_a_burst_on_the_bus_costs_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the UART still holds of it, up to 256 bytes, is not taken for the echo of the questions after it."""
    table = Table().up()
    table.line._coming += [(table.now, 0x55, True)] * 240
    lost = []
    miss = table.bus._miss

    def missed(now: int) -> None:
        lost.append(table.bus._asked)
        miss(now)

    monkeypatch.setattr(table.bus, "_miss", missed)
    table.run(200)
    assert len(lost) <= 1
    assert table.told.open in ({}, {schema.FAULT_SEAT_BUS: seats.NOISE})


@pytest.mark.parametrize("of_the_bus", [False, True], ids=["answers of a node", "echoes of the bus"])
def test_seven_that_are_lost_in_a_row_are_no_fault_however_often(
    of_the_bus: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table((5,)).up_to(1)
    monkeypatch.setattr(seats, "PROBE_EVERY", 1 << 30)  # only the one that is known is asked
    answers = []
    answered = table.bus._answer

    def lose(data: bytes) -> bytes:
        lost = table.bus._questions % 8 != 0
        return data if not lost else b"" if of_the_bus else data[: talk.ASKS]

    def answer(now: int) -> None:
        answers.append(now)
        answered(now)

    monkeypatch.setattr(table.bus, "_answer", answer)
    table.damage = lose
    table.run(10_000)
    assert len(answers) > 20
    assert table.told.open == {}


def test_a_node_that_is_missed_for_hours_is_missed_still() -> None:
    table = Table((5, 6)).up_to(2)
    table.line.absent = {0}
    table.run(30_000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: 5}


def test_the_node_that_robs_another_is_not_believed_and_the_robbed_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who it was, the draws say: tests/firmware/test_arrivals.py."""
    table = Table().up()
    monkeypatch.setattr(table.told, "arrived", lambda place, way: 9 if place == 5 else 0)
    table.gates[5].arrived += [gate_module.DOWN] * 3
    table.run(1000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.LYING | 9}
    assert [place for place, believed in zip(talk.PLACES, table.bus.believed, strict=True) if not believed] == [9]


def test_what_came_while_nobody_was_asked_is_gone_in_one_turn() -> None:
    table = Table((5,)).up_to(1)
    table.run(100, may_ask=False)
    table.line._coming += [(table.now, 0x55, True)] * 240
    table.run(2, may_ask=False)
    assert table.line.any(table.now) == 0


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
    assert table.run(4000).told.open == {schema.FAULT_SEAT_NODE: seats.BLOCKED | 33}
    assert table.run(1500).told.open == {}


def test_each_of_three_nodes_that_fail_in_their_ways_is_named_as_those_before_it_are_well_again() -> None:
    table = Table().up()
    table.line.absent = {SEAT_5}
    table.run(1000)
    table.gates[7].blocked = True
    table.told.on_the_way = 0
    table.gates[9].arrived += [0] * 3
    table.run(1000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: 5}
    table.line.absent = set()
    table.run(6000)
    first = table.told.open[schema.FAULT_SEAT_NODE]
    assert first in (seats.BLOCKED | 7, seats.LYING | 9)
    table.gates[7].blocked = False
    table.run(6000)
    assert table.told.open == {schema.FAULT_SEAT_NODE: seats.LYING | 9}  # until the shoe starts again


def test_a_node_that_comes_and_goes_does_not_fill_the_journal() -> None:
    """Its supply is loose: half a second on, half a second off, for five minutes, and no host takes what is told."""
    table = Table((5, 6, 33)).up_to(3)
    said = []
    fault = table.told.fault

    def count(code: int, detail: int, index: int) -> None:
        if code not in table.told.open:
            said.append(detail)
        fault(code, detail, index)

    table.told.fault = count  # type: ignore[method-assign]
    for second in range(600):
        table.line.absent = {0} if second % 2 else set()
        table.run(500)
    print(f"{len(said)} faults in five minutes")
    assert 0 < len(said) <= 60


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
