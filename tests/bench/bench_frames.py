"""Frames per second on the host, side by side with the plain struct + COBS floor, an interpreted specification and two
other links; and what a line fault costs."""

from __future__ import annotations

import gc
import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

import spec  # noqa: E402
from bench import peers  # noqa: E402
from cobs import cobs  # noqa: E402
from dealershoe.link import codec  # noqa: E402
from protocol.faulty_line import KEYS, card, ident  # noqa: E402
from protocol.single_faults import cost  # noqa: E402
from shoelink import frame, link, schema, seal  # noqa: E402

COMMAND = "python tests/bench/bench_frames.py"
FRAMES = 5_000  # a few milliseconds, or the rest of the machine is measured too
READ = 4096  # bytes a read from the port brings at most
FAULTS = 1_000_000
ROUNDS = 200  # the fastest counts: the machine does other things too


def _seal() -> seal.Seal:
    return seal.Seal(KEYS[b"s" * 8], b"s" * 8, b"h" * 8, b"s" * 8)


def _frame(kind: int, number: int, body: bytes, shut: seal.Seal | None) -> bytes:
    if shut is None:
        return frame.encode(kind, 0, number, 0, body)
    flags, seq = schema.FLAG_AUTH, number & 0xFFFF
    return frame.encode(kind, flags, seq, 0, body + shut.tag(schema.SHOE, number, kind, flags, seq, 0, body))


def _stream(frames: int, shut: seal.Seal | None = None) -> list[bytes]:
    wire = b"".join(_frame(schema.CARD, number, schema.pack(card(number)), shut) for number in range(1, frames + 1))
    return [wire[at : at + READ] for at in range(0, len(wire), READ)]


def _host(shut: seal.Seal | None = None) -> link.Link:
    """A host's link that is up, as frames from a shoe have made it."""
    keys = KEYS if shut else None
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n, decoder=codec.Decoder(), keys=keys)
    host.start(0)
    hello = schema.Hello(1, 0, schema.SCHEMA, b"jrnl", b"boot", 1, 1, 1, 256, b"ssssssss", b"hhhh")
    host.receive(_frame(schema.HELLO, 1, schema.pack(hello), shut), 0)
    host.receive(_frame(schema.IDENT, 2, schema.pack(ident(b"s")), shut), 0)
    host.resume(0, 0)
    assert host.up
    return host


def _through_the_link(reads: list[bytes], host: link.Link) -> int:
    """Bytes to journalled events with named fields, in order, acknowledged: all that the host does before it stores."""
    events = 0
    for data in reads:
        recorded = host.receive(data, 1)
        events += len(recorded)
        host.stored(host._receiver.expected - 1)
    return events - 1  # LinkUp


def _floor(reads: list[bytes], nothing: None) -> int:
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


def _with_construct(reads: list[bytes], nothing: None) -> int:
    """The specification itself, interpreted: what a declaration costs when nothing is compiled."""
    frames, _ = spec.read(b"".join(reads))
    for _, _, _, _, body in frames:
        spec.CARD.parse(body)
    return len(frames)


def _nothing() -> None:
    return None


class Way(NamedTuple):
    """A way to decode: from bytes, as they are read, to so many events, by what `prepare` makes for each round."""

    name: str
    reads: list[bytes]
    prepare: Callable[[], Any]
    decode: Callable[[list[bytes], Any], int] | None
    why_not: str = ""  # decode is None
    every: int = 1  # rounds


def _ways() -> list[Way]:
    reads = _stream(FRAMES)
    return [
        Way("ours", reads, _host, _through_the_link),
        Way("floor", reads, _nothing, _floor),
        Way("sealed", _stream(FRAMES // 10, _seal()), lambda: _host(_seal()), _through_the_link, every=20),
        Way("construct", _stream(FRAMES // 50), _nothing, _with_construct, every=20),
        Way("pymavlink", *peers.mavlink(FRAMES // 4, READ), 5),
        *(Way(f"ash {size}", *peers.ash(FRAMES // 4, size), 5) for size in peers.ASH_READS),
    ]


def _rates(ways: list[Way]) -> dict[str, float]:
    """Frames per second of each way, taken in turns so that the machine's moods fall on all alike; the best counts."""
    gc.collect()
    gc.freeze()  # what the peers have imported is no work of the decoders
    best = {way.name: 0.0 for way in ways}
    for turn in range(ROUNDS):
        for way in ways:
            if way.decode is None or turn % way.every:
                continue
            prepared = way.prepare()
            began = time.perf_counter()
            frames = way.decode(way.reads, prepared)
            best[way.name] = max(best[way.name], frames / (time.perf_counter() - began))
    gc.unfreeze()
    return best


def _against(name: str, ours: float, other: float, least: float, why_not: str, about: str) -> dict[str, Any]:
    """How many times as fast we are. `about`: what was measured."""
    target = f">= {least:g}" if least else ""
    figure = {"name": name, "unit": "ratio", "target": target, "command": COMMAND}
    if not other:
        return figure | {"value": None, "ok": None, "reason": why_not}
    return figure | {
        "value": round(ours / other, 1),
        "ok": ours / other >= least,
        "peer": f"{about}: {other:,.0f} frames/s",
    }


def figures(faults: int = FAULTS) -> list[dict[str, Any]]:
    """The figures of frames, each with its target from DESIGN."""
    ways = _ways()
    rates = _rates(ways)
    why_not = {way.name: way.why_not for way in ways}
    ours, floor = rates["ours"], rates["floor"]
    paid = cost(faults, 1, codec.Decoder)
    ash = max((f"ash {size}" for size in peers.ASH_READS), key=lambda name: rates[name])

    def entry(name: str, value: float, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}

    return [
        entry("decode_rate", round(ours), "frames/s", ">= 900000", ours >= 900_000),
        _against("decode_vs_pymavlink", ours, rates["pymavlink"], 6, why_not["pymavlink"], peers.about("pymavlink")),
        _against("decode_vs_ash", ours, rates[ash], 10, why_not[ash], peers.about("bellows")),
        entry("decode_vs_floor", round(floor / ours, 2), "ratio", "<= 3", floor / ours <= 3),
        _against("decode_vs_construct", ours, rates["construct"], 0, "", peers.about("construct")),
        entry("decode_rate_sealed", round(rates["sealed"]), "frames/s", "", None),
        entry("blast_radius", paid.worst, "frames", "<= 1", paid.worst <= 1),
        entry("damaged_delivered", paid.damaged_delivered, "frames", "0", paid.damaged_delivered == 0),
    ]


if __name__ == "__main__":
    for figure in figures():
        value = "-" if figure["value"] is None else figure["value"]
        print(f"{figure['name']:20} {value:>12} {figure['unit']:10} {figure['target']:10} ok={figure['ok']}", end=" ")
        print(figure.get("peer", figure.get("reason", "")))
