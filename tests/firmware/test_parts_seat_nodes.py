"""Seat nodes that fail, lie or are gone: which one the shoe names, and which it keeps over a power cut."""

from __future__ import annotations

import pytest
from dealershoe.emulate.parts.seatline import Gate
from firmware.parts_machine import SEAT_5, Table, Told, gate_module, seats, talk
from shoelink import schema


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


def test_arrivals_that_a_node_had_no_room_for_are_told() -> None:
    table = Table().up()
    table.gates[5].lost = 2
    table.run(300)
    assert (table.told.faults, [*table.told.open]) == ([seats.LOST | 5], [schema.FAULT_SEAT_NODE])


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


def test_a_second_node_that_is_missing_is_told_while_the_first_still_is() -> None:
    """And the one that was told last is one that fails: a host holds one detail for a fault that stands."""
    table = Table().up()
    seat_7 = talk.PLACES.index(7)
    table.line.absent = {SEAT_5}
    table.run(6000)
    table.line.absent = {SEAT_5, seat_7}
    table.run(1500)
    assert (table.told.faults, table.told.open) == ([5, 7], {schema.FAULT_SEAT_NODE: 7})
    table.line.absent = {SEAT_5}
    table.run(7000)
    assert (table.told.faults, table.told.open) == ([5, 7, 5], {schema.FAULT_SEAT_NODE: 5})
    table.line.absent = {SEAT_5, seat_7}  # again
    table.run(6000)
    assert (table.told.faults, table.told.open) == ([5, 7, 5, 7], {schema.FAULT_SEAT_NODE: 7})
    table.line.absent = set()
    assert table.run(7000).told.open == {}


def test_nodes_that_lose_their_power_together_are_told_one_by_one() -> None:
    table = Table().up()
    table.line.absent = set(range(len(talk.PLACES)))
    table.run(2000)
    assert len(table.told.faults) == 1
    table.run(80_000)
    assert sorted(table.told.faults) == sorted(talk.PLACES)


@pytest.mark.parametrize("ms", [3_000, 6_000])
def test_nodes_whose_power_comes_and_goes_do_not_fill_the_journal(ms: int) -> None:
    """Of all of them, for two minutes, and no host takes what is told."""
    table = Table().up()
    for turn in range(120_000 // ms):
        table.line.absent = set() if turn % 2 else set(range(len(talk.PLACES)))
        table.run(ms)
    assert 0 < len(table.told.faults) <= 24


def test_a_node_that_comes_and_goes_does_not_fill_the_journal() -> None:
    """Its supply is loose: half a second on, half a second off, for five minutes, and no host takes what is told."""
    table = Table((5, 6, 33)).up_to(3)
    for second in range(600):
        table.line.absent = {0} if second % 2 else set()
        table.run(500)
    print(f"{len(table.told.faults)} faults in five minutes")
    assert 0 < len(table.told.faults) <= 60
