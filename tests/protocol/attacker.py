"""What somebody on the line can do who has no key: frames taken apart, changed and put together with a right CRC."""

from __future__ import annotations

from typing import Any

from shoelink import frame, link, schema, seal

Frame = tuple[int, int, int, int, bytes]

# What may differ in an end that has refused a frame, or only said again what it had said before.
_BOOKKEEPING = {"count", "_count", "decoder", "_entropy", "_bytes_at", "_tried_at", "tries"}
_SAYING = {"._outbox.buffer", "._outbox.at", "._outbox._seq", "._outbox._guard", "._guard.seal.sent"}


def frames_in(data: bytes) -> list[Frame]:
    """The frames as (kind, flags, seq, ack, body and tag)."""
    reader = frame.Decoder()
    reader.keyed = True
    return reader.feed(data)


def wire(one: Frame) -> bytes:
    """A frame with a CRC that fits."""
    return frame.encode(*one)


def bits(one: Frame) -> int:
    """Bits of a packet, the CRC left out."""
    return 8 * (schema.HEADER + len(one[4]))


def flipped(one: Frame, bit: int) -> Frame:
    """One bit of the packet turned: of the kind, flags, seq, ack, body or tag."""
    kind, flags, seq, ack, body = one
    packet = bytearray(bytes([kind, flags]) + seq.to_bytes(2, "little") + ack.to_bytes(2, "little") + body)
    packet[bit // 8] ^= 1 << bit % 8
    return packet[0], packet[1], packet[2] | packet[3] << 8, packet[4] | packet[5] << 8, bytes(packet[6:])


def bare(one: Frame) -> Frame:
    """The frame without its tag."""
    kind, flags, seq, ack, body = one
    return kind, flags & ~schema.FLAG_AUTH, seq, ack, body[: -schema.TAG] if flags & schema.FLAG_AUTH else body


def turned(one: Frame) -> Frame:
    """The frame as if the other end had sent it."""
    return one[0] ^ schema.FROM_HOST, *one[1:]


def resealed(one: Frame, key: bytes, of_host: bytes, of_shoe: bytes, count: int) -> Frame:
    """The frame sealed with a key that is not the device's, all else right."""
    kind, flags, _, ack, body = bare(one)
    flags |= schema.FLAG_AUTH
    sender = schema.HOST if kind & schema.FROM_HOST else schema.SHOE
    mine = seal.Seal(key, b"s" * 8, of_host, of_shoe)
    return kind, flags, count & 0xFFFF, ack, body + mine.tag(sender, count, kind, flags, count & 0xFFFF, ack, body)


def state(end: link.Link) -> dict[str, Any]:
    """All that an end knows, down to the last attribute, without its counters."""
    found: dict[str, Any] = {}
    _walk(end, "", found)
    return found


def _walk(what: Any, path: str, found: dict[str, Any]) -> None:
    if isinstance(what, dict):
        for key, value in what.items():
            _walk(value, f"{path}[{key!r}]", found)
    elif isinstance(what, list):
        found[path] = list(what)
    elif type(what).__module__.startswith("shoelink.") and hasattr(what, "__dict__"):
        for name, value in vars(what).items():
            if name not in _BOOKKEEPING and f"{path}.{name}" not in _SAYING:
                _walk(value, f"{path}.{name}", found)
    else:
        found[path] = bytes(what) if isinstance(what, bytearray) else what
