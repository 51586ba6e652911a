"""Writes `vectors.json` and `sealed.json`, the golden frames of every interpreter, from `spec.py`: run it as it is.

Good frames with the meaning of every field; damaged streams with the counter that each must raise; and in `sealed.json`
the same for an end with a key, with what each tag is made of. Nothing here knows the codec that is judged by them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import spec

VECTORS = Path(__file__).parent / "vectors.json"
SEALED = Path(__file__).parent / "sealed.json"

# One body of each kind with every byte different where it can be, and a zero in it where a field may be zero.
BODIES: dict[str, dict[str, Any]] = {
    "HELLO": {
        "major": 1,
        "minor": 0,
        "schema": b"\x10\x20\x30\x40",
        "journal": b"JRNL",
        "boot": b"\x00BT\x00",
        "reset": 2,
        "oldest": 65535,
        "next": 0x0102030405060708,
        "receive": 256,
        "nonce": b"\x00nonce\x00\x01",
        "answers": b"\x00\x00\x00\x00",
    },
    "IDENT": {"device": b"\xe6a8\xb7\x1c\x00\x2f\x21", "build": b"0.1.0+4f2c\x00\x00", "digest": bytes(range(16))},
    "PING": {"t_us": b"\x00\x00\x00\x80"},
    "PONG": {"ping": b"\x00\x00\x00\x80", "received": b"\xff\xff\xff\xff", "sent": b"\x00\x00\x00\x00"},
    "ACK": {"kind": 0xE8, "generation": 513},
    "NAK": {"expected": 0, "reject": 1},
    "STATS": {
        "t_us": b"\x01\x02\x03\x04",
        "frames": 1001,
        "damaged": 2,
        "sent": 3003,
        "resent": 4,
        "naks": 5,
        "lost": 6,
        "held": 7,
        "peak": 256,
        "refused": 0,
        "overruns": 65535,
        "free": 12345,
    },
    "ENROLL": {"secret": bytes(range(224, 256))},
    "ENROLLED": {"result": 1},
    "LOOKUP": {"offset": 992},
    "WORDS": {"offset": 992, "total": 1011, "text": b"RNAL <H offset\n".ljust(32, b"\x00")},
    "SELF_TEST": {"t_us": b"\x40\x42\x0f\x00", "why": 1, "tested": 16383, "failed": 34, "took": 180},
    "TEST": {"what": 2},
    "CARD": {
        "hand": 7,
        "draw": 12,
        "t_us": b"\x40\xe2\x01\x00",
        "token": b"\x33\x00\x00\x00",
        "deck": 1,
        "way_up": 1,
        "target": 3,
        "origin": 1,
        "certainty": 60,
        "flags": 2,
        "speed": 900,
        "erasures": 4,
    },
    "CARD_BACK": {"hand": 7, "draw": 12, "t_us": b"\xff\xff\xff\xff", "distance": 635},
    "SEAT": {"hand": 7, "draw": 13, "t_us": b"\x00\x00\x00\x00", "place": 33, "way_up": 2, "certainty": 99},
    "KEY": {"hand": 65535, "t_us": b"\x0d\x0a\x03\x1a", "key": 5, "press": 1},
    "DECK": {"hand": 256, "t_us": b"\x01\x00\x00\x01", "event": 1, "deck": 255, "count": 52},
    "FAULT": {"t_us": b"\x01\x00\x00\x02", "code": 5, "detail": 0},
    "CLEAR": {"t_us": b"\x01\x00\x00\x03", "code": 5, "detail": 17},
    "COMMIT": {"hand": 7, "commitment": bytes(range(100, 122))},
    "REVEAL": {"hand": 6, "secret": b"\x00" + bytes(range(201, 215)) + b"\x00"},
    "SIGNAL": {"generation": 258, "signal": 2, "reason": 1, "mode": 0},
    "DUE": {"generation": 259, "hand": 7, "due": 1, "seat": 11, "cards": 2},
}
SEQ, ACK = 0x0102, 0xFF00


def _card(seq: int = SEQ) -> bytes:
    return spec.write(spec.KINDS["CARD"].on_wire(False), 0, seq, ACK, spec.CARD.build(BODIES["CARD"]))


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _good() -> list[dict[str, Any]]:
    """Every kind from every end that sends it."""
    vectors = []
    for name, declared in spec.KINDS.items():
        for sender in ("shoe", "host"):
            if declared.sender not in (sender, "both"):
                continue
            body = declared.body.build(BODIES[name])
            kind = declared.on_wire(sender == "host")
            flags = 0x40 if name == "HELLO" else 0
            vectors.append(
                {
                    "name": f"{name} from the {sender}",
                    "wire": spec.write(kind, flags, SEQ, ACK, body).hex(),
                    "frames": [[kind, flags, SEQ, ACK, body.hex()]],
                    "message": {field: _plain(value) for field, value in BODIES[name].items()},
                    "count": {"frames": 1},
                }
            )
    return vectors


def _stream(name: str, wire: bytes, count: dict[str, int], *frames: bytes) -> dict[str, Any]:
    """A stream of which only `frames` may be delivered."""
    delivered = []
    for frame in frames:
        ((kind, flags, seq, ack, body),), _ = spec.read(frame)
        delivered.append([kind, flags, seq, ack, body.hex()])
    return {"name": name, "wire": wire.hex(), "frames": delivered, "count": count}


def _edges() -> list[dict[str, Any]]:
    """Streams that are whole, though they look odd."""
    card = _card()
    empty = spec.write(0x1F, 0, 0, 0, b"")
    longest = spec.write(0x1F, 0x0F, 65535, 65535, bytes(range(216, 256)))
    zeros = spec.write(0x1F, 0, 0, 0, bytes(40))
    tagged = BODIES["CARD"] | {"way_up": 2, "flags": 32, "erasures": 0}
    by_tag = spec.write(0x61, 0, SEQ, ACK, spec.CARD.build(tagged))
    grown = spec.write(0x61, 0, SEQ, ACK, spec.CARD.build(BODIES["CARD"]) + b"\x00new")
    return [
        _stream("no body", empty, {"frames": 1}, empty),
        _stream("the longest body, no zero in it, flags that may be ignored", longest, {"frames": 1}, longest),
        _stream("the longest body, all zeros", zeros, {"frames": 1}, zeros),
        _stream("a body that has grown at its end", grown, {"frames": 1}, grown),
        _stream("two frames that share a delimiter", card + card[1:], {"frames": 2}, card, card),
        _stream("a run of delimiters between frames", card + bytes(66) + card, {"frames": 2}, card, card),
        _stream("control characters and line ends", _card(0x0D0A), {"frames": 1}, _card(0x0D0A)),
        _stream("a card told by its tag", by_tag, {"frames": 1}, by_tag),
        _stream("a frame that has not ended", card + card[:-1], {"frames": 1}, card),
    ]


def _damaged() -> list[dict[str, Any]]:
    """Streams with a fault. The frames beside the fault are delivered, the one that it hit is not."""
    card = _card()
    inside = card[1:-1]
    flip = bytearray(inside)
    flip[23] ^= 0x20  # certainty 60 → 28: not a code of the stuffing and not zero
    longer = spec.stuff(b"\x01" * 58)
    too_long = bytes([1]) * 60
    unsealed = spec.stuff(b"\x01" * 20)
    auth = spec.write(0x61, 0x80, SEQ, ACK, spec.CARD.build(BODIES["CARD"]) + b"8bytetag")
    unknown_flag = spec.write(0x61, 0x20, SEQ, ACK, spec.CARD.build(BODIES["CARD"]))
    body_41 = spec.write(0x1F, 0, SEQ, ACK, b"\x01" * 41)
    boot = b"\r\nMicroPython v1.26.1 on 2025-09-11; Raspberry Pi Pico with RP2040\r\n>>> "
    z, s, g, c, f = {"zero": 1}, {"short": 1}, {"long": 1}, {"crc": 1}, {"flags": 1}
    one = {"frames": 1}
    return [
        _stream("a bit flipped in the body", b"\0" + bytes(flip) + b"\0" + card, c | one, card),
        _stream("a CRC of another packet", b"\0" + unsealed + b"\0" + card, c | one, card),
        _stream("a delimiter lost, two frames run together", card[:-1] + card[1:] + card, {"long": 1} | one, card),
        _stream("a zero inside: two pieces", card[:24] + b"\0" + card[25:] + card, {"zero": 2} | one, card),
        _stream("the first byte lost", b"\0" + inside[1:] + b"\0" + card, z | one, card),
        _stream("the last byte lost", b"\0" + inside[:-1] + b"\0" + card, z | one, card),
        _stream("a byte put in at the end that unstuffs to a zero", b"\0" + inside + b"\x01\0" + card, c | one, card),
        _stream("a byte put in at the end that says more", b"\0" + inside + b"\x02\0" + card, z | one, card),
        _stream("nine bytes of packet", b"\0" + spec.stuff(b"\x01" * 9) + b"\0" + card, s | one, card),
        _stream("a lone byte", b"\0\x01\0" + card, s | one, card),
        _stream("a lone byte that says more", b"\0\x02\0" + card, z | one, card),
        _stream("the longest block, not sealed", b"\0" + longer + b"\0" + card, c | one, card),
        _stream("one byte more than the longest block", b"\0" + too_long + b"\0" + card, g | one, card),
        _stream("a thousand bytes without a delimiter", b"\xaa" * 1000 + b"\0" + card, g | one, card),
        _stream("a body of 41 bytes, sealed", body_41 + card, g | one, card),
        _stream("a tag, and no key", auth + card, f | one, card),
        _stream("a flag that must be understood", unknown_flag + card, f | one, card),
        _stream("a boot banner in front", boot + card, {"long": 1} | one, card),
        _stream("a prompt in front", b">>> " + card, z | one, card),
        _stream("the corncobs case 02 00 00", b"\x02\0\0" + card, z | one, card),
    ]


# ---- with a key

DEVICE_KEY = bytes(range(32))
DEVICE = b"\xe6a8\xb7\x1c\x00\x2f\x21"
NONCE_HOST, NONCE_SHOE = b"\x00nonce\x00\x01", b"shoe\x00\x00\x00\xff"


def _seal(
    name: str, count: int, kind: int, flags: int, ack: int, body: bytes, of_host: bytes = NONCE_HOST
) -> dict[str, Any]:
    """A sealed frame; `count` is what its seq is the low 16 bits of."""
    flags |= 0x80
    seq = count & 0xFFFF
    key = spec.session_key(DEVICE_KEY, DEVICE, of_host, NONCE_SHOE)
    tag = spec.tag(key, count, kind, flags, seq, ack, body)
    return {
        "name": name,
        "wire": spec.write(kind, flags, seq, ack, body + tag).hex(),
        "frames": [[kind, flags, seq, ack, (body + tag).hex()]],
        "count": {"frames": 1},
        "seal": {
            "device_key": DEVICE_KEY.hex(),
            "device": DEVICE.hex(),
            "nonce_host": of_host.hex(),
            "nonce_shoe": NONCE_SHOE.hex(),
            "session_key": key.hex(),
            "count": count,
            "tag": tag.hex(),
        },
    }


def _sealed() -> list[dict[str, Any]]:
    """Frames with a tag, and what an end with a key makes of damaged ones."""
    card = spec.KINDS["CARD"].on_wire(False)
    body = spec.CARD.build(BODIES["CARD"])
    hello = BODIES["HELLO"] | {"nonce": NONCE_SHOE, "answers": bytes(4)}
    signal = spec.SIGNAL.build(BODIES["SIGNAL"])
    good = _seal("CARD, event 258", SEQ, card, 0, 0, body)
    whole = bytes.fromhex(good["wire"])
    bare = _card()
    flag = spec.write(card, 0xA0, SEQ, 0, body + bytes(8))
    empty = _seal("no body", 1, 0x1F, 0, 0, b"")
    longest = _seal("the longest body", 2, 0x1F, 0x0F, 0xFFFF, bytes(range(216, 256)))
    cut = spec.write(0x1F, 0x80, 1, 0, b"7 bytes")
    long_plain = spec.write(0x1F, 0, 1, 0, b"\x01" * 41)
    long_sealed = spec.write(0x1F, 0x80, 1, 0, b"\x01" * 48 + b"\x01")
    flip = bytearray(whole)
    flip[-3] ^= 0x20
    return [
        _seal("the call of a shoe: nobody is answered, the count is 0", 0, 0x41, 0x40, 0, spec.HELLO.build(hello),
              spec.NOBODY),
        _seal("HELLO from the host", 1, 0xC1, 0x40, 0, spec.HELLO.build(BODIES["HELLO"])),
        good,
        _seal("CARD, event 2^40 + 1", 2**40 + 1, card, 0, 0, body),
        _seal("SIGNAL, the host's frame 65537", 65537, spec.KINDS["SIGNAL"].on_wire(True), 0, ACK, signal),
        empty,
        longest,
        _keyed("a frame without a tag", bare, {"frames": 1}),
        _keyed("a flag that must be understood", flag + whole, {"flags": 1, "frames": 1}),
        _keyed("no room for a tag", cut + whole, {"short": 1, "frames": 1}),
        _keyed("a body of 41 bytes and no tag", long_plain + whole, {"long": 1, "frames": 1}),
        _keyed("one byte more than the longest", long_sealed + whole, {"long": 1, "frames": 1}),
        _keyed("a bit flipped in the tag", bytes(flip) + whole, {"crc": 1, "frames": 1}),
    ]  # fmt: skip


def _keyed(name: str, wire: bytes, count: dict[str, int]) -> dict[str, Any]:
    """A stream of which only the last frame may be delivered."""
    kind, flags, seq, ack, body = spec.read(wire, keyed=True)[0][-1]
    return {"name": name, "wire": wire.hex(), "frames": [[kind, flags, seq, ack, body.hex()]], "count": count}


def sealed() -> str:
    """The text that `sealed.json` must have."""
    return json.dumps(_sealed(), indent=1) + "\n"


def vectors() -> str:
    """The text that `vectors.json` must have."""
    return json.dumps(_good() + _edges() + _damaged(), indent=1) + "\n"


if __name__ == "__main__":
    VECTORS.write_text(vectors())
    SEALED.write_text(sealed())
