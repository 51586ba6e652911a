"""Frames per second on the host, in and out, side by side with the plain struct + COBS floor, an interpreted
specification and two other links; and what a line fault costs."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

import spec  # noqa: E402
from bench import peers  # noqa: E402
from bench.race import Way, against, rates  # noqa: E402
from cobs import cobs  # noqa: E402
from dealershoe.link import codec  # noqa: E402
from protocol.faulty_line import KEYS, card, ident  # noqa: E402
from protocol.single_faults import cost  # noqa: E402
from shoelink import frame, link, schema, seal  # noqa: E402

COMMAND = "python tests/bench/bench_frames.py"
FRAMES = 5_000  # a few milliseconds, or the rest of the machine is measured too
READ = 4096  # bytes a read from the port brings at most
WRITE = 5  # frames that a host sends in one write, at most: more its outbox does not take
FAULTS = 1_000_000
# Of encoding there is one: the floor itself is only nine times as fast as the first peer, and five times the second.
TARGETS: dict[str, float] = {
    "decode_rate": 900_000,
    "decode_vs_pymavlink": 6,
    "decode_vs_ash": 10,
    "decode_vs_floor": 3,
    "encode_vs_floor": 3,
}


# ---- in: bytes to events


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


def _with_construct(reads: list[bytes]) -> int:
    """The specification itself, interpreted: what a declaration costs when nothing is compiled."""
    frames, _ = spec.read(b"".join(reads))
    for _, _, _, _, body in frames:
        spec.CARD.parse(body)
    return len(frames)


def _nothing() -> None:
    return None


def _ways_in() -> list[Way]:
    reads, sealed, few = _stream(FRAMES), _stream(FRAMES // 10, _seal()), _stream(FRAMES // 50)
    return [
        Way("ours", _host, lambda host: _through_the_link(reads, host)),
        Way("floor", _nothing, lambda _: _floor(reads)),
        Way("sealed", lambda: _host(_seal()), lambda host: _through_the_link(sealed, host), every=20),
        Way("construct", _nothing, lambda _: _with_construct(few), every=20),
        Way("pymavlink", *peers.mavlink(FRAMES // 4, READ), 5),
        *(Way(f"ash {size}", *peers.ash(FRAMES // 4, size), 5) for size in peers.ASH_READS),
    ]


# ---- out: messages to bytes


DUES = [schema.Due(number, number >> 3, schema.DUE_SEAT, number % 9 + 1, 1) for number in range(FRAMES // 5)]


def _out_through_the_link(host: link.Link) -> int:
    """Messages to bytes to be written, by the way that all frames of a host take: numbered, with the present `ack`."""
    send, take = host.send, host.take
    written = 0
    for at in range(0, len(DUES), WRITE):
        for due in DUES[at : at + WRITE]:
            send(due, 1)
        written += len(take()) > 0
    return written * WRITE


def _out_floor(_: None) -> int:
    """The least that an encoder in Python does: one struct, C CRC, C COBS, and the bytes put together."""
    pack = struct.Struct("<BBHHHHBBB").pack
    encode, crc32 = cobs.encode, zlib.crc32
    for at in range(0, len(DUES), WRITE):
        out = b""
        for number, due in enumerate(DUES[at : at + WRITE]):
            packet = pack(schema.DUE, 0, number, 0, *due)
            out += b"\0" + encode(packet + crc32(packet).to_bytes(4, "little")) + b"\0"
    return len(DUES)


def _out_with_construct(_: None) -> int:
    for number, due in enumerate(DUES[: FRAMES // 50]):
        spec.write(schema.DUE, 0, number, 0, spec.DUE.build(due._asdict()))
    return FRAMES // 50


def _ways_out() -> list[Way]:
    return [
        Way("ours", _host, _out_through_the_link),
        Way("floor", _nothing, _out_floor),
        Way("construct", _nothing, _out_with_construct, every=20),
        Way("pymavlink", *peers.mavlink_out(FRAMES // 20), 5),
        Way("ash", *peers.ash_out([schema.pack(due) for due in DUES[: FRAMES // 20]]), 5),
    ]


# ---- figures


def _race(verb: str, ways: list[Way]) -> list[dict[str, Any]]:
    """`verb`_rate and the ratios; of the floor how many times its time."""
    measured = rates(ways)
    why_not = {way.name: way.why_not for way in ways}
    ours = measured["ours"]
    slower = measured["floor"] / ours
    ash = max((name for name in measured if name.startswith("ash")), key=lambda name: measured[name])

    def ratio(name: str, other: str, package: str) -> dict[str, Any]:
        full = f"{verb}_vs_{name}"
        least = TARGETS.get(full, 0)
        return against(full, ours, measured[other], least, why_not[other], peers.about(package), COMMAND)

    least, most = TARGETS.get(f"{verb}_rate", 0), TARGETS.get(f"{verb}_vs_floor", 0)
    figures = [
        _entry(f"{verb}_rate", round(ours), "frames/s", f">= {least:g}" if least else "", ours >= least),
        ratio("pymavlink", "pymavlink", "pymavlink"),
        ratio("ash", ash, "bellows"),
        _entry(f"{verb}_vs_floor", round(slower, 2), "ratio", f"<= {most:g}" if most else "", slower <= most),
        ratio("construct", "construct", "construct"),
    ]
    if "sealed" in measured:
        figures.append(_entry(f"{verb}_rate_sealed", round(measured["sealed"]), "frames/s", "", None))
    return figures


def _entry(name: str, value: float, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
    ok = ok if target else None
    return {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}


def figures(faults: int = FAULTS) -> list[dict[str, Any]]:
    """The figures of frames, each with its target, if it has one."""
    coded = _race("decode", _ways_in()) + _race("encode", _ways_out())
    paid = cost(faults, 1, codec.Decoder)
    return [
        *coded,
        _entry("blast_radius", paid.worst, "frames", "<= 1", paid.worst <= 1),
        _entry("damaged_delivered", paid.damaged_delivered, "frames", "0", paid.damaged_delivered == 0),
    ]


if __name__ == "__main__":
    for figure in figures():
        value = "-" if figure["value"] is None else figure["value"]
        print(f"{figure['name']:20} {value:>12} {figure['unit']:10} {figure['target']:10} ok={figure['ok']}", end=" ")
        print(figure.get("peer", figure.get("reason", "")))
