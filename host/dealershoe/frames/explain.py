"""A stream of the line taken apart: the fields of every frame with their places, and what is wrong with the rest. Pure.

For `dealershoe frames` and for what the bridge writes down on a fault. It judges as `shoelink.frame.Decoder` does.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shoelink import frame, schema

from dealershoe.frames.meaning import HIDDEN, meaning, names_a_card, secrecy

SHORTEST = schema.HEADER + schema.CRC  # bytes of the shortest packet
LONGEST = schema.HEADER + schema.BODY + schema.CRC
_SEALED = 0x2144DF1C  # CRC-32 of any bytes that end in their own CRC-32, little-endian
_MUST = schema.FLAGS_MUST & ~schema.FLAG_ASK & ~schema.FLAG_AUTH
TEXT = 8  # characters: a shorter run may be chance
SIGNS = (b"Traceback (most recent call last)", b"MicroPython v", b"\n>>> ")  # of text, whatever stands around them
FEW = 4 * frame.BLOCK  # bytes: of fewer it cannot be said what is wrong with a line


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a frame. `at`: offset in the stream. `wire`: its bytes there; `plain`: unstuffed. `secret`: "card" for
    a card or bytes that one can be computed from, "key" for a key, which is never shown."""

    name: str
    at: int
    wire: bytes
    plain: bytes
    meaning: str
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two delimiters. `verdict` is the counter that a receiver raises: "frames", "crc", "zero",
    "short", "long", "flags"; "sealed" for a whole frame with a tag, which an end without the key counts as "flags"; or
    "open" for bytes after the last delimiter."""

    at: int
    wire: bytes
    verdict: str
    sender: str = ""  # "shoe" or "host", where the frame says it
    name: str = ""  # of the kind
    seq: int = 0
    fields: tuple[Field, ...] = ()
    why: str = ""  # which check failed
    usual: str = ""  # what that usually means
    text: str = ""  # a block that is text and no frame

    @property
    def whole(self) -> bool:
        """Whether a receiver delivers it (if it is sealed: one that has the key)."""
        return self.verdict in ("frames", "sealed")


CHECKS = {
    "zero": (
        "the chain of stuffing codes points past the delimiter or stops short of it",
        "a byte was lost or put in, or became 00",
    ),
    "short": (
        f"fewer than {SHORTEST} bytes, a header and a CRC",
        "the end of a torn frame, or a burst of noise",
    ),
    "long": (
        f"more than {frame.BLOCK} bytes between two delimiters, or a body above {schema.BODY}",
        "a delimiter was lost and two frames ran together, or the other end does not speak this protocol",
    ),
    "crc": (
        "the CRC-32 does not fit header and body",
        "bits were flipped on the way: a loose plug, a long cable beside a motor, a speed a little off",
    ),
    "flags": (
        "a flag is set that must be understood and is not",
        "the other end is newer than this one",
    ),
    "open": ("no delimiter has followed yet", "the capture ends in the middle of a frame"),
}

PIECES = ("zero", "short", "crc")  # what a piece of a frame is taken for


def explain(stream: bytes, searched: int = 1_000) -> Iterator[Block]:
    """The blocks of a stream, in order. For as many damaged ones as `searched` the one fault that explains it is looked
    for, which takes a few milliseconds each."""
    torn: Block | None = None
    damaged = 0
    for at, wire, ended in _cut(stream):
        if not ended:
            why, usual = CHECKS["open"]
            text = _text(wire)  # what prints text writes no delimiter
            yield Block(at, wire, "open", why=why, usual=_speaker(text) if text else usual, text=text)
            return
        block = _judge(at, wire, damaged < searched)
        damaged += not block.fields
        if torn is not None and block.verdict in PIECES and at == torn.at + len(torn.wire) + 1 and damaged <= searched:
            block = replace(block, usual=_one_in_two(torn.wire, wire) or block.usual)
        torn = block if block.verdict in PIECES else None
        yield block


def _cut(stream: bytes) -> Iterator[tuple[int, bytes, bool]]:
    at = 0
    blocks = stream.split(b"\0")
    for number, block in enumerate(blocks):
        if block:
            yield at, block, number + 1 < len(blocks)
        at += len(block) + 1


def unstuff(block: bytes) -> bytes | None:
    """The packet in a block; None when the chain of codes does not end at its end."""
    packet = bytearray(block[1:])
    place = 0
    while place < len(block):
        code = block[place]
        if code == 0xFF and place + code < len(block):
            return None  # a group of 254 bytes without a zero: longer than any frame
        place += code
        if place < len(block):
            packet[place - 1] = 0
    return bytes(packet) if place == len(block) else None


def _packet(block: bytes) -> bytes | None:
    """The packet of a block that a receiver delivers, else None."""
    if len(block) > frame.BLOCK:
        return None
    packet = unstuff(block)
    longest = LONGEST + (schema.TAG if packet and packet[1:2] >= bytes([schema.FLAG_AUTH]) else 0)
    return packet if packet and SHORTEST <= len(packet) <= longest and zlib.crc32(packet) == _SEALED else None


def _judge(at: int, block: bytes, search: bool) -> Block:
    """In the order of a receiver's own checks (protocol/README.md, "The frame")."""
    packet = None if len(block) > frame.BLOCK else unstuff(block)
    if packet is None:
        return _bad(at, block, "long" if len(block) > frame.BLOCK else "zero", search)
    if len(packet) < SHORTEST:
        return _bad(at, block, "short", search)
    if zlib.crc32(packet) != _SEALED:
        return _bad(at, block, "crc", search)
    if packet[1] & _MUST:
        return _whole(at, block, packet, "flags")
    tag = schema.TAG if packet[1] & schema.FLAG_AUTH else 0
    if len(packet) < SHORTEST + tag:
        return _bad(at, block, "short", search)
    if len(packet) > LONGEST + tag:
        return _bad(at, block, "long", search)
    return _whole(at, block, packet, "sealed" if tag else "frames")


