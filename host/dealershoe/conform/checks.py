"""The checks of the protocol, one a function: its name, the sentence that holds, the section of README.md it is from.

A check speaks to the device through a `Peer` and raises `Fails` with what was seen, or `Untested` with the reason.
Times are the protocol's, with room above for a slow line and a busy machine: too early is as wrong as missing.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shoelink import frame, schema

from dealershoe.conform.peer import Heard, Peer

UNKNOWN = 0x1F  # a number that no kind of either end has
SKIPPED, WISHED, STOPPING = UNKNOWN, UNKNOWN | schema.RELIABLE, UNKNOWN | schema.CRITICAL
SLACK_MS = 150.0


class Fails(Exception):  # noqa: N818 - the verdict of a check
    """The device does not do it; the text says what was seen."""


class Untested(Exception):  # noqa: N818 - the verdict of a check
    """It could not be told; the text says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """`holds` is the sentence that is true of a device that passes. `up`: it needs a fresh session that is up."""

    name: str
    holds: str
    section: str
    up: bool
    run: Callable[[Peer], None]


CHECKS: list[Check] = []


def check(section: str, name: str, holds: str, *, up: bool = True) -> Callable[[Callable[[Peer], None]], None]:
    """Add a check to CHECKS."""

    def add(run: Callable[[Peer], None]) -> None:
        CHECKS.append(Check(name, holds, section, up, run))

    return add


def need(condition: object, seen: str) -> None:
    """Fail with what was seen unless the condition holds."""
    if not condition:
        raise Fails(seen)


# ---- the session

SESSION = "The session"


@check(SESSION, "greets", "an unanswered device says HELLO with ASK, and IDENT behind it", up=False)
def _(peer: Peer) -> None:
    heard = peer.hello()
    need(heard is not None, "no HELLO within 1.5 s")
    assert heard is not None
    need(heard.flags & schema.FLAG_ASK, f"its HELLO has flags {heard.flags:02x}, ASK is not set")
    place = peer.heard.index(heard)
    behind = peer.wait(300.0, lambda _: True, place + 1)
    need(behind and isinstance(behind.message, schema.Ident), f"behind HELLO came {_name(behind)}, not IDENT")


@check(SESSION, "hello-fields", "HELLO names protocol, boot, journal and nonce, and its numbers fit together", up=False)
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


@check(SESSION, "ident-fields", "IDENT has a device id, and its build is ASCII with zeros behind", up=False)
def _(peer: Peer) -> None:
    heard = peer.wait(1_500.0, lambda h: isinstance(h.message, schema.Ident), 0)
    need(heard, "no IDENT was heard")
    assert heard is not None
    need(any(heard.message.device), "the device id is all zeros")
    text = heard.message.build.rstrip(b"\0")
    need(all(0x20 <= byte < 0x7F for byte in text), f"build {heard.message.build!r}")


@check(SESSION, "schema", "the schema hash is the one of its protocol version", up=False)
def _(peer: Peer) -> None:
    hello = _hello(peer)
    if hello.minor != schema.MINOR:
        raise Untested(f"it speaks {hello.major}.{hello.minor}, this tool knows the hash of {schema.MINOR} only")
    need(
        hello.schema == schema.SCHEMA,
        f"it has {hello.schema.hex()}, {schema.MAJOR}.{schema.MINOR} is {schema.SCHEMA.hex()}",
    )


