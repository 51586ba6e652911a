"""Frames per second on the host beside the plain struct + COBS floor, and what a line fault costs."""

from __future__ import annotations

import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from cobs import cobs  # noqa: E402
from dealershoe.link import codec  # noqa: E402
from protocol.faulty_line import card, ident  # noqa: E402
from protocol.single_faults import cost  # noqa: E402
from shoelink import frame, link, schema  # noqa: E402

COMMAND = "python tests/bench/bench_frames.py"
FRAMES = 20_000
READ = 4096  # bytes a read from the port brings at most
FAULTS = 1_000_000
ROUNDS = 25  # the fastest counts: the machine does other things too


def _stream() -> list[bytes]:
    wire = b"".join(
        frame.encode(schema.CARD, 0, number & 0xFFFF, 0, schema.pack(card(number))) for number in range(1, FRAMES + 1)
    )
    return [wire[at : at + READ] for at in range(0, len(wire), READ)]


def _host() -> link.Link:
    """A host's link that is up, as frames from a shoe have made it."""
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n, decoder=codec.Decoder())
    host.start(0)
    hello = schema.Hello(1, 0, schema.SCHEMA, b"jrnl", b"boot", 1, 1, 1, 256, b"ssssssss", b"hhhh")
    for message in (hello, ident(b"s")):
        host.receive(frame.encode(schema.KIND_OF[type(message)], 0, 0, 0, schema.pack(message)), 0)
    host.resume(0, 0)
    assert host.up
    return host


def _through_the_link(reads: list[bytes]) -> int:
    """Bytes to journalled events with named fields, in order, acknowledged: all that the host does before it stores."""
    host = _host()
    events = 0
    for data in reads:
        recorded = host.receive(data, 1)
        events += len(recorded)
        host.stored(host._receiver.expected - 1)
    return events - 1  # LinkUp


def _floor(reads: list[bytes]) -> int:
    """The least that a decoder in Python does: cut at zeros, C COBS, C CRC, one struct. No session, no names."""
    unpack = struct.Struct("<BBHHHH4s4sBBBBBBHB4x").unpack
    decode, crc32 = cobs.decode, zlib.crc32
    rest = b""
    frames = 0
    for data in reads:
        blocks = (rest + data).split(b"\0")
        rest = blocks.pop()
        for block in blocks:
            if block:
                packet = decode(block)
                if crc32(packet) == 0x2144DF1C:
                    unpack(packet)
                    frames += 1
    return frames


def _rates(reads: list[bytes], *ways: Callable[[list[bytes]], int]) -> list[float]:
    """Frames per second of each way, taken in turns so that the machine's moods fall on all alike."""
    best = [0.0] * len(ways)
    for _ in range(ROUNDS):
        for i, way in enumerate(ways):
            began = time.perf_counter()
            frames = way(reads)
            best[i] = max(best[i], frames / (time.perf_counter() - began))
            assert frames == FRAMES
    return best


def figures(faults: int = FAULTS) -> list[dict[str, Any]]:
    """The figures of frames and link, each with its target from DESIGN."""
    ours, floor = _rates(_stream(), _through_the_link, _floor)
    paid = cost(faults, 1, codec.Decoder)

    def entry(name: str, value: float, unit: str, target: str, ok: bool) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}

    return [
        entry("decode_rate", round(ours), "frames/s", ">= 900000", ours >= 900_000),
        entry("decode_vs_floor", round(floor / ours, 2), "ratio", "<= 3", floor / ours <= 3),
        entry("blast_radius", paid.worst, "frames", "<= 1", paid.worst <= 1),
        entry("damaged_delivered", paid.damaged_delivered, "frames", "0", paid.damaged_delivered == 0),
    ]


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure['name']:20} {figure['value']:>12} {figure['unit']:24} {figure['target']:12} ok={figure['ok']}")
