"""The checks of the session: how a device greets, comes up, notices silence, and whom it refuses."""

from __future__ import annotations

import math
import os

from shoelink import frame, schema

from dealershoe.conform.check import SLACK_MS, Checks, Fails, Untested, need
from dealershoe.conform.peer import Heard, Peer, now

CHECKS = Checks("The session")
TURN_US = 10_000.0  # a device may look at its clock only once in a turn of its program


@CHECKS.add("greets", "an unanswered device says HELLO with ASK, and IDENT behind it", up=False)
def _(peer: Peer) -> None:
    heard = peer.hello()
    need(heard is not None, "no HELLO within 1.5 s")
    assert heard is not None
    need(heard.flags & schema.FLAG_ASK, f"its HELLO has flags {heard.flags:02x}, ASK is not set")
    place = peer.heard.index(heard)
    behind = peer.wait(300.0, lambda _: True, place + 1)
    need(behind and isinstance(behind.message, schema.Ident), f"behind HELLO came {_name(behind)}, not IDENT")


@CHECKS.add("hello-fields", "HELLO names protocol, boot, journal and nonce, and its numbers fit together", up=False)
def _(peer: Peer) -> None:
    hello = _hello(peer)
    need(hello.major == schema.MAJOR, f"it speaks link {hello.major}.{hello.minor}, this tool {schema.MAJOR}")
    for field in ("journal", "boot", "nonce"):
        need(any(getattr(hello, field)), f"{field} is all zeros")
    need(hello.next >= 1, "next is 0: numbers begin at 1")
    held = hello.next - frame.extend(hello.oldest, hello.next)
    need(0 <= held < 0x8000, f"oldest {hello.oldest} and next {hello.next} do not fit together")
    need(hello.reset in dict(schema.CODES["reset"]), f"reset {hello.reset} is no code")
    need(hello.receive >= schema.FRAME, f"it can take {hello.receive} bytes unread, less than one frame")


@CHECKS.add("ident-fields", "IDENT has a device id, and its build is ASCII with zeros behind", up=False)
def _(peer: Peer) -> None:
    heard = peer.wait(1_500.0, lambda h: isinstance(h.message, schema.Ident), 0)
    need(heard, "no IDENT was heard")
    assert heard is not None
    need(any(heard.message.device), "the device id is all zeros")
    text = heard.message.build.rstrip(b"\0")
    need(all(0x20 <= byte < 0x7F for byte in text), f"build {heard.message.build!r}")


@CHECKS.add("schema", "the schema hash is the one of its protocol version", up=False)
def _(peer: Peer) -> None:
    hello = _hello(peer)
    if hello.minor != schema.MINOR:
        raise Untested(f"it speaks {hello.major}.{hello.minor}, this tool knows the hash of {schema.MINOR} only")
    need(
        hello.schema == schema.SCHEMA,
        f"it has {hello.schema.hex()}, {schema.MAJOR}.{schema.MINOR} is {schema.SCHEMA.hex()}",
    )


@CHECKS.add("greets-again", "unanswered, it says HELLO every 100 ms, with one nonce", up=False)
def _(peer: Peer) -> None:
    peer.listen(100.0)  # what had piled up
    hellos = [h for h in peer.listen(1_900.0) if isinstance(h.message, schema.Hello)]
    need(len(hellos) >= 4, f"{len(hellos)} HELLOs in 1.9 s")
    apart = (hellos[-1].at - hellos[0].at) / (len(hellos) - 1)  # a busy host reads several at once
    need(40.0 <= apart <= 100.0 + SLACK_MS, f"{apart:.0f} ms from one to the next")
    nonces = {h.message.nonce for h in hellos}
    need(len(nonces) == 1, f"{len(nonces)} nonces in one greeting")


@CHECKS.add("early-frames", "frames before the session is up change nothing", up=False)
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.say(wish)
    need(not peer.confirmed(schema.SIGNAL, wish.generation, 300.0), "it confirmed a SIGNAL before any HELLO")
    need(peer.ping(200.0) is None, "it answered PING before any HELLO")