def _bad(at: int, block: bytes, verdict: str, search: bool) -> Block:
    why, usual = CHECKS[verdict]
    text = _text(block)
    if at == 0:
        usual = "half a frame: the capture, or the line, was opened in the middle of one"
    usual = _speaker(text) if text else (_found(block, verdict) if search else "") or usual
    return Block(at, block, verdict, why=why, usual=usual, text=text)


# ---- whole frames


def _whole(at: int, block: bytes, packet: bytes, verdict: str) -> Block:
    kind, flags = packet[0], packet[1]
    from_host = bool(kind & schema.FROM_HOST)
    plain = schema.known(kind, from_host)
    tag = schema.TAG if flags & schema.FLAG_AUTH else 0
    end = max(schema.HEADER, len(packet) - schema.CRC - tag)
    short = bool(plain) and end - schema.HEADER < schema.MINIMUM[plain]
    secret = names_a_card(plain)
    fields = [
        Field("stuffing", at, block[:1], b"", f"the first zero of the packet is {block[0]} bytes on"),
        *(
            Field(name, at + 1 + start, block[1 + start : 1 + stop], packet[start:stop], said, hidden)
            for name, start, stop, said, hidden in _places(packet, plain, end, tag, short)
        ),
    ]
    if secret:  # a stuffing code says where zeros stand, and the CRC has 54 answers to try
        fields[0] = replace(fields[0], secret="card", meaning=HIDDEN)
        fields[-1] = replace(fields[-1], secret="card")
    why = usual = ""
    if verdict == "flags":
        why, usual = CHECKS["flags"]
    elif short:
        why = f"its body is shorter than {schema.NAMES[plain]} has at least: counted as short_body, not delivered"
        usual = "the other end is older, or its schema is another one"
    elif not plain:
        why = "a kind that this schema does not know" + (": it stops the deal" if kind & schema.CRITICAL else "")
        usual = "the other end is newer than this one"
    name = schema.NAMES[plain] if plain else f"kind 0x{kind:02X}"
    seq = packet[2] | packet[3] << 8
    return Block(at, block, verdict, "host" if from_host else "shoe", name, seq, tuple(fields), why, usual)


