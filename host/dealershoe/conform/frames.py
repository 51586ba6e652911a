"""The checks of frames: what is damaged or not understood is not taken, and costs nothing but itself."""

from __future__ import annotations

from shoelink import frame, schema

from dealershoe.conform.check import Checks, need, obeys
from dealershoe.conform.peer import Peer

CHECKS = Checks("The frame")


@CHECKS.add("flags-may-be-ignored", "flags of the low nibble are ignored")
def _(peer: Peer) -> None:
    wish = peer.signal()
    peer.say(wish, 0x0F)
    need(peer.confirmed(schema.SIGNAL, wish.generation), "it did not take a SIGNAL with flags 0F")


@CHECKS.add("flags-must-be-known", "a frame with an unknown flag of the high nibble is not taken")
def _(peer: Peer) -> None:
    for flags, tag in ((0x10, b""), (0x20, b""), (schema.FLAG_AUTH, bytes(schema.TAG))):
        wish = peer.signal()
        peer.send(schema.SIGNAL, schema.pack(wish) + tag, flags)
        need(not peer.confirmed(schema.SIGNAL, wish.generation, 200.0), f"it took a SIGNAL with flags {flags:02x}")


@CHECKS.add("damaged-dropped", "a damaged frame is not taken, the one behind it is")
def _(peer: Peer) -> None:
    wish, due = peer.signal(), schema.Due(78, 0, schema.DUE_NOTHING, 0, 0)
    place = len(peer.heard)
    peer.raw(_unsealed(wish, peer.stored & 0xFFFF))
    peer.damaged_sent += 1
    peer.say(due)
    need(peer.confirmed(schema.DUE, due.generation, 500.0, place), "it lost the intact frame behind it")
    taken = peer.confirmed(schema.SIGNAL, wish.generation, 100.0, place)
    need(not taken, "it took a frame whose CRC does not fit")


@CHECKS.add("half-frame", "half a frame costs nothing but itself")
def _(peer: Peer) -> None:
    for cut in (1, 7, 15):
        wish = peer.signal()
        peer.raw(frame.encode(schema.SIGNAL, 0, 1, 0, schema.pack(peer.signal()))[:cut])
        peer.damaged_sent += cut > 1
        obeys(peer, wish, f" behind {cut} bytes of another frame")


@CHECKS.add("delimiters", "runs of delimiters mean nothing, two frames may share one")
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


@CHECKS.add("writes-of-64", "writes of exactly 64 bytes do not stall it")
def _(peer: Peer) -> None:
    for _again in range(4):
        wish = peer.signal()
        wire = frame.encode(schema.SIGNAL, 0, 1, peer.stored & 0xFFFF, schema.pack(wish))
        place = len(peer.heard)
        peer.raw(wire + bytes(64 - len(wire)))
        need(peer.confirmed(schema.SIGNAL, wish.generation, 500.0, place), "no ACK within 500 ms")


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
