"""The host's codec of frames: `shoelink.frame`'s with COBS and CRC in C, proven equal to that by a test."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from cobs import cobs
from shoelink import frame, schema

_SHORTEST = schema.HEADER + schema.CRC
_LONGEST = schema.HEADER + schema.BODY + schema.CRC
_FLAGS_KNOWN_KEYED = frozenset(
    flags for flags in range(256) if not flags & schema.FLAGS_MUST & ~schema.FLAG_ASK & ~schema.FLAG_AUTH
)
_FLAGS_KNOWN = frozenset(flags for flags in _FLAGS_KNOWN_KEYED if not flags & schema.FLAG_AUTH)
_SEALED = 0x2144DF1C  # CRC-32 of any bytes that end in their own CRC-32, little-endian

# By length of the packet: header and body in one step, the CRC left out. With a tag, they may be longer.
_READ_KEYED = {
    length: struct.Struct(f"<BBHH{length - _SHORTEST}s4x").unpack
    for length in range(_SHORTEST, _LONGEST + schema.TAG + 1)
}
_READ = {length: read for length, read in _READ_KEYED.items() if length <= _LONGEST}
_HEADER, _CRC = struct.Struct("<BBHH").pack, struct.Struct("<I").pack

_Frames = list[tuple[int, int, int, int, bytes]]


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
    tag: bytes = b"",
) -> int:
    """`frame.encode_into`: the same bytes."""
    packet = _HEADER(kind, flags, seq & 0xFFFF, ack & 0xFFFF) + body[start : start + length] + tag
    block = cobs.encode(packet + _CRC(zlib.crc32(packet)))
    end = at + len(block) + 2
    out[at:end] = b"\0%b\0" % block
    return end


class Decoder(frame.Decoder):
    """`frame.Decoder` for many frames at a time: same frames, same counters, however the stream is cut."""

    build: Any = staticmethod(tuple.__new__)  # a namedtuple without the detour through its Python code
    encode_into = staticmethod(encode_into)

    def reader(self, layout: str) -> Any:
        """(Compiled: it need not be looked up for each body.)"""
        return struct.Struct(layout).unpack_from

    def __init__(self) -> None:
        super().__init__()
        self._rest = b""  # bytes since the last delimiter
        self._skip = False  # it grew too long: wait for the next delimiter

    def pending(self) -> bool:
        """Whether bytes of a frame have come in that has not ended."""
        return self._skip or bool(self._rest)

    def feed(self, data: bytes | bytearray | memoryview) -> _Frames:
        """The frames that `data` completes, in order."""
        blocks = (self._rest + data).split(b"\0")
        if self._skip and len(blocks) > 1:
            blocks[0] = b""
            self._skip = False
        rest = blocks.pop()
        frames = self._read(blocks)
        if len(rest) > frame.BLOCK and not self._skip:
            self._skip = True
            self._reject("long")
        self._rest = b"" if self._skip else rest
        self.count["frames"] += len(frames)
        return frames

    def _read(self, blocks: list[bytes]) -> _Frames:
        """All blocks at once, in C, as long as nothing is wrong with any of them."""
        if self.keyed:
            return self._judge(blocks)
        try:
            packets = list(map(cobs.decode, filter(None, blocks)))
            frames: _Frames = [_READ[len(packet)](packet) for packet in packets]
        except (cobs.DecodeError, KeyError):
            return self._judge(blocks)
        if (
            list(map(zlib.crc32, packets)).count(_SEALED) == len(packets)
            and {flags for _, flags, _, _, _ in frames} <= _FLAGS_KNOWN
        ):
            return frames
        return self._judge(blocks)

    def _judge(self, blocks: list[bytes]) -> _Frames:
        """One block after the other: what is wrong has a name."""
        frames: _Frames = []
        known = _FLAGS_KNOWN_KEYED if self.keyed else _FLAGS_KNOWN
        for block in filter(None, blocks):
            if len(block) > frame.BLOCK:
                self._reject("long")
                continue
            try:
                packet = cobs.decode(block)
            except cobs.DecodeError:
                self._reject("zero")
                continue
            tag = schema.TAG if len(packet) > 1 and packet[1] & schema.FLAG_AUTH else 0
            if len(packet) < _SHORTEST:
                self._reject("short")
            elif zlib.crc32(packet) != _SEALED:
                self._reject("crc")
            elif packet[1] not in known:
                self.count["flags"] += 1
            elif len(packet) < _SHORTEST + tag:
                self._reject("short")
            elif len(packet) > _LONGEST + tag:
                self._reject("long")
            else:
                frames.append(_READ_KEYED[len(packet)](packet))
        return frames
