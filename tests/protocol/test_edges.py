"""What an end does at the edge: the last number that counts, two things in one read, the moment between sessions."""

from __future__ import annotations

import pytest
from protocol.faulty_line import card
from protocol.lone import heard, lone_host, lone_shoe, say
from shoelink import frame, notice, schema, timing
from shoelink.desired import newer
from shoelink.link import Link

HOST = schema.FROM_HOST
NEWER_KIND = schema.RELIABLE | 0x1F  # no kind of this schema has it


def _recorded(notices: tuple[notice.Notice, ...]) -> list[int]:
    return [one.number for one in notices if isinstance(one, notice.Recorded)]


def test_an_unknown_event_and_the_next_one_may_come_in_one_read() -> None:
    host, _ = lone_host()
    assert NEWER_KIND not in schema.NAMES
    read = frame.encode(NEWER_KIND, 0, 1, 0, b"new") + say(card(2), seq=2) + say(card(3), seq=3)
    told = host.receive(read, 5)
    assert _recorded(told) == [1, 2, 3]
    assert not [one for one in told if isinstance(one, notice.Stopped)]
    assert host.count["gaps"] == 0


def test_a_repeat_and_the_next_one_may_come_in_one_read() -> None:
    host, _ = lone_host()
    assert _recorded(host.receive(say(card(1), seq=1), 5)) == [1]
    assert _recorded(host.receive(say(card(1), seq=1) + say(card(2), seq=2) + say(card(3), seq=3), 6)) == [2, 3]


def test_between_two_sessions_no_event_is_taken() -> None:
    """It may be another shoe that is there now."""
    host, _ = lone_host()
    assert _recorded(host.receive(say(card(1), seq=1), 5)) == [1]
    host.start(10)
    assert _recorded(host.receive(say(card(2), seq=2), 11)) == []
    assert not host.up


def test_before_a_session_a_short_event_is_no_reason_to_stop() -> None:
    """It is counted: nobody has said yet what schema it is of."""
    host = Link(schema.HOST, schema.Ident(b"h" * 8, b"h" * 12, bytes(16)), lambda n: b"h" * n)
    host.start(0)
    assert host.receive(frame.encode(schema.CARD, 0, 1, 0, b"xx"), 1) == ()
    assert host.count["short_body"] == 1


def test_the_first_number_never_sent_cannot_be_acknowledged() -> None:
    shoe = lone_shoe()
    for draw in range(1, 11):
        shoe.report(card(draw))
    shoe.poll(10)
    sent = len([one for one in heard(shoe.take()) if isinstance(one, schema.Card)])
    assert 0 < sent < 10
    shoe.receive(say(schema.Ack(0, 0), ack=sent + 1, mark=HOST), 20)
    assert (shoe.journal.held(), shoe.count["bad_ack"]) == (10, 1)
    shoe.receive(say(schema.Ack(0, 0), ack=sent, mark=HOST), 21)
    assert (shoe.journal.held(), shoe.count["bad_ack"]) == (10 - sent, 1)


@pytest.mark.parametrize("host", [True, False], ids=["host", "shoe"])
def test_its_own_echo_is_no_sign_of_life(host: bool) -> None:
    """TX joined to RX, or a hub that repeats: what hears only itself is alone."""
    end = lone_host()[0] if host else lone_shoe()
    for now in range(10, 10 + timing.LOST_MS + 60, 10):
        end.receive(end.take(), now)
        end.poll(now)
    assert not end.up
    assert end.count["echoes"] > 0


def test_what_is_to_be_answered_is_answered_at_once() -> None:
    """The firmware sleeps for as long as `wait` says."""
    due = schema.Due(1, 1, schema.DUE_SEAT, 1, 1)
    lookup = schema.Lookup(0)
    for asked in (due, lookup, schema.Ping(bytes(4))):
        shoe = lone_shoe()
        shoe.poll(50)
        shoe.take()
        assert shoe.wait(50) > 0
        kind = schema.KIND_OF[type(asked)]
        shoe.receive(frame.encode(kind | HOST, 0, 0, 0, schema.pack(asked)), 51)
        assert shoe.wait(51) == 0, asked
        shoe.poll(51)
        assert heard(shoe.take()) != []


def test_a_generation_half_the_numbers_ahead_is_not_newer() -> None:
    """RFC 1982, 3.2: which of the two is later is not defined there; a shoe keeps what it shows."""
    assert newer(0x7FFF, 0)
    assert not newer(0x8000, 0)
    assert not newer(0, 0)
