"""What one end does with a single frame where it would be easy to do another thing: each a promise of README.md."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protocol.faulty_line import Rig, card, ident
from protocol.lone import heard, hello, lone_host, lone_shoe, say
from shoelink import frame, journal, link, notice, outbox, schema

NOISE = b"\0noise\0"


@given(st.integers(0x8000, 1 << 64), st.integers(-0x8000, 0x7FFF))
@example(0x8000, -0x8000)
@example(0xFFFF, 0x7FFF)
def test_sixteen_bits_are_extended_to_the_nearest_number(near: int, apart: int) -> None:
    assert frame.extend((near + apart) & 0xFFFF, near) == near + apart


# ---- NAK: one for a condition


def test_an_event_in_order_ends_a_condition() -> None:
    host, _ = lone_host()
    for number in (1, 2):
        host.receive(NOISE, 10 * number)
        host.receive(NOISE, 10 * number + 1)
        host.poll(10 * number + 1)
        assert host.count["naks"] == number
        assert host.receive(say(card(number), seq=number), 10 * number + 2)


def test_a_newer_state_ends_a_condition_and_a_repeat_does_not() -> None:
    shoe = lone_shoe()
    for generation, naks in ((1, 1), (1, 2), (2, 2), (2, 3)):
        shoe.receive(NOISE, 10)
        shoe.poll(10)
        assert shoe.count["naks"] == naks
        shoe.receive(say(schema.Signal(generation, 0, 0, 0)), 10)


def test_the_end_of_a_block_that_began_before_the_silence_is_no_new_condition_but_what_follows_is() -> None:
    host, _ = lone_host()
    host.receive(NOISE + b"half a", 10)
    host.poll(10)
    host.receive(b" block\0", 60)
    host.poll(60)
    assert host.count["naks"] == 1
    host.receive(NOISE, 61)
    host.poll(61)
    assert host.count["naks"] == 2


@pytest.mark.parametrize("end", ["host", "shoe"])
def test_damage_before_the_session_brings_no_nak_into_it(end: str) -> None:
    one = link.Link(
        schema.HOST if end == "host" else schema.SHOE,
        ident(end[:1].encode()),
        lambda n: end[:1].encode() * n,
        journal.Journal(b"jrnl"),
    )
    one.start(0)
    one.poll(0)
    one.take()
    one.receive(NOISE * 3, 1)
    if end == "host":
        one.receive(say(hello()) + say(ident(b"s")), 2)
        one.resume(0, 2)
    else:
        greeting = hello(oldest=0, next=1, nonce=b"hhhhhhhh", answers=b"ssss")
        one.receive(say(greeting, mark=schema.FROM_HOST) + say(ident(b"h"), mark=schema.FROM_HOST), 2)
    assert one.up
    one.poll(3)
    assert not [message for message in heard(one.take()) if isinstance(message, schema.Nak)]
    one.receive(NOISE, 4)
    one.poll(4)
    assert one.count["naks"] == 1, "what is damaged now is told now"


# ---- stopped


@pytest.mark.parametrize("stopping", [(0x7F, b"new"), (schema.CARD, bytes(20))], ids=["unknown", "short"])
def test_what_has_stopped_the_deal_is_not_passed_by(stopping: tuple[int, bytes]) -> None:
    """Not even by the same number with another content."""
    host, _ = lone_host()
    kind, body = stopping
    (stopped,) = host.receive(frame.encode(kind, 0, 1, 0, body), 5)
    assert isinstance(stopped, notice.Stopped)
    assert host.receive(say(card(1), seq=1) + say(card(2), seq=2), 6) == ()
    host.poll(7)
    assert all(ack == 0 for _, _, _, ack, _ in frame.Decoder().feed(host.take()))


# ---- what an end does not take, and does not send


def test_a_shoe_hands_out_nothing_of_what_only_a_host_asks_for() -> None:
    shoe = lone_shoe()
    mark = schema.FROM_HOST
    for message in (schema.Pong(bytes(4), bytes(4), bytes(4)), schema.Nak(1, 1), schema.Ack(0, 0), schema.Lookup(0)):
        assert shoe.receive(say(message, mark=mark if schema.KIND_OF[type(message)] < mark else 0), 5) == ()
    told = shoe.receive(say(schema.Enroll(bytes(32))), 6)
    assert told == (notice.Delivered(schema.ENROLL, schema.Enroll(bytes(32))),)


def test_a_message_for_which_there_is_no_room_is_refused() -> None:
    host, _ = lone_host()
    sent = [host.send(schema.Lookup(number), 10) for number in range(50)]
    assert sent == sorted(sent, reverse=True)
    assert 0 < sum(sent) < 50
    assert host.ready <= outbox.SIZE
    assert [message.offset for message in heard(host.take()) if isinstance(message, schema.Lookup)] == [
        *range(sum(sent))
    ]
    lost = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n)
    lost.start(0)
    assert not lost.send(schema.Lookup(0), 0), "no session"


def test_a_state_with_a_body_too_short_for_its_generation_is_not_confirmed() -> None:
    shoe = lone_shoe()
    for body in (b"", b"\5"):
        assert shoe.receive(frame.encode(0xBE, 0, 1, 0, body), 5) == ()
    shoe.poll(6)
    assert heard(shoe.take()) == []


# ---- a full journal


def test_a_journal_reopens_when_there_is_room_for_what_it_has_to_say_and_for_an_event() -> None:
    ring = journal.Journal(b"jrnl", capacity=4)
    shoe = link.Link(schema.SHOE, ident(b"s"), lambda n: b"s" * n, ring)
    assert [shoe.report(card(draw)) for draw in range(1, 7)] == [1, 2, 3, 4, 0, 0]
    ring.release(2)  # of these and the FAULT three are held: room for one
    assert shoe.report(card(7)) == 0
    assert ring.next == 6
    ring.release(3)
    assert shoe.report(card(8)) == 7  # behind CLEAR
    at = ring.load(6)
    assert ring.buffer[at - 2] == schema.CLEAR
    cleared = schema.unpack(schema.CLEAR, bytes(ring.buffer[at : at + ring.length(6)]))
    assert cleared == schema.Clear(bytes(4), schema.FAULT_JOURNAL_FULL, 3)


# ---- sessions


def test_a_host_that_begins_its_generations_anew_is_obeyed() -> None:
    rig = Rig()
    rig.run(500)
    for signal in (1, 2, 3, 1, 2, 3):
        rig.host.desire(schema.Signal(0, signal, 0, 0))
        rig.run(rig.now + 50)
    rig.reset_host()
    rig.host.desire(schema.Signal(0, schema.SIGNAL_READY, 0, 0))
    rig.run(rig.now + 1500)
    last = rig.signals[-1]
    assert isinstance(last, schema.Signal)
    assert (last.generation, last.signal) == (1, schema.SIGNAL_READY)


def test_a_shoe_gives_no_session_to_a_host_that_names_another_journal() -> None:
    for named in (b"jrnk", schema.NO_JOURNAL):
        shoe = link.Link(schema.SHOE, ident(b"s"), lambda n: b"s" * n, journal.Journal(b"jrnl"))
        shoe.start(0)
        shoe.poll(0)
        shoe.take()
        shoe.report(card(1))
        greeting = hello(journal=named, oldest=0, next=2, nonce=b"hhhhhhhh", answers=b"ssss")
        shoe.receive(say(greeting, mark=schema.FROM_HOST) + say(ident(b"h"), mark=schema.FROM_HOST), 1)
        assert not shoe.up
        assert shoe.journal.held() == 1


def test_a_host_asks_for_the_shoes_time_at_once() -> None:
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n)
    host.start(0)
    host.poll(0)
    host.take()
    host.receive(say(hello()) + say(ident(b"s")), 1)
    host.resume(0, 1)
    host.poll(1)
    assert schema.Ping(bytes(4)) in heard(host.take())


def test_an_acknowledgement_is_not_lost_in_a_hello() -> None:
    """No session reads the `ack` of a HELLO: it may be of the session before."""
    host, _ = lone_host()
    host.receive(say(card(1), seq=1), 5)
    host.stored(1)
    host.receive(say(hello(), flags=schema.FLAG_ASK), 5)
    host.poll(5)
    frames = frame.Decoder().feed(host.take())
    assert [ack for kind, _, _, ack, _ in frames if kind & ~schema.FROM_HOST not in (schema.HELLO, schema.IDENT)] == [1]


def test_a_peer_that_begins_anew_while_it_is_met_is_met_anew() -> None:
    """Its first HELLO answered ours, the second is of another boot and answers nobody; whose IDENT is whose?"""
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n)
    host.start(0)
    told = host.receive(say(hello()), 1)
    other = hello(nonce=b"tttttttt", boot=b"tttt", answers=bytes(4))
    told += host.receive(say(other) + say(ident(b"t")), 2)
    assert told == (notice.Greeting(other, ident(b"t")),)
    host.resume(0, 2)
    assert not host.up, "the second has not answered"
    told = host.receive(say(hello(nonce=b"uuuuuuuu")), 3)
    assert told == (), "not yet: the IDENT that was heard is another boot's"
    assert host.receive(say(ident(b"u")), 4) == (notice.Greeting(hello(nonce=b"uuuuuuuu"), ident(b"u")),)
    host.resume(0, 4)
    assert host.up


def test_what_was_asked_for_in_the_session_before_is_not_answered_in_the_next() -> None:
    shoe = lone_shoe()
    shoe.receive(say(schema.Lookup(0)) + say(schema.Ping(b"mark"), mark=schema.FROM_HOST), 5)
    again = hello(oldest=0, next=1, nonce=b"iiiiiiii", answers=bytes(4))
    assert notice.LinkLost("restart") in shoe.receive(say(again, mark=schema.FROM_HOST, flags=schema.FLAG_ASK), 6)
    greeting = say(again._replace(answers=b"ssss"), mark=schema.FROM_HOST) + say(ident(b"i"), mark=schema.FROM_HOST)
    shoe.receive(greeting, 7)
    assert shoe.up
    shoe.poll(8)
    assert not [message for message in heard(shoe.take()) if isinstance(message, schema.Words | schema.Pong)]
