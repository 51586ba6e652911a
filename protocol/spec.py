"""The link as `construct` declarations: the specification to read beside README.md, and the oracle of the tests.

Written from the prose, without a look at `shoelink`: what both say alike is what the link is. Top to bottom: a byte
stream is cut at zeros into blocks, a block is unstuffed into a packet, a packet is a header, a body and a CRC.
"""

from __future__ import annotations

import hmac
import zlib
from typing import Any, NamedTuple

from construct import (
    BitsInteger,
    BitStruct,
    Byte,
    Bytes,
    Checksum,
    ConstructError,
    Container,
    ExprAdapter,
    Flag,
    GreedyBytes,
    GreedyRange,
    Int16ul,
    Int32ul,
    Int64ul,
    Prefixed,
    RawCopy,
    Sequence,
    Struct,
    Terminated,
    obj_,
    this,
)

# ---- stream and block

DELIMITER = b"\0"
LONGEST_BLOCK = 59  # 61 bytes on the wire with both delimiters
SHORTEST_PACKET = 10  # header and CRC
LONGEST_PACKET = 50  # header, 40 bytes of body, CRC
TAG = 8  # more of each with AUTH

# COBS for packets below 254 bytes: what stands between two zeros is preceded by its length plus one.
Stretch = Prefixed(ExprAdapter(Byte, obj_ - 1, obj_ + 1), GreedyBytes)
Stuffed = Sequence(GreedyRange(Stretch), Terminated)


def stuff(packet: bytes) -> bytes:
    """The block of a packet."""
    block: bytes = Stuffed.build([packet.split(DELIMITER), None])
    return block


def unstuff(block: bytes) -> bytes:
    """The packet in a block. Raises ConstructError."""
    stretches, _ = Stuffed.parse(block)
    return DELIMITER.join(stretches)


# ---- packet

Kind = BitStruct("from_host" / Flag, "critical" / Flag, "reliable" / Flag, "number" / BitsInteger(5))
Flags = BitStruct("auth" / Flag, "ask" / Flag, "must_understand" / BitsInteger(2), "may_ignore" / BitsInteger(4))
Header = Struct("kind" / Kind, "flags" / Flags, "seq" / Int16ul, "ack" / Int16ul)

Sealed = Struct(
    "covered" / RawCopy(Struct("header" / Header, "body" / Bytes(this._params.size - SHORTEST_PACKET))),
    "crc" / Checksum(Int32ul, zlib.crc32, this.covered.data),  # IEEE 802.3
    Terminated,
)

# ---- bodies. "4s": a 32-bit value that stays bytes, least significant first

Word = Bytes(4)

HELLO = Struct(
    "major" / Byte,
    "minor" / Byte,
    "schema" / Word,
    "journal" / Word,
    "boot" / Word,
    "reset" / Byte,
    "oldest" / Int16ul,  # low 16 bits of the oldest number held
    "next" / Int64ul,
    "receive" / Int16ul,
    "nonce" / Bytes(8),
    "answers" / Word,  # first 4 bytes of the nonce of the HELLO that this one answers
)
IDENT = Struct("device" / Bytes(8), "build" / Bytes(12), "digest" / Bytes(16))
PING = Struct("t_us" / Word)
PONG = Struct("ping" / Word, "received" / Word, "sent" / Word)
ACK = Struct("kind" / Byte, "generation" / Int16ul)
NAK = Struct("expected" / Int16ul, "reject" / Byte)
STATS = Struct(
    "t_us" / Word,
    "frames" / Int16ul,
    "damaged" / Int16ul,
    "sent" / Int16ul,
    "resent" / Int16ul,
    "naks" / Int16ul,
    "lost" / Int16ul,
    "held" / Int16ul,
    "peak" / Int16ul,
    "refused" / Int16ul,
    "overruns" / Int16ul,
    "free" / Int16ul,
)
ENROLL = Struct("secret" / Bytes(32))
ENROLLED = Struct("result" / Byte)
LOOKUP = Struct("offset" / Int16ul)
WORDS = Struct("offset" / Int16ul, "total" / Int16ul, "text" / Bytes(32))
SELF_TEST = Struct("t_us" / Word, "why" / Byte, "tested" / Int16ul, "failed" / Int16ul, "took" / Int16ul)
TEST = Struct("what" / Byte)
CARD = Struct(
    "hand" / Int16ul,
    "draw" / Int16ul,
    "t_us" / Word,
    "token" / Word,
    "deck" / Byte,
    "way_up" / Byte,
    "target" / Byte,
    "origin" / Byte,
    "certainty" / Byte,
    "flags" / Byte,
    "speed" / Int16ul,
    "erasures" / Byte,
)
CARD_BACK = Struct("hand" / Int16ul, "draw" / Int16ul, "t_us" / Word, "distance" / Int16ul)
SEAT = Struct("hand" / Int16ul, "draw" / Int16ul, "t_us" / Word, "place" / Byte, "way_up" / Byte, "certainty" / Byte)
KEY = Struct("hand" / Int16ul, "t_us" / Word, "key" / Byte, "press" / Byte)
DECK = Struct("hand" / Int16ul, "t_us" / Word, "event" / Byte, "deck" / Byte, "count" / Byte)
FAULT = Struct("t_us" / Word, "code" / Byte, "detail" / Int16ul)
CLEAR = Struct("t_us" / Word, "code" / Byte, "detail" / Int16ul)
COMMIT = Struct("hand" / Int16ul, "commitment" / Bytes(22))
REVEAL = Struct("hand" / Int16ul, "secret" / Bytes(16))
SIGNAL = Struct("generation" / Int16ul, "signal" / Byte, "reason" / Byte, "mode" / Byte)
DUE = Struct("generation" / Int16ul, "hand" / Int16ul, "due" / Byte, "seat" / Byte, "cards" / Byte)


