"""What is sent again, when, and what is not: events of the shoe and states of the host, one end at a time."""

from __future__ import annotations

from protocol.faulty_line import KEYS, Rig, card
from protocol.lone import heard, lone_host, lone_shoe, say
from shoelink import frame, link, schema
from shoelink.desired import Wishes

HOST = schema.FROM_HOST


def _shoe(cards: int) -> link.Link:
    """Up, with so many cards reported at tick 10 and as many of them sent as may be."""
    shoe = lone_shoe()
    for draw in range(1, cards + 1):
        shoe.report(card(draw))
    shoe.poll(10)
    return shoe


def _draws(shoe: link.Link) -> list[int]:
    return [message.draw for message in heard(shoe.take()) if isinstance(message, schema.Card)]


def _ack(number: int) -> bytes:
    return say(schema.Ack(0, 0), ack=number, mark=HOST)


def _nak(expected: int) -> bytes:
    return say(schema.Nak(expected, schema.NAK_GAP), mark=HOST)


# ---- events


def test_what_is_journalled_and_not_sent_yet_cannot_be_acknowledged() -> None:
    shoe = _shoe(10)
    assert _draws(shoe) == [1, 2, 3, 4, 5]
    shoe.receive(_ack(8), 20)
    assert (shoe.journal.held(), shoe.count["bad_ack"]) == (10, 1)
    shoe.receive(_ack(5), 21)
    shoe.poll(21)
    assert _draws(shoe) == [6, 7, 8, 9, 10]


def test_a_nak_for_what_is_stored_brings_nothing() -> None:
    shoe = _shoe(3)
    assert _draws(shoe) == [1, 2, 3]
    shoe.receive(_ack(2), 20)
    shoe.receive(_nak(1), 21)
    shoe.poll(21)
    assert _draws(shoe) == []
    shoe.receive(_nak(3), 22)
    shoe.poll(22)
    assert _draws(shoe) == [3]


def test_what_is_stored_is_not_sent_again_though_a_nak_had_asked_for_it() -> None:
    shoe = _shoe(5)
    assert _draws(shoe) == [1, 2, 3, 4, 5]
    shoe.receive(_nak(2) + _ack(5), 20)
    shoe.poll(20)
    assert _draws(shoe) == []
    assert shoe.journal.held() == 0
    shoe.report(card(6))
    shoe.poll(21)
    assert _draws(shoe) == [6]


def test_the_time_out_begins_anew_with_each_acknowledgement() -> None:
    """RFC 6298, 5.3: else what is only on its way would be repeated."""
    shoe = _shoe(5)
    assert _draws(shoe) == [1, 2, 3, 4, 5]
    shoe.receive(_ack(1), 150)
    sent = []
    for now in range(150, 500):
        shoe.receive(say(schema.Pong(bytes(4), bytes(4), bytes(4)), ack=1, mark=HOST), now)  # the host lives
        shoe.poll(now)
        sent += [now] if _draws(shoe) else []
    assert sent == [400], "the measured round trip of 140 ms makes it 250, from 150 on"


def test_a_tag_counts_towards_the_bytes_in_flight() -> None:
    rig = Rig(shoe_keys=KEYS, host_keys=KEYS)
    rig.run(500)
    for draw in range(1, 20):
        rig.shoe.report(card(draw))
    rig.shoe.poll(rig.ticks())
    wire = rig.shoe.take()
    assert len(frame.Decoder().feed(wire)) == 0  # sealed: not for a decoder without a key
    assert wire.count(b"\0\0") + 1 == 4  # of 42 bytes each
    assert len(wire) <= 192


def test_an_acknowledgement_does_not_go_back() -> None:
    host, _ = lone_host()
    for number in (1, 2, 3):
        host.receive(say(card(number), seq=number), 5)
    host.stored(2)
    host.stored(1)
    host.stored(4)  # the first that was never received
    host.stored(9)
    host.poll(6)
    assert [ack for _, _, _, ack, _ in frame.Decoder().feed(host.take())] == [2]


# ---- states


STOP, READY = schema.Signal(0, schema.SIGNAL_STOP, 0, 0), schema.Signal(0, schema.SIGNAL_READY, 0, 0)


def _sent(wishes: Wishes, ticks: range) -> list[int]:
    return [now for now in ticks if wishes.due(now)]


def test_a_state_is_repeated_after_200_ms_twice_and_then_every_250() -> None:
    wishes = Wishes()
    wishes.desire(STOP)
    assert _sent(wishes, range(1_000)) == [0, 200, 400, 650, 900]


def test_a_repeated_state_says_nothing_about_the_round_trip() -> None:
    """Karn's rule: which of the two was confirmed?"""
    wishes = Wishes()
    generation = wishes.desire(STOP)
    assert _sent(wishes, range(201)) == [0, 200]
    wishes.confirm(schema.SIGNAL, generation, 205)
    wishes.desire(READY)
    assert _sent(wishes, range(300, 600)) == [300, 500]


def test_a_state_that_was_confirmed_at_once_shortens_the_wait_to_50_ms_and_no_less() -> None:
    wishes = Wishes()
    generation = wishes.desire(STOP)
    assert wishes.due(0)
    wishes.confirm(schema.SIGNAL, generation, 3)
    wishes.desire(READY)
    assert _sent(wishes, range(10, 120))[:2] == [10, 60]


def test_the_confirmation_of_an_older_state_confirms_no_newer_one() -> None:
    wishes = Wishes()
    old = wishes.desire(STOP)
    assert wishes.due(0)
    new = wishes.desire(READY)
    assert wishes.due(1)
    wishes.confirm(schema.SIGNAL, old, 2)
    assert wishes.wait(2) > 0
    wishes.confirm(schema.SIGNAL, new, 3)
    assert wishes.wait(3) == -1


def test_no_generation_is_0() -> None:
    wishes = Wishes()
    given = [wishes.desire((STOP, READY)[number % 2]) for number in range(0x10002)]
    assert given == [*range(1, 0x10000), 1, 2, 3]
