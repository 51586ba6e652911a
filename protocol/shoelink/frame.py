"""Frames: bytes on the wire ↔ (kind, flags, seq, ack, body). The reference codec, and the shoe's own.

    00 · COBS( kind u8 | flags u8 | seq u16 | ack u16 | body ≤ 40 | [tag 8] | CRC-32 u32, little-endian ) · 00

Nothing here knows what a kind means, `link.py` does; nor what a tag proves, `seal.py` does. The host swaps in
`dealershoe.link.codec`, proven equal.
"""

import struct

from shoelink import schema

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has no typing
    from typing import Any

try:
    from shoelink._viper import copy, crc_into, head_into, stuff, unstuff
except (ImportError, SyntaxError):  # CPython; MicroPython without a native compiler
    from shoelink._plain import copy, crc_into, head_into, stuff, unstuff

BLOCK = schema.FRAME - 2  # most bytes between two delimiters
_SHORTEST = schema.HEADER + schema.CRC
_LONGEST = schema.HEADER + schema.BODY + schema.CRC
_FLAGS_UNKNOWN = schema.FLAGS_MUST & ~schema.FLAG_ASK
_FLAGS_UNKNOWN_KEYED = _FLAGS_UNKNOWN & ~schema.FLAG_AUTH
_NO_TAG = b""


def encode_into(
    out: bytearray,
    at: int,
    kind: int,
    flags: int,
    seq: int,
    ack: int,
    body: bytes | bytearray | memoryview,
    start: int,
    length: int,
    tag: bytes = _NO_TAG,
) -> int:
    """Write one frame into `out` from `at` (room for schema.FRAME bytes) and return where it ends.

    The body is `length` bytes (at most schema.BODY) of `body` from `start`; of `seq` and `ack` the low 16 bits count.
    `tag` is schema.TAG bytes, with FLAG_AUTH among the flags, or nothing.
    Allocates nothing on MicroPython.
    """
    head = at + 2
    out[at] = 0
    head_into(out, head, kind, flags, seq, ack)
    copy(out, head + schema.HEADER, body, start, length)
    length += schema.HEADER
    if tag:
        copy(out, head + length, tag, 0, schema.TAG)
        length += schema.TAG
    crc_into(out, head, length, out, head + length)
    length += schema.CRC
    stuff(out, at + 1, length)
    out[head + length] = 0
    return head + length + 1


def encode(kind: int, flags: int, seq: int, ack: int, body: bytes) -> bytes:
    """One frame as bytes, both delimiters included."""
    out = bytearray(schema.FRAME)
    return bytes(out[: encode_into(out, 0, kind, flags, seq, ack, body, 0, len(body))])


class Decoder:
    """Finds the frames in a stream that is cut anywhere; what is not a frame is counted by name and never delivered.

    count["frames"]  delivered
    count["zero"]    a zero inside: the chain of COBS codes points past the delimiter, or stops short of it
    count["short"]   fewer bytes than a header and a CRC, with AUTH than these and a tag
    count["long"]    more bytes than the longest frame
    count["crc"]     the CRC does not fit
    count["flags"]   intact, with a flag that must be understood and is not

    `keyed`: this end has a key and understands AUTH; the last 8 bytes of such a frame's body are its tag.
    `encode_into`: what the same end encodes with; the host's decoder brings a faster one.
    """

    encode_into = staticmethod(encode_into)

    def __init__(self) -> None:
        self.keyed = False
        self.count = {"frames": 0, "zero": 0, "short": 0, "long": 0, "crc": 0, "flags": 0}
        self.damaged = 0  # of these, what a line fault explains: zero, short, long, crc
        self._block = bytearray(BLOCK)
        self._length = 0  # bytes since the last delimiter; above BLOCK: skipping to the next one
        self._crc = bytearray(schema.CRC)

    def feed(self, data: bytes | bytearray | memoryview) -> list[tuple[int, int, int, int, bytes]]:
        """The frames that `data` completes, in order."""
        frames: list[tuple[int, int, int, int, bytes]] = []
        block = self._block
        length = self._length
        for byte in data:
            if byte:
                if length < BLOCK:
                    block[length] = byte
                elif length == BLOCK:
                    self._reject("long")
                length = min(length + 1, BLOCK + 1)
            elif length:
                if length <= BLOCK:
                    self._end(length, frames)
                length = 0
        self._length = length
        return frames

    def build(self, type: "Any", values: "Any") -> "Any":
        """A namedtuple of its values; the host's decoder has a faster one."""
        return type(*values)

    def reader(self, layout: str) -> "Any":
        """What reads a body of this `struct` layout, whatever follows it; the host's decoder has a faster one."""
        return lambda body: struct.unpack_from(layout, body)

    def pending(self) -> bool:
        """Whether bytes of a frame have come in that has not ended."""
        return self._length > 0

    def _end(self, length: int, frames: list[tuple[int, int, int, int, bytes]]) -> None:
        """Judge the `length` bytes that a delimiter has closed."""
        block = self._block
        if not unstuff(block, length):
            self._reject("zero")
            return
        end = length - schema.CRC
        if length - 1 < _SHORTEST:
            self._reject("short")
            return
        crc_into(block, 1, end - 1, self._crc, 0)
        if block[end:length] != self._crc:
            self._reject("crc")
            return
        flags = block[2]
        tag = schema.TAG if flags & schema.FLAG_AUTH else 0
        if flags & (_FLAGS_UNKNOWN_KEYED if self.keyed else _FLAGS_UNKNOWN):
            self.count["flags"] += 1
        elif length - 1 < _SHORTEST + tag:
            self._reject("short")
        elif length - 1 > _LONGEST + tag:
            self._reject("long")
        else:
            self.count["frames"] += 1
            frames.append((block[1], flags, block[3] | block[4] << 8, block[5] | block[6] << 8, bytes(block[7:end])))

    def _reject(self, name: str) -> None:
        self.count[name] += 1
        self.damaged += 1


def extend(low: int, near: int) -> int:
    """The number nearest to `near` whose low 16 bits are `low`: how `seq` and `ack` grow to 64 bits."""
    return near + ((low - near + 0x8000) & 0xFFFF) - 0x8000
