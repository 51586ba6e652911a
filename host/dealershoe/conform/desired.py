"""The checks of desired state: what the host wishes is taken once, in the newest version, and confirmed."""

from __future__ import annotations

from shoelink import schema

from dealershoe.conform.check import SKIPPED, WISHED, Checks, need, obeys, provoke
from dealershoe.conform.peer import Peer

CHECKS = Checks("Desired state: the newest counts")


@CHECKS.add("signal-confirmed", "SIGNAL is confirmed with its kind and generation")
def _(peer: Peer) -> None:
    obeys(peer, peer.signal(258, schema.SIGNAL_STOP))  # the golden body of vectors.json
    obeys(peer, peer.signal(259))


@CHECKS.add("due-confirmed", "DUE is confirmed with its kind and generation")
def _(peer: Peer) -> None:
    due = schema.Due(259, 7, schema.DUE_SEAT, 11, 2)
    peer.say(due)
    need(peer.confirmed(schema.DUE, 259), "no ACK of DUE 259 within 500 ms")


@CHECKS.add("repeat-confirmed", "a repeat is confirmed again: the ACK may have been lost")
def _(peer: Peer) -> None:
    wish = peer.signal()
    for again in range(3):
        obeys(peer, wish, "" if not again else f" (sent for the {again + 1}. time)")


@CHECKS.add("older-refused", "an older generation is not taken; the newest is confirmed")
def _(peer: Peer) -> None:
    obeys(peer, peer.signal(500))
    place = len(peer.heard)
    peer.say(peer.signal(499, schema.SIGNAL_STOP))
    need(peer.confirmed(schema.SIGNAL, 500, 500.0, place), "it did not confirm the newest, 500, again")
    peer.listen(60.0)
    need(schema.Ack(schema.SIGNAL, 499) not in [h.message for h in peer.heard[place:]], "it confirmed 499 after 500")


@CHECKS.add("generation-wraps", "generation 1 comes after 65535")
def _(peer: Peer) -> None:
    obeys(peer, peer.signal(0xFFFF))
    obeys(peer, peer.signal(1))


@CHECKS.add("longer-body", "a body that has grown at its end is accepted")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.send(schema.SIGNAL, schema.pack(wish) + b"newer\0")
    need(peer.confirmed(schema.SIGNAL, wish.generation), "no ACK within 500 ms")


@CHECKS.add("short-body", "a body shorter than its kind has is not filled up and not confirmed")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.send(schema.SIGNAL, schema.pack(wish)[:-1])
    need(not peer.confirmed(schema.SIGNAL, wish.generation, 400.0), "it confirmed a SIGNAL of 4 bytes")


@CHECKS.add("unknown-state", "an unknown state that is not critical is confirmed and skipped")
def _(peer: Peer) -> None:
    peer.send(WISHED, b"\x21\x43 and more")
    need(peer.confirmed(WISHED | 0x80, 0x4321), f"no ACK of kind {WISHED | 0x80:02x} within 500 ms")


@CHECKS.add("unknown-message", "an unknown message that is not critical is skipped")
def _(peer: Peer) -> None:
    place = len(peer.heard)
    peer.send(SKIPPED, b"whatever")
    need(peer.ping() is not None, "it is no longer up")
    stopped = [h for h in peer.heard[place:] if isinstance(h.message, schema.Fault)]
    need(not stopped, "it reported a FAULT")


@CHECKS.add("unknown-critical", "an unknown critical kind stops it by name: FAULT UNKNOWN_KIND with the kind")
def _(peer: Peer) -> None:
    provoke(peer)