@check(SESSION, "greets-again", "unanswered, it says HELLO every 250 ms, with one nonce", up=False)
def _(peer: Peer) -> None:
    hellos = [h for h in peer.listen(1_900.0) if isinstance(h.message, schema.Hello)]
    need(len(hellos) >= 4, f"{len(hellos)} HELLOs in 1.9 s")
    times = sorted(b.at - a.at for a, b in itertools.pairwise(hellos))
    middle = times[len(times) // 2]
    need(80.0 <= middle <= 250.0 + SLACK_MS, f"{middle:.0f} ms from one to the next")
    nonces = {h.message.nonce for h in hellos}
    need(len(nonces) == 1, f"{len(nonces)} nonces in one greeting")


@check(SESSION, "early-frames", "frames before the session is up change nothing", up=False)
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.say(wish)
    need(not peer.confirmed(schema.SIGNAL, wish.generation, 300.0), "it confirmed a SIGNAL before any HELLO")
    need(peer.ping(200.0) is None, "it answered PING before any HELLO")


@check(SESSION, "own-echo", "it does not answer its own frames", up=False)
def _(peer: Peer) -> None:
    seen = 0
    for _step in range(12):
        for heard in peer.listen(100.0):
            seen += 1
            peer.raw(frame.encode(heard.kind, heard.flags, heard.seq, 0, heard.body))
            need(isinstance(heard.message, schema.Hello | schema.Ident), f"it came up on its own echo: {_name(heard)}")
    need(seen <= 2 * 1_200 / 100, f"{seen} frames in 1.2 s: it answers itself")


@check(SESSION, "noise-first", "noise, AT and half a frame in front do not keep a HELLO from being answered", up=False)
def _(peer: Peer) -> None:
    noise = b"AT\r\n" + os.urandom(200) + b"\0\0" + frame.encode(schema.PING | 0x80, 0, 1, 0, bytes(4))[:9]
    peer.renew()
    peer.raw(noise + b"\0")
    peer.damaged_sent += 1
    need(peer.answered(2_000.0), "no HELLO answered within 2 s")


@check(SESSION, "other-major", "a host of another major version gets no session", up=False)
def _(peer: Peer) -> None:
    hello = _hello(peer)
    peer.renew()
    for _again in range(2):
        peer.greet(hello.nonce[:4], 1, hello.journal, major=schema.MAJOR + 1)
        need(peer.ping(250.0) is None, f"it came up with a host of {schema.MAJOR + 1}.{schema.MINOR}")


@check(SESSION, "other-journal", "a host that names another journal gets no session", up=False)
def _(peer: Peer) -> None:
    peer.renew()
    hello = _answered(peer)
    other = bytes(byte ^ 0xFF for byte in hello.journal)
    peer.greet(hello.nonce[:4], peer.stored + 1, other)
    need(peer.ping(300.0) is None, "it came up")


@check(SESSION, "numbers-never-given", "a host that asks for events it never gave gets no session", up=False)
def _(peer: Peer) -> None:
    peer.renew()
    hello = _answered(peer)
    peer.greet(hello.nonce[:4], hello.next + 50, hello.journal)
    need(
        peer.ping(300.0) is None, f"it came up, though its next is {hello.next} and it was asked for {hello.next + 50}"
    )


@check(SESSION, "comes-up", "after HELLO and IDENT both ways the session is up: PING is answered")
def _(peer: Peer) -> None:
    need(peer.ping() is not None, "no PONG")


@check(SESSION, "hello-while-up", "a device that is up answers a HELLO that asks, and stays up")
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    place = len(peer.heard)
    peer.greet(hello.nonce[:4], peer.stored + 1, peer.journal)
    need(peer.hello(500.0, place), "no HELLO within 500 ms")
    need(peer.ping() is not None, "it is no longer up")


@check(SESSION, "new-nonce-restarts", "a HELLO with a new nonce ends the session; it greets again with a fresh nonce")
def _(peer: Peer) -> None:
    before = {h.message.nonce for h in peer.heard if isinstance(h.message, schema.Hello)}
    peer.alive = False
    peer.renew()
    hello = _answered(peer)
    need(hello.nonce not in before, "it used a nonce again")


@check(SESSION, "pong-brings-the-stamp", "PONG brings every byte value back as it came")
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


@check(SESSION, "speaks-when-idle", "a device with nothing to say sends PING when it was silent for 251 ms")
def _(peer: Peer) -> None:
    peer.alive = False
    heard = peer.wait(251.0 + SLACK_MS, lambda h: isinstance(h.message, schema.Ping))
    need(heard is not None, "no PING within 400 ms")


@check(SESSION, "link-lost", "740 ms without a frame of the host: it gives the session up and greets anew")
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


@check(SESSION, "link-kept", "a frame of the host every 600 ms keeps the session up")
def _(peer: Peer) -> None:
    peer.alive = False
    for _again in range(3):
        heard = peer.listen(600.0)
        lost = [h for h in heard if isinstance(h.message, schema.Hello)]
        need(not lost, "it greeted anew within 600 ms of a frame")
        peer.say(schema.Ack(0, 0))


# ---- desired state

DESIRED = "Desired state: the newest counts"


@check(DESIRED, "signal-confirmed", "SIGNAL is confirmed with its kind and generation")
def _(peer: Peer) -> None:
    _wish(peer, peer.signal(258, schema.SIGNAL_STOP))  # the golden body of vectors.json
    _wish(peer, peer.signal(259))


@check(DESIRED, "due-confirmed", "DUE is confirmed with its kind and generation")
def _(peer: Peer) -> None:
    due = schema.Due(259, 7, schema.DUE_SEAT, 11, 2)
    peer.say(due)
    need(peer.confirmed(schema.DUE, 259), "no ACK of DUE 259 within 500 ms")


@check(DESIRED, "repeat-confirmed", "a repeat is confirmed again: the ACK may have been lost")
def _(peer: Peer) -> None:
    wish = peer.signal()
    for again in range(3):
        _wish(peer, wish, "" if not again else f" (sent for the {again + 1}. time)")


@check(DESIRED, "older-refused", "an older generation is not taken; the newest is confirmed")
def _(peer: Peer) -> None:
    _wish(peer, peer.signal(500))
    place = len(peer.heard)
    peer.say(peer.signal(499, schema.SIGNAL_STOP))
    need(peer.confirmed(schema.SIGNAL, 500, 500.0, place), "it did not confirm the newest, 500, again")
    peer.listen(60.0)
    need(schema.Ack(schema.SIGNAL, 499) not in [h.message for h in peer.heard[place:]], "it confirmed 499 after 500")


@check(DESIRED, "generation-wraps", "generation 1 comes after 65535")
def _(peer: Peer) -> None:
    _wish(peer, peer.signal(0xFFFF))
    _wish(peer, peer.signal(1))


@check(DESIRED, "longer-body", "a body that has grown at its end is accepted")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.send(schema.SIGNAL, schema.pack(wish) + b"newer\0")
    need(peer.confirmed(schema.SIGNAL, wish.generation), "no ACK within 500 ms")


@check(DESIRED, "short-body", "a body shorter than its kind has is not filled up and not confirmed")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.send(schema.SIGNAL, schema.pack(wish)[:-1])
    need(not peer.confirmed(schema.SIGNAL, wish.generation, 400.0), "it confirmed a SIGNAL of 4 bytes")


@check(DESIRED, "unknown-state", "an unknown state that is not critical is confirmed and skipped")
def _(peer: Peer) -> None:
    peer.send(WISHED, b"\x21\x43 and more")
    need(peer.confirmed(WISHED | 0x80, 0x4321), f"no ACK of kind {WISHED | 0x80:02x} within 500 ms")


@check(DESIRED, "unknown-message", "an unknown message that is not critical is skipped")
def _(peer: Peer) -> None:
    place = len(peer.heard)
    peer.send(SKIPPED, b"whatever")
    need(peer.ping() is not None, "it is no longer up")
    stopped = [h for h in peer.heard[place:] if isinstance(h.message, schema.Fault)]
    need(not stopped, "it reported a FAULT")


@check(DESIRED, "unknown-critical", "an unknown critical kind stops it by name: FAULT UNKNOWN_KIND with the kind")
def _(peer: Peer) -> None:
    _provoke(peer)


# ---- frames

FRAME = "The frame"


@check(FRAME, "flags-may-be-ignored", "flags of the low nibble are ignored")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.say(wish, 0x0F)
    need(peer.confirmed(schema.SIGNAL, wish.generation), "it did not take a SIGNAL with flags 0F")


@check(FRAME, "flags-must-be-known", "a frame with an unknown flag of the high nibble is not taken")
def _(peer: Peer) -> None:
    for flags, tag in ((0x10, b""), (0x20, b""), (schema.FLAG_AUTH, bytes(schema.TAG))):
        wish = peer.signal()
        peer.send(schema.SIGNAL, schema.pack(wish) + tag, flags)
        need(not peer.confirmed(schema.SIGNAL, wish.generation, 200.0), f"it took a SIGNAL with flags {flags:02x}")


@check(FRAME, "damaged-dropped", "a damaged frame is not taken, the one behind it is")
def _(peer: Peer) -> None:
    wish, due = peer.signal(), schema.Due(78, 0, schema.DUE_NOTHING, 0, 0)
    place = len(peer.heard)
    peer.raw(_unsealed(wish, peer.stored & 0xFFFF))
    peer.damaged_sent += 1
    peer.say(due)
    need(peer.confirmed(schema.DUE, due.generation, 500.0, place), "it lost the intact frame behind it")
    taken = peer.confirmed(schema.SIGNAL, wish.generation, 100.0, place)
    need(not taken, "it took a frame whose CRC does not fit")


@check(FRAME, "half-frame", "half a frame costs nothing but itself")
def _(peer: Peer) -> None:
    for cut in (1, 7, 15):
        wish = peer.signal()
        peer.raw(frame.encode(schema.SIGNAL, 0, 1, 0, schema.pack(peer.signal()))[:cut])
        peer.damaged_sent += cut > 1
        _wish(peer, wish, f" behind {cut} bytes of another frame")


@check(FRAME, "delimiters", "runs of delimiters mean nothing, two frames may share one")
def _(peer: Peer) -> None:
    first, second = peer.signal(), schema.Due(77, 0, schema.DUE_NOTHING, 0, 0)
    ack = peer.stored & 0xFFFF
    wires = [
        frame.encode(kind, 0, 1, ack, schema.pack(m)) for kind, m in ((schema.SIGNAL, first), (schema.DUE, second))
    ]
    place = len(peer.heard)
    peer.raw(bytes(100) + wires[0] + wires[1][1:] + bytes(64))
    need(peer.confirmed(schema.SIGNAL, first.generation, 500.0, place), "it did not take the first frame")
    need(peer.confirmed(schema.DUE, 77, 500.0, place), "it did not take the second frame")


@check(FRAME, "writes-of-64", "writes of exactly 64 bytes do not stall it")
def _(peer: Peer) -> None:
    for _again in range(4):
        wish = peer.signal()
        wire = frame.encode(schema.SIGNAL, 0, 1, peer.stored & 0xFFFF, schema.pack(wish))
        place = len(peer.heard)
        peer.raw(wire + bytes(64 - len(wire)))
        need(peer.confirmed(schema.SIGNAL, wish.generation, 500.0, place), "no ACK within 500 ms")


@check(FRAME, "one-nak", "a burst of noise brings one NAK")
def _(peer: Peer) -> None:
    place = len(peer.heard)
    noise = b"\0" + b"\0".join(os.urandom(40).replace(b"\0", b"\1") for _ in range(25)) + b"\0"
    peer.raw(noise)
    peer.damaged_sent += 25
    peer.listen(400.0)
    naks = [h for h in peer.heard[place:] if isinstance(h.message, schema.Nak)]
    need(naks, "no NAK within 400 ms")
    need(len(naks) == 1, f"{len(naks)} NAKs for one burst of {len(noise)} bytes")


# ---- events

EVENTS = "Events: numbered, stored, released"
DICTIONARY = "The dictionary: a shoe that is newer than its host"


@check(EVENTS, "numbered", "events go on from the number that HELLO announced, one by one")
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    place = peer.here
    _provoke(peer)
    numbers = [h.seq for h in peer.heard[place:] if h.kind & schema.RELIABLE]
    expected = frame.extend(hello.oldest, hello.next)
    expected = max(expected, peer.stored + 1)
    need(numbers[0] == expected & 0xFFFF, f"the first event is {numbers[0]}, {expected & 0xFFFF} was due")
    for before, number in itertools.pairwise(numbers):
        need(number <= before + 1, f"event {number} came after {before}")


@check(
    EVENTS, "repeats", "an event that is not acknowledged comes again, 50 ms later at the soonest, 250 at the latest"
)
def _(peer: Peer) -> None:
    event = _provoke(peer)
    peer.listen(1_300.0)
    times = [h.at for h in peer.heard[peer.here :] if h.seq == event.seq and h.kind == event.kind]
    need(len(times) >= 4, f"it came {len(times)} times in 1.3 s")
    gaps = [b - a for a, b in itertools.pairwise(times)]
    need(min(gaps) >= 45.0, f"it came again after {min(gaps):.0f} ms")
    need(sorted(gaps)[len(gaps) // 2] <= 250.0 + SLACK_MS, f"{max(gaps):.0f} ms until it came again")
    bodies = {h.body for h in peer.heard[peer.here :] if h.seq == event.seq and h.kind == event.kind}
    need(len(bodies) == 1, "it came again with another body")


@check(EVENTS, "released", "an event that is acknowledged comes no more")
def _(peer: Peer) -> None:
    _provoke(peer)
    peer.listen(100.0)
    peer.stored = peer.highest
    peer.say(schema.Ack(0, 0))
    peer.listen(100.0)
    peer.stored = peer.highest
    place = len(peer.heard)
    peer.listen(700.0)
    again = [h for h in peer.heard[place:] if h.kind & schema.RELIABLE and h.seq <= peer.stored & 0xFFFF]
    need(not again, f"event {again[0].seq if again else 0} came again after its acknowledgement")


@check(EVENTS, "acknowledged-for-nothing", "an acknowledgement of a number that it never sent releases nothing")
def _(peer: Peer) -> None:
    event = _provoke(peer)
    peer.send(schema.ACK, schema.pack(schema.Ack(0, 0)), ack=(peer.highest + 1_000) & 0xFFFF)
    place = len(peer.heard)
    again = peer.wait(800.0, lambda h: h.kind == event.kind and h.seq == event.seq, place)
    need(again, f"event {event.seq} did not come again")


@check(EVENTS, "nak", "NAK brings the events from the number that it names at once")
def _(peer: Peer) -> None:
    event = _provoke(peer)
    peer.wait(600.0, lambda h: h.seq == event.seq and h.kind == event.kind)  # just repeated: the time-out is far
    place = len(peer.heard)
    peer.say(schema.Nak(event.seq, schema.NAK_GAP))
    sent = peer.last_sent
    again = peer.wait(600.0, lambda h: h.seq == event.seq and h.kind == event.kind, place)
    need(again, "it did not send it again")
    assert again is not None
    need(again.at - sent <= 100.0, f"it took {again.at - sent:.0f} ms: that is its time-out, not the NAK")


@check(EVENTS, "resumes", "after a reconnect an event that is not stored comes again, the same; a stored one does not")
def _(peer: Peer) -> None:
    event = _provoke(peer)
    need(peer.connect(store=False), "no new session")
    again = peer.wait(800.0, lambda h: h.seq == event.seq, peer.here)
    need(again, f"event {event.seq} did not come again in the next session")
    assert again is not None
    need((again.kind, again.body) == (event.kind, event.body), f"event {event.seq} came back as another one")
    peer.listen(150.0)
    need(peer.connect(), "no new session")
    stored = peer.stored
    peer.listen(500.0)
    old = [h for h in peer.heard[peer.here :] if h.kind & schema.RELIABLE and h.seq <= stored & 0xFFFF]
    need(not old, f"event {old[0].seq if old else 0} came again, though the host said in HELLO that it is stored")


@check(EVENTS, "window", "at most 8 events and 192 bytes are under way unacknowledged; then all come, in order")
def _(peer: Peer) -> None:
    first = peer.highest
    for _again in range(10):
        _provoke(peer)
        need(peer.connect(store=False), "no new session")
    peer.listen(150.0)
    burst = {h.seq: len(h.body) for h in peer.heard[peer.here :] if h.kind & schema.RELIABLE}
    need(len(burst) <= 8, f"{len(burst)} events under way")
    size = sum(length + schema.FRAME - schema.BODY - schema.TAG for length in burst.values())
    need(size <= 192, f"{size} bytes under way")
    for _again in range(40):
        if peer.highest - first >= 10 and not peer.listen(60.0):
            break
        peer.stored = peer.highest
        peer.say(schema.Ack(0, 0))
        peer.listen(40.0)
    need(peer.highest - first >= 10, f"{peer.highest - first} of at least 10 events came")


@check(
    "The dictionary: a shoe that is newer than its host",
    "dictionary",
    "LOOKUP brings the schema, and its hash is right",
)
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    text = b""
    for _again in range(200):
        peer.say(schema.Lookup(len(text)))
        at = len(text)
        heard = peer.wait(300.0, lambda h, at=at: isinstance(h.message, schema.Words) and h.message.offset == at)  # type: ignore[misc]
        if heard is None:
            raise Fails(f"no WORDS from {at} within 300 ms")
        left = heard.message.total - at
        text += heard.message.text[: min(left, schema.WORDS_TEXT)]
        if left <= schema.WORDS_TEXT:
            break
    need(hashlib.sha256(text).digest()[:4] == hello.schema, "its text does not have the hash of its HELLO")


# ---- all that was heard


@check(FRAME, "damaged-counted", "STATS counts damaged frames")
def _(peer: Peer) -> None:
    def enough(heard: Heard) -> bool:
        return isinstance(heard.message, schema.Stats) and heard.message.damaged > 0

    if not peer.damaged_sent:
        raise Untested("no damaged frame was sent in this run")
    if peer.wait(0.0, enough, 0) or peer.wait(6_000.0, enough):
        return
    if not any(isinstance(h.message, schema.Stats) for h in peer.heard):
        raise Untested("no STATS within 6 s")
    raise Fails(f"{peer.damaged_sent} were sent, it counts none")


@check(
    FRAME,
    "frames-fit",
    "all that it sent were whole frames of at most 61 bytes, of a shoe's kinds, none short",
    up=False,
)
def _(peer: Peer) -> None:
    count = {name: n for name, n in peer.decoder.count.items() if n and name != "frames"}
    need(not count, f"of what it sent was damaged: {', '.join(f'{name} {n}' for name, n in count.items())}")
    need(peer.longest <= frame.BLOCK, f"{peer.longest} bytes between two delimiters")
    for heard in peer.heard:
        plain = schema.known(heard.kind, False)
        need(not heard.kind & schema.FROM_HOST, f"a frame of kind {heard.kind:02x}, which is the host's")
        need(heard.message is not None or not plain, f"a {schema.NAMES.get(plain, '?')} of {len(heard.body)} bytes")


# ---- helpers


def _name(heard: Heard | None) -> str:
    if heard is None:
        return "nothing"
    plain = schema.known(heard.kind, False)
    return schema.NAMES[plain] if plain else f"kind {heard.kind:02x}"


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


def _wish(peer: Peer, wish: schema.Signal, more: str = "") -> None:
    place = len(peer.heard)
    peer.say(wish)
    need(
        peer.confirmed(schema.SIGNAL, wish.generation, 500.0, place),
        f"no ACK of SIGNAL {wish.generation}{more} within 500 ms",
    )


def _unsealed(wish: schema.Signal, ack: int) -> bytes:
    """A frame that is right but for one bit of its CRC, and that is not a stuffing code."""
    for seq in range(1, 256):
        wire = bytearray(frame.encode(schema.SIGNAL, 0, seq, ack, schema.pack(wish)))
        wire[-3] ^= 0x40
        decoder = frame.Decoder()
        decoder.feed(wire)
        if decoder.count["crc"]:
            return bytes(wire)
    raise AssertionError("one CRC in 256 has no zero in its third byte")


def _provoke(peer: Peer) -> Heard:
    """Get the device to report an event: it must say so when a critical kind is not known. Its first FAULT of that."""
    place = len(peer.heard)
    peer.send(STOPPING, b"\1\2\3")
    kind = STOPPING | schema.FROM_HOST
    wanted = schema.FAULT_UNKNOWN_KIND

    def named(heard: Heard) -> bool:
        return isinstance(heard.message, schema.Fault) and (heard.message.code, heard.message.detail) == (wanted, kind)

    found = peer.wait(1_000.0, named, place)
    if found is None:
        raise Fails(f"no FAULT UNKNOWN_KIND for kind {kind:02x} within 1 s")
    return found


def chosen(names: tuple[str, ...]) -> Iterator[Check]:
    """The checks with these names, in their order; all where there are none."""
    for one in CHECKS:
        if not names or one.name in names:
            yield one
