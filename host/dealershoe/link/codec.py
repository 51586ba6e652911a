"""The host's frame decoder: the reference of `shoelink.frame` with COBS and CRC in C, proven equal to it by a test."""

from __future__ import annotations

import struct
import zlib

from cobs import cobs
from shoelink import frame, schema

_HEADER = struct.Struct("<BBHH").unpack_from
_SHORTEST = schema.HEADER + schema.CRC
_LONGEST = schema.HEADER + schema.BODY + schema.CRC
_FLAGS_UNKNOWN = schema.FLAGS_MUST & ~schema.FLAG_ASK
_RESIDUE = 0x2144DF1C  # CRC-32 of any bytes that end in their own CRC-32, little-endian


class Decoder(frame.Decoder):
    """`frame.Decoder` for many frames at a time: same frames, same counters, however the stream is cut."""

    def __init__(self) -> None:
        super().__init__()
        self._rest = b""  # bytes since the last delimiter
        self._skip = False  # it grew too long: wait for the next delimiter

    def pending(self) -> bool:
        """Whether bytes of a frame have come in that has not ended."""
        return self._skip or bool(self._rest)

    def feed(self, data: bytes | bytearray | memoryview) -> list[tuple[int, int, int, int, bytes]]:
        """The frames that `data` completes, in order."""
        blocks = (self._rest + data).split(b"\0")
        if self._skip and len(blocks) > 1:
            blocks[0] = b""
            self._skip = False
        self._rest = rest = blocks.pop()
        frames: list[tuple[int, int, int, int, bytes]] = []
        for block in blocks:
            if not block:
                continue
            if len(block) > frame.BLOCK:
                self._reject("long")
                continue
            try:
                plain = cobs.decode(block)
            except cobs.DecodeError:
                self._reject("zero")
                continue
            if len(plain) < _SHORTEST:
                self._reject("short")
            elif zlib.crc32(plain) != _RESIDUE:
                self._reject("crc")
            else:
                kind, flags, seq, ack = _HEADER(plain)
                if flags & _FLAGS_UNKNOWN:
                    self.count["flags"] += 1
                elif len(plain) > _LONGEST:
                    self._reject("long")
                else:
                    frames.append((kind, flags, seq, ack, plain[6:-4]))
        self.count["frames"] += len(frames)
        if len(rest) > frame.BLOCK:
            if not self._skip:
                self._reject("long")
            self._skip = True
            self._rest = b""
        elif self._skip:
            self._rest = b""
        return frames
