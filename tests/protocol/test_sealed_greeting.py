"""A host with keys that meets a shoe, one sealed HELLO at a time: calls, answers, and what is played again."""

from __future__ import annotations

from protocol.attacker import frames_in, state
from protocol.faulty_line import KEY, KEYS, ident
from protocol.lone import hello
from shoelink import frame, link, notice, schema, seal

DEVICE = b"s" * 8
ASK = schema.FLAG_AUTH | schema.FLAG_ASK


def _host() -> link.Link:
    """It greets with the nonce hhhhhhhh."""
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n, keys=KEYS)
    host.start(0)
    host.poll(0)
    host.take()
    return host


def _sealed(greeting: schema.Hello, of_host: bytes, count: int) -> bytes:
    body = schema.pack(greeting)
    tag = seal.Seal(KEY, DEVICE, of_host, greeting.nonce).tag(schema.SHOE, count, schema.HELLO, ASK, count, 0, body)
    return frame.encode(schema.HELLO, ASK, count, 0, body + tag)


def _call(nonce: bytes) -> bytes:
    return _sealed(hello(nonce=nonce, answers=bytes(4)), seal.NOBODY, 0)


def _answer(nonce: bytes, count: int, of_host: bytes = b"hhhhhhhh") -> bytes:
    return _sealed(hello(nonce=nonce, answers=of_host[:4]), of_host, count)


def test_a_call_of_long_ago_does_not_come_between_two_that_have_proven_themselves() -> None:
    host = _host()
    host.receive(_answer(b"ssssssss", 1), 1)
    assert host._guard
    assert host._guard.proven
    before = state(host)
    assert host.receive(_call(b"longago!"), 2) == ()
    assert state(host) == before
    assert host.count["replayed"] == 1


def test_a_call_that_is_repeated_does_not_begin_the_count_again() -> None:
    """The shoe would take the second greeting for a replay of the first."""
    host = _host()
    seqs = []
    for now in (1, 101, 201):
        host.receive(_call(b"ssssssss"), now)
        host.poll(now)
        seqs += [seq for kind, _, seq, _, _ in frames_in(host.take()) if kind & 0x7F == schema.HELLO]
    assert len(seqs) >= 2
    assert seqs == sorted(set(seqs))


def test_an_answer_counts_once() -> None:
    host = _host()
    host.receive(_answer(b"ssssssss", 5), 1)
    for again in range(1, 4):
        host.receive(_answer(b"ssssssss", 5), 1 + again)
        assert host.count["replayed"] == again
    host.receive(_answer(b"ssssssss", 6), 10)
    assert host.count["replayed"] == 3


def test_an_answer_to_a_nonce_of_before_is_no_stranger() -> None:
    """The shoe has not noticed yet that this host began anew: no reason to say that it is not enrolled."""
    host = _host()
    told = host.receive(_answer(b"ssssssss", 7, of_host=b"gone by."), 1)
    assert told == ()
    assert host.count["bad_tag"] == 1
    body = schema.pack(hello(answers=bytes(4)))
    stranger = frame.encode(schema.HELLO, ASK, 0, 0, body + bytes(schema.TAG))
    (refused,) = host.receive(stranger, 2)
    assert isinstance(refused, notice.Refused)
    assert refused.reason == "key"
