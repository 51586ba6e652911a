"""A shoe's end of the link in a process of its own, for both interpreters: turned by its parent over stdin and stdout.

The parent (`shoe_beside.py`) sends `now u32 | draw u16 | length u16 | bytes from the line`; a draw above 0 is a CARD to
report. The answer is `signal u8 | up u8 | held u16 | length u16 | bytes for the line`. So time is virtual here too. An
argument is the key that the shoe has, in hexadecimal. Where `shoelink` is of a later release (`newer_schema`), the card
has the new field, and each draw is a report of the new kind too.
"""

import struct
import sys

from shoelink import journal, link, notice, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEWER_KIND = 0x28  # HUMID, of the later release
WEAR = 77  # CARD.wear there
_OLD_CARD = '"hand draw t_us token deck way_up target origin certainty flags speed erasures",'
_OLD_SEAT = "Seat = _message("


def newer_schema(text: str) -> str:
    """A schema file, grown as a later release would grow it: CARD has one field more, and there is a kind more."""
    text = text.replace(_OLD_CARD, _OLD_CARD.replace("erasures", "erasures wear"))
    text = text.replace('"<HH4s4sBBBBBBHB",', '"<HH4s4sBBBBBBHBB",')
    return text.replace(
        _OLD_SEAT, 'Humid = _message("HUMID", 0x28, SHOE, "<4sHB", "t_us humidity place")\n' + _OLD_SEAT
    )


def card(draw: int, *more: int) -> "schema.Card":
    """As `faulty_line.card`, which MicroPython cannot import; `more`: fields of a later release."""
    make: Any = schema.Card
    made: schema.Card = make(
        draw >> 8,
        draw & 0xFFFF,
        schema.word(draw * 500000 & 0xFFFFFFFF),
        schema.word(draw % 52),
        draw & 3,
        schema.WAY_DOWN,
        draw % 9 + 1,
        schema.ORIGIN_LANE,
        60,
        0,
        900,
        0,
        *more,
    )
    return made


def report(shoe: "link.Link", draw: int) -> None:
    """What a draw makes."""
    humid: Any = schema.TYPES.get(NEWER_KIND)
    if humid is None:
        shoe.report(card(draw))
    else:
        shoe.report(card(draw, WEAR))
        shoe.report(humid(bytes(4), 400 + draw, 2))


def main() -> None:
    """Turn until the parent closes the pipe."""
    nonces = [0]

    def entropy(length: int) -> bytes:
        nonces[0] += 1
        return bytes([nonces[0]]) * length

    ident = schema.Ident(b"upython!", b"0.1.0\0\0\0\0\0\0\0", bytes(16))
    keys = {ident.device: bytes.fromhex(sys.argv[1])} if len(sys.argv) > 1 else None
    shoe = link.Link(schema.SHOE, ident, entropy, journal.Journal(b"upyj"), keys=keys)
    signal = 255
    started = False
    while True:
        head = sys.stdin.buffer.read(8)
        if len(head) < 8:
            return
        now, draw, length = struct.unpack("<IHH", head)
        if not started:
            started = True
            shoe.start(now)
        data = sys.stdin.buffer.read(length)
        for what in shoe.receive(data, now):
            if type(what) is notice.Delivered and type(what.message) is schema.Signal:
                signal = what.message.signal
        if draw:
            report(shoe, draw)
        shoe.poll(now)
        out = shoe.take()
        sys.stdout.buffer.write(struct.pack("<BBHH", signal, shoe.up, shoe.journal.held(), len(out)) + out)
        if hasattr(sys.stdout.buffer, "flush"):
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
