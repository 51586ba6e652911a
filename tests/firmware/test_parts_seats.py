"""The seat bus: what the shoe and its nodes say to each other on a modelled line, whatever that does."""

from __future__ import annotations

import pytest
from dealershoe.emulate.parts.seatline import BYTE_US, Gate
from firmware.parts_machine import SEAT_5, US, Table, Told, gate_module, seats, talk
from hypothesis import given, settings
from hypothesis import strategies as st
from shoelink import schema


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
