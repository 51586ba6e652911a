"""One end of the link that is up, met by a peer made of frames: for tests of what it does with a single frame."""

from __future__ import annotations

from protocol.faulty_line import ident
from shoelink import frame, journal, link, notice, schema


def lone_host(last: int = 0, peer: schema.Hello | None = None) -> tuple[link.Link, list[notice.Notice]]:
    """A host that a shoe made of frames has greeted."""
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n)
    host.start(0)
    notices: list[notice.Notice] = list(host.poll(0))
    host.take()
    notices += host.receive(say(peer or hello()) + say(ident(b"s")), 1)
    if host.peer and not host.up:
        host.resume(last, 1)
    notices += host.poll(1)
    host.take()
    return host, notices


def hello(**changed: object) -> schema.Hello:
    """A shoe's HELLO that answers the nonce of `lone_host`; `changed`: other fields."""
    made = schema.Hello(1, 0, schema.SCHEMA, b"jrnl", b"boot", schema.RESET_POWER, 1, 100, 256, b"ssssssss", b"hhhh")
    return made._replace(**changed)  # type: ignore[arg-type]


def say(message: schema.Message, seq: int = 0, ack: int = 0, mark: int = 0, flags: int = 0) -> bytes:
    """A frame; `mark` FROM_HOST for the kinds that both ends send."""
    return frame.encode(schema.KIND_OF[type(message)] | mark, flags, seq, ack, schema.pack(message))


def heard(data: bytes) -> list[schema.Message]:
    """The messages in what an end has written."""
    return [schema.unpack(kind, body) for kind, _, _, _, body in frame.Decoder().feed(data)]


def lone_shoe(receive: int = 256) -> link.Link:
    """A shoe that a host made of frames has greeted."""
    shoe = link.Link(schema.SHOE, ident(b"s"), lambda n: b"s" * n, journal.Journal(b"jrnl"))
    shoe.start(0)
    shoe.poll(0)
    shoe.take()
    greeting = hello(oldest=0, next=1, nonce=b"hhhhhhhh", answers=b"ssss", receive=receive)
    shoe.receive(say(greeting, mark=schema.FROM_HOST) + say(ident(b"h"), mark=schema.FROM_HOST), 1)
    shoe.poll(1)
    shoe.take()
    assert shoe.up
    return shoe
