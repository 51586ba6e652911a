"""The checks of events: numbered, repeated until they are stored, released when they are, resumed after a break."""

from __future__ import annotations

import itertools
import os

from shoelink import frame, schema

from dealershoe.conform.check import SLACK_MS, Checks, Untested, need, provoke
from dealershoe.conform.peer import Peer

CHECKS = Checks("Events: numbered, stored, released")
QUIET_MS = 25.0  # 30 ms without a byte allow a second NAK; some of them may pass before the first is heard


@CHECKS.add("one-nak", "a burst of noise brings one NAK")
def _(peer: Peer) -> None:
    for _again in range(3):
        place = len(peer.heard)
        noise = b"\0" + b"\0".join(os.urandom(40).replace(b"\0", b"\1") for _ in range(25)) + b"\0"
        peer.raw(noise)
        peer.damaged_sent += 25
        peer.listen(400.0)
        naks = [h.at for h in peer.heard[place:] if isinstance(h.message, schema.Nak)]
        need(naks, "no NAK within 400 ms")
        if len(naks) == 1:
            return
    apart = min(b - a for a, b in itertools.pairwise(naks))
    need(apart > QUIET_MS, f"{len(naks)} NAKs for one burst of {len(noise)} bytes")
    raise Untested(f"{len(naks)} NAKs, {apart:.0f} ms apart: it may have paused between two reads, and seen silence")


@CHECKS.add("nak-again", "noise brings a NAK again after 30 ms without a byte")
def _(peer: Peer) -> None:
    peer.alive = False
    for again in ("", " again, after 80 ms without a byte"):
        place = len(peer.heard)
        peer.raw(b"\0noise that is no frame\0")
        peer.damaged_sent += 1
        nak = peer.wait(400.0, lambda h: isinstance(h.message, schema.Nak), place)
        need(nak, f"no NAK{again}")
        peer.listen(80.0)


@CHECKS.add("numbered", "events go on from the number that HELLO announced, one by one")
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    place = peer.here
    provoke(peer)
    numbers = [h.seq for h in peer.heard[place:] if h.kind & schema.RELIABLE]
    expected = frame.extend(hello.oldest, hello.next)
    expected = max(expected, peer.stored + 1)
    need(numbers[0] == expected & 0xFFFF, f"the first event is {numbers[0]}, {expected & 0xFFFF} was due")
    for before, number in itertools.pairwise(numbers):
        need(number <= before + 1, f"event {number} came after {before}")


@CHECKS.add("repeats", "an event that is not acknowledged comes again, 50 ms later at the soonest, 250 at the latest")
def _(peer: Peer) -> None:
    event = provoke(peer)
    peer.listen(1_300.0)
    times = [h.at for h in peer.heard[peer.here :] if h.seq == event.seq and h.kind == event.kind]
    need(len(times) >= 4, f"it came {len(times)} times in 1.3 s")
    gaps = [b - a for a, b in itertools.pairwise(times)]
    need(min(gaps) >= 45.0, f"it came again after {min(gaps):.0f} ms")
    need(sorted(gaps)[len(gaps) // 2] <= 250.0 + SLACK_MS, f"{max(gaps):.0f} ms until it came again")
    bodies = {h.body for h in peer.heard[peer.here :] if h.seq == event.seq and h.kind == event.kind}
    need(len(bodies) == 1, "it came again with another body")


@CHECKS.add("released", "an event that is acknowledged comes no more")
def _(peer: Peer) -> None:
    provoke(peer)
    peer.listen(100.0)
    peer.stored = peer.highest
    peer.say(schema.Ack(0, 0))
    peer.listen(100.0)
    peer.stored = peer.highest
    place = len(peer.heard)
    peer.listen(700.0)
    again = [h for h in peer.heard[place:] if h.kind & schema.RELIABLE and h.seq <= peer.stored & 0xFFFF]
    need(not again, f"event {again[0].seq if again else 0} came again after its acknowledgement")


@CHECKS.add("acknowledged-for-nothing", "an acknowledgement of a number that it never sent releases nothing")
def _(peer: Peer) -> None:
    event = provoke(peer)
    for beyond in (1, 1_000):
        number = peer.highest + beyond
        peer.send(schema.ACK, schema.pack(schema.Ack(0, 0)), ack=number & 0xFFFF)
        need(peer.ping() is not None, f"it is no longer up after an acknowledgement of {number}")
        place = len(peer.heard)  # the acknowledgement was heard before the PING
        again = peer.wait(800.0, lambda h: h.kind == event.kind and h.seq == event.seq, place)
        need(
            again, f"{peer.highest} is its newest, {number} was acknowledged, and event {event.seq} did not come again"
        )


@CHECKS.add("nak", "NAK brings the events from the number that it names at once")
def _(peer: Peer) -> None:
    event = provoke(peer)
    peer.wait(600.0, lambda h: h.seq == event.seq and h.kind == event.kind)  # just repeated: the time-out is far
    place = len(peer.heard)
    peer.say(schema.Nak(event.seq, schema.NAK_GAP))
    sent = peer.last_sent
    again = peer.wait(600.0, lambda h: h.seq == event.seq and h.kind == event.kind, place)
    need(again, "it did not send it again")
    assert again is not None
    need(again.at - sent <= 100.0, f"it took {again.at - sent:.0f} ms: that is its time-out, not the NAK")


@CHECKS.add("resumes", "after a reconnect an event that is not stored comes again, the same; a stored one does not")
def _(peer: Peer) -> None:
    event = provoke(peer)
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


@CHECKS.add("room", "no more bytes are under way unacknowledged than the host's HELLO says that it can take")
def _(peer: Peer) -> None:
    first, room = peer.highest, 64
    for _again in range(5):
        provoke(peer)
        need(peer.connect(store=False, receive=room), "no new session")
    peer.listen(600.0)  # past a time-out, and the repeats that it brings
    burst = _under_way(peer)
    need(burst, "nothing came")
    size = sum(burst.values())
    need(size <= room, f"{len(burst)} events of {size} bytes under way, the host has room for {room}")
    came = _take_all(peer, first, 5)
    need(came >= 5, f"{came} of at least 5 events came")


@CHECKS.add("window", "at most 8 events and 192 bytes are under way unacknowledged; then all come, in order")
def _(peer: Peer) -> None:
    first = peer.highest
    for _again in range(10):
        provoke(peer)
        need(peer.connect(store=False), "no new session")
    peer.listen(150.0)
    burst = _under_way(peer)
    need(len(burst) <= 8, f"{len(burst)} events under way")
    size = sum(burst.values())
    need(size <= 192, f"{size} bytes under way")
    came = _take_all(peer, first, 10)
    need(came >= 10, f"{came} of at least 10 events came")


def _under_way(peer: Peer) -> dict[int, int]:
    """The events that were heard in this session, in which none was acknowledged: bytes on the wire by number."""
    besides = schema.FRAME - schema.BODY - schema.TAG
    return {h.seq: len(h.body) + besides for h in peer.heard[peer.here :] if h.kind & schema.RELIABLE}


def _take_all(peer: Peer, first: int, least: int) -> int:
    """Acknowledge what comes, until nothing does; how many events came after event `first`."""
    for _again in range(40):
        if peer.highest - first >= least and not peer.listen(60.0):
            break
        peer.stored = peer.highest
        peer.say(schema.Ack(0, 0))
        peer.listen(40.0)
    return peer.highest - first