@CHECKS.add("own-echo", "it does not answer its own frames", up=False)
def _(peer: Peer) -> None:
    seen = 0
    for _step in range(12):
        for heard in peer.listen(100.0):
            seen += 1
            peer.raw(frame.encode(heard.kind, heard.flags, heard.seq, 0, heard.body))
            need(isinstance(heard.message, schema.Hello | schema.Ident), f"it came up on its own echo: {_name(heard)}")
    need(seen <= 2 * 1_200 / 100, f"{seen} frames in 1.2 s: it answers itself")


@CHECKS.add("noise-first", "noise, AT and half a frame in front do not keep a HELLO from being answered", up=False)
def _(peer: Peer) -> None:
    noise = b"AT\r\n" + os.urandom(200) + b"\0\0" + frame.encode(schema.PING | 0x80, 0, 1, 0, bytes(4))[:9]
    peer.renew()
    peer.raw(noise + b"\0")
    peer.damaged_sent += 1
    need(peer.answered(2_000.0), "no HELLO answered within 2 s")


@CHECKS.add("other-major", "a host of another major version gets no session", up=False)
def _(peer: Peer) -> None:
    hello = _hello(peer)
    peer.renew()
    for _again in range(2):
        peer.greet(hello.nonce[:4], 1, hello.journal, major=schema.MAJOR + 1)
        need(peer.ping(250.0) is None, f"it came up with a host of {schema.MAJOR + 1}.{schema.MINOR}")


@CHECKS.add("other-minor", "a host of another minor version, with another schema, is met")
def _(peer: Peer) -> None:
    minor = _hello(peer).minor
    for other in {max(minor - 1, 0), minor + 1} - {minor}:
        need(
            peer.connect(minor=other, schema=b"othr"),
            f"it speaks {schema.MAJOR}.{minor} and did not come up with a host of {schema.MAJOR}.{other}",
        )


@CHECKS.add("other-journal", "a host that names another journal gets no session", up=False)
def _(peer: Peer) -> None:
    peer.renew()
    hello = _answered(peer)
    other = bytes(byte ^ 0xFF for byte in hello.journal)
    peer.greet(hello.nonce[:4], peer.stored + 1, other)
    need(peer.ping(300.0) is None, "it came up")


@CHECKS.add("numbers-never-given", "a host that asks for events it never gave gets no session", up=False)
def _(peer: Peer) -> None:
    peer.renew()
    hello = _answered(peer)
    peer.greet(hello.nonce[:4], hello.next + 50, hello.journal)
    need(
        peer.ping(300.0) is None, f"it came up, though its next is {hello.next} and it was asked for {hello.next + 50}"
    )


@CHECKS.add("comes-up", "after HELLO and IDENT both ways the session is up: PING is answered")
def _(peer: Peer) -> None:
    need(peer.ping() is not None, "no PONG")


@CHECKS.add("hello-while-up", "a device that is up answers a HELLO that asks, and stays up")
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    place = len(peer.heard)
    peer.greet(hello.nonce[:4], peer.stored + 1, peer.journal)
    need(peer.hello(500.0, place), "no HELLO within 500 ms")
    need(peer.ping() is not None, "it is no longer up")


@CHECKS.add("new-nonce-restarts", "a HELLO with a new nonce ends the session; it greets again with a fresh nonce")
def _(peer: Peer) -> None:
    before = {h.message.nonce for h in peer.heard if isinstance(h.message, schema.Hello)}
    peer.alive = False
    peer.renew()
    hello = _answered(peer)
    need(hello.nonce not in before, "it used a nonce again")


@CHECKS.add("pong-brings-the-stamp", "PONG brings every byte value back as it came")
def _(peer: Peer) -> None:
    for first in range(0, 256, 4):
        mark = bytes(range(first, first + 4))
        for _again in range(3):
            place = len(peer.heard)
            peer.say(schema.Ping(mark))
            if peer.wait(200.0, lambda h, m=mark: isinstance(h.message, schema.Pong) and h.message.ping == m, place):  # type: ignore[misc]
                break
        else:
            raise Fails(f"the stamp {mark.hex(' ')} did not come back")


