"""A shoe of a later release, for both interpreters: its schema has one field and one kind more than its host's.

Turned over stdin and stdout as `shoe_process.py` is. Every draw is a CARD with the new field and a report of the new
kind. The first argument is a folder with a `shoelink` whose schema `newer_schema` has changed.
"""

import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OLD_CARD = '"hand draw t_us token deck way_up target origin certainty flags speed erasures",'
OLD_SEAT = "Seat = _message("
KIND = 0x28


def newer_schema(text: str) -> str:
    """A schema file, grown as a later release would grow it."""
    text = text.replace(OLD_CARD, OLD_CARD.replace("erasures", "erasures wear"))
    text = text.replace('"<HH4s4sBBBBBBHB",', '"<HH4s4sBBBBBBHBB",')
    return text.replace(OLD_SEAT, 'Humid = _message("HUMID", 0x28, SHOE, "<4sHB", "t_us humidity place")\n' + OLD_SEAT)


def main() -> None:
    """Turn until the parent closes the pipe."""
    sys.path.insert(0, sys.argv[1])
    from shoelink import journal, link, schema

    nonces = [0]

    def entropy(length: int) -> bytes:
        nonces[0] += 1
        return bytes([nonces[0]]) * length

    ident = schema.Ident(b"newer!!!", b"0.9.0\0\0\0\0\0\0\0", bytes(16))
    shoe = link.Link(schema.SHOE, ident, entropy, journal.Journal(b"newj"))
    started = False
    while True:
        head = sys.stdin.buffer.read(8)
        if len(head) < 8:
            return
        now, draw, length = struct.unpack("<IHH", head)
        if not started:
            started = True
            shoe.start(now)
        shoe.receive(sys.stdin.buffer.read(length), now)
        if draw:
            card: Any = schema.Card
            humid: Any = schema.TYPES[KIND]
            shoe.report(card(1, draw, bytes(4), schema.word(draw), 0, 0, 3, 1, 60, 0, 900, 0, 77))
            shoe.report(humid(bytes(4), 400 + draw, 2))
        shoe.poll(now)
        out = shoe.take()
        sys.stdout.buffer.write(struct.pack("<BBHH", 255, shoe.up, shoe.journal.held(), len(out)) + out)
        if hasattr(sys.stdout.buffer, "flush"):
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