class Declared(NamedTuple):
    """A kind: who sends it, its bits and number, its body."""

    sender: str  # "shoe", "host" or "both"
    critical: bool
    reliable: bool
    number: int
    body: Any

    def on_wire(self, from_host: bool) -> int:
        """The byte of the header."""
        bits = {"from_host": from_host, "critical": self.critical, "reliable": self.reliable, "number": self.number}
        return int(Kind.build(bits)[0])


KINDS = {
    "HELLO": Declared("both", True, False, 1, HELLO),
    "IDENT": Declared("both", False, False, 2, IDENT),
    "PING": Declared("both", False, False, 3, PING),
    "PONG": Declared("both", False, False, 4, PONG),
    "ACK": Declared("both", False, False, 5, ACK),
    "NAK": Declared("both", False, False, 6, NAK),
    "STATS": Declared("shoe", False, False, 7, STATS),
    "ENROLL": Declared("host", False, False, 10, ENROLL),
    "ENROLLED": Declared("shoe", False, False, 11, ENROLLED),
    "LOOKUP": Declared("host", False, False, 12, LOOKUP),
    "WORDS": Declared("shoe", False, False, 13, WORDS),
    "SELF_TEST": Declared("shoe", False, False, 14, SELF_TEST),
    "TEST": Declared("host", False, False, 15, TEST),
    "CARD": Declared("shoe", True, True, 1, CARD),
    "CARD_BACK": Declared("shoe", True, True, 2, CARD_BACK),
    "SEAT": Declared("shoe", False, True, 3, SEAT),
    "KEY": Declared("shoe", True, True, 4, KEY),
    "DECK": Declared("shoe", True, True, 5, DECK),
    "FAULT": Declared("shoe", True, True, 6, FAULT),
    "CLEAR": Declared("shoe", False, True, 7, CLEAR),
    "COMMIT": Declared("shoe", False, True, 10, COMMIT),
    "REVEAL": Declared("shoe", False, True, 11, REVEAL),
    "SIGNAL": Declared("host", True, True, 8, SIGNAL),
    "DUE": Declared("host", False, True, 9, DUE),
}


# ---- sealing

Covered = Struct("sender" / Byte, "count" / Int64ul, "header" / Header, "body" / GreedyBytes)
NOBODY = bytes(8)  # in place of the nonce of a host that has not been heard


def session_key(device_key: bytes, device: bytes, of_host: bytes, of_shoe: bytes) -> bytes:
    """The key of a session: HMAC-SHA-256 under the device's key over label, device id and both nonces."""
    return hmac.digest(device_key, b"shoe/1" + device + of_host + of_shoe, "sha256")


def tag(key: bytes, count: int, kind: int, flags: int, seq: int, ack: int, body: bytes) -> bytes:
    """The tag of a frame: the first 8 bytes of HMAC-SHA-256 over direction, extended count, header and body."""
    header = {"kind": Kind.parse(bytes([kind])), "flags": Flags.parse(bytes([flags])), "seq": seq, "ack": ack}
    sender = 2 if header["kind"].from_host else 1
    return hmac.digest(
        key, Covered.build({"sender": sender, "count": count, "header": header, "body": body}), "sha256"
    )[:TAG]


# ---- reading and writing


def write(kind: int, flags: int, seq: int, ack: int, body: bytes) -> bytes:
    """One frame on the wire."""
    header = {"kind": Kind.parse(bytes([kind])), "flags": Flags.parse(bytes([flags])), "seq": seq, "ack": ack}
    packet = Sealed.build({"covered": {"value": {"header": header, "body": body}}}, size=len(body) + SHORTEST_PACKET)
    return DELIMITER + stuff(packet) + DELIMITER


def judge(block: bytes, keyed: bool = False) -> tuple[str, Container[Any] | None]:
    """What a receiver (with a key or without) does with a block: its counter, and the packet if that is "frames"."""
    if len(block) > LONGEST_BLOCK:
        return "long", None
    try:
        packet = unstuff(block)
    except ConstructError:
        return "zero", None
    if len(packet) < SHORTEST_PACKET:
        return "short", None
    try:
        sealed = Sealed.parse(packet, size=len(packet))
    except ConstructError:
        return "crc", None
    flags = sealed.covered.value.header.flags
    if (flags.auth and not keyed) or flags.must_understand:  # no such flag in link 1.0
        return "flags", None
    if len(packet) < SHORTEST_PACKET + TAG * flags.auth:
        return "short", None
    if len(packet) > LONGEST_PACKET + TAG * flags.auth:
        return "long", None
    return "frames", sealed.covered.value


def read(stream: bytes, keyed: bool = False) -> tuple[list[tuple[int, int, int, int, bytes]], dict[str, int]]:
    """The frames of a whole stream as (kind, flags, seq, ack, body and tag), and how often each counter was raised."""
    frames = []
    counts = dict.fromkeys(("frames", "zero", "short", "long", "crc", "flags"), 0)
    *blocks, rest = stream.split(DELIMITER)
    for block in filter(None, blocks):
        counter, packet = judge(block, keyed)
        counts[counter] += 1
        if packet is not None:
            header = packet.header
            kind, flags = Kind.build(header.kind)[0], Flags.build(header.flags)[0]
            frames.append((kind, flags, header.seq, header.ack, packet.body))
    counts["long"] += len(rest) > LONGEST_BLOCK
    return frames, counts