def _places(packet: bytes, plain: int, end: int, tag: int, short: bool) -> Iterator[tuple[str, int, int, str, str]]:
    """Name, first and last place, meaning and secrecy of the fields of a packet."""
    yield "kind", 0, 1, meaning("", "kind", packet[:1]), ""
    yield "flags", 1, 2, meaning("", "header flags", packet[1:2]), ""
    yield "seq", 2, 4, str(packet[2] | packet[3] << 8), ""
    yield "ack", 4, 6, str(packet[4] | packet[5] << 8), ""
    at = schema.HEADER
    if plain and not short:
        name = schema.NAMES[plain]
        for field, size in zip(schema.FIELDS[plain].split(), sizes(plain), strict=True):
            yield field, at, at + size, meaning(name, field, packet[at : at + size]), secrecy(plain, field)
            at += size
    if at < end:
        newer = plain and not short
        yield (
            "newer fields" if newer else "body",
            at,
            end,
            f"{end - at} bytes that this schema has no name for",
            "card" if names_a_card(plain) else "",
        )
    if tag:
        yield "tag", end, end + tag, "made with the session's key; not checked here", ""
    yield "CRC-32", len(packet) - schema.CRC, len(packet), "fits", ""


def sizes(kind: int) -> list[int]:
    """Bytes of each field of a kind's body, in order."""
    found = []
    digits = ""
    for letter in schema.LAYOUTS[kind].lstrip("<"):
        if letter.isdigit():
            digits += letter
        else:
            found.append(int(digits or 1) if letter == "s" else {"B": 1, "H": 2, "I": 4, "Q": 8}[letter])
            digits = ""
    return found


# ---- what else it may be


def _text(block: bytes) -> str:
    """A block as text, if it is some. A prompt moves the cursor while it repeats what it gets: such bytes are dots."""
    said = "".join(chr(byte) if 0x20 <= byte < 0x7F or byte in b"\r\n\t" else "·" for byte in block)
    if block.strip() == b">>>" or any(sign in block for sign in SIGNS):
        return said
    return said if len(block) >= TEXT and "·" not in said else ""


def _speaker(text: str) -> str:
    """Who says this, in place of frames."""
    if "Traceback" in text:
        return "the firmware stopped with an error and printed it: the shoe does not run"
    if "MicroPython" in text or ">>>" in text:
        return "this is the prompt of MicroPython: the board is there and the shoe's program does not run"
    if text.lstrip().startswith("AT"):
        return "a program that looks for modems has probed this port (ModemManager)"
    return "text and not frames: another program or another board"


def _found(block: bytes, verdict: str) -> str:
    """The one fault of the line that explains a block, if there is one."""
    if verdict == "long":
        for at in range(SHORTEST, len(block) - SHORTEST):
            if _packet(block[:at]) and _packet(block[at:]):
                return f"two whole frames: the delimiter between them, before byte {at}, was lost"
        return ""
    if len(block) > frame.BLOCK:
        return ""
    for at in range(len(block)):
        for bit in range(8):
            flipped = bytearray(block)
            flipped[at] ^= 1 << bit
            if flipped[at] and _packet(bytes(flipped)):
                return f"one bit was flipped: bit {bit} of byte {at}"
    for at in range(len(block)):
        if _packet(block[:at] + block[at + 1 :]):
            return f"one byte was put in: byte {at} is too many"
    return ""


def _one_in_two(left: bytes, right: bytes) -> str:
    """A byte became 00 and cut a frame in two."""
    if len(left) + len(right) + 1 > frame.BLOCK:
        return ""
    if any(_packet(left + bytes([byte]) + right) for byte in range(1, 256)):
        return "together with the block before it this is one frame: the byte between them became 00"
    return ""


def verdict_of_all(stream: bytes) -> str:
    """A fault of the line as a whole that explains why there is hardly a frame in `stream`; "" if there is none."""
    blocks = list(_cut(stream))
    if any(_text(block) or (ended and _packet(block)) for _, block, ended in blocks):
        return ""
    for mask in (0xFF, *(1 << bit for bit in range(8))):
        turned = bytes(byte ^ mask for byte in stream)
        whole = sum(_packet(block) is not None for _, block, _ in _cut(turned))
        if whole:
            how = "every bit is turned round" if mask == 0xFF else f"bit {mask.bit_length() - 1} of every byte is wrong"
            return f"{how}, and with it put right there are {whole} frames: the level or the speed of the line is wrong"
    if len(stream) < FEW:
        return ""
    return (
        f"there is not one frame in {len(stream)} bytes: another speed than 115,200 Bd, or the other end speaks "
        "another protocol"
    )