@CHECKS.add(
    "pong-times", "PONG has the times of the PING's arrival and of the answer, by a microsecond clock that runs"
)
def _(peer: Peer) -> None:
    peer.alive = False
    begun: tuple[float, int] | None = None  # by either clock; what follows is microseconds since then
    answered = 0.0
    least, most = -math.inf, math.inf  # by so much the device's clock is ahead: each round trip bounds it on both sides
    for _again in range(8):
        asked = now() * 1_000
        pong = peer.ping()
        heard = now() * 1_000
        if pong is None:
            raise Fails("no PONG")
        begun = begun or (asked, schema.value(pong.received))
        received, sent = (_later(schema.value(stamp), begun[1]) for stamp in (pong.received, pong.sent))
        need(received >= answered, f"a PING came {answered - received:.0f} µs before the answer to the one before it")
        need(sent >= received, f"a PONG was sent {received - sent:.0f} µs before its PING came")
        answered = sent
        least = max(least, sent - (heard - begun[0]))
        most = min(most, received - (asked - begun[0]))
        need(least - most <= TURN_US, f"its clock and ours are {least - most:.0f} µs apart between two PONGs")
        peer.listen(60.0)


@CHECKS.add("probes", "a device that has heard nothing for 300 ms sends PING every 50 ms")
def _(peer: Peer) -> None:
    peer.say(schema.Ack(0, 0))
    peer.alive = False
    silent = peer.last_sent
    pings = [h.at - silent for h in peer.listen(700.0) if isinstance(h.message, schema.Ping)]
    early = sum(at < 240.0 for at in pings)
    need(early <= 1, f"{early} PINGs within 240 ms of a frame of the host")
    need(5 <= len(pings) <= 12, f"{len(pings)} PINGs in 700 ms of silence")


@CHECKS.add("speaks-when-idle", "a device with nothing to say sends PING when it was silent for 251 ms")
def _(peer: Peer) -> None:
    peer.alive = False
    heard = peer.wait(251.0 + SLACK_MS, lambda h: isinstance(h.message, schema.Ping))
    need(heard is not None, "no PING within 400 ms")


@CHECKS.add("link-lost", "740 ms without a frame of the host: it gives the session up and greets anew")
def _(peer: Peer) -> None:
    nonces = {h.message.nonce for h in peer.heard if isinstance(h.message, schema.Hello)}
    peer.say(schema.Ack(0, 0))
    peer.alive = False
    heard = peer.listen(1_200.0)
    hellos = [h for h in heard if isinstance(h.message, schema.Hello)]
    need(hellos, "no HELLO within 1.2 s of silence")
    after = hellos[0].at - peer.last_sent
    need(after >= 650.0, f"it gave up after {after:.0f} ms")
    need(after <= 750.0 + 2 * SLACK_MS, f"it gave up after {after:.0f} ms only")
    need(hellos[0].message.nonce not in nonces, "it greets with the nonce of the session that was lost")


@CHECKS.add("link-kept", "a frame of the host every 600 ms keeps the session up")
def _(peer: Peer) -> None:
    peer.alive = False
    for _again in range(3):
        heard = peer.listen(600.0)
        lost = [h for h in heard if isinstance(h.message, schema.Hello)]
        need(not lost, "it greeted anew within 600 ms of a frame")
        peer.say(schema.Ack(0, 0))


def _name(heard: Heard | None) -> str:
    if heard is None:
        return "nothing"
    plain = schema.known(heard.kind, False)
    return schema.NAMES[plain] if plain else f"kind {heard.kind:02x}"


def _later(stamp: int, than: int) -> float:
    """Microseconds from one stamp to another, right across the wrap."""
    return float((stamp - than + 0x80000000 & 0xFFFFFFFF) - 0x80000000)


def _hello(peer: Peer) -> schema.Hello:
    heard = next((h for h in reversed(peer.heard) if isinstance(h.message, schema.Hello)), None) or peer.hello()
    if heard is None:
        raise Fails("no HELLO within 1.5 s")
    hello: schema.Hello = heard.message
    return hello


def _answered(peer: Peer) -> schema.Hello:
    hello = peer.answered()
    if hello is None:
        raise Fails("no HELLO answers ours")
    return hello
