"""For MicroPython: from the sensor's values to the frame of an event in the output, nothing is allocated."""

import struct

import micropython  # type: ignore[import-not-found]
from shoelink import frame, journal, link, schema

shoe = link.Link(
    schema.SHOE, schema.Ident(bytes(8), bytes(12), bytes(16)), lambda n: b"s" * n, journal.Journal(b"jrnl")
)
shoe.start(0)
shoe.poll(0)
shoe.take()
hello = schema.Hello(1, 0, schema.SCHEMA, b"jrnl", b"host", 0, 0, 1, 256, b"hhhhhhhh", b"ssss")
ident = schema.Ident(bytes(8), bytes(12), bytes(16))
for message in (hello, ident):
    kind = schema.KIND_OF[type(message)] | schema.FROM_HOST
    shoe.receive(frame.encode(kind, 0, 0, 0, schema.pack(message)), 1)
shoe.poll(1)
shoe.take()
assert shoe.up

LAYOUT = schema.LAYOUTS[schema.CARD]
T_US, TOKEN = b"\xff\xff\xff\xff", b"\x33\x00\x00\x00"


def sense(now: int) -> int:
    """What the firmware does when a card has left."""
    at = shoe.open(schema.CARD, 21)
    struct.pack_into(LAYOUT, shoe.journal.buffer, at, 7, 12, T_US, TOKEN, 1, 0, 3, 1, 60, 0, 900, 0)
    number = shoe.journal.close()
    shoe.poll(now)
    return number


sense(2)
before = shoe.ready
micropython.heap_lock()
sense(3)
shoe.poll(4)
micropython.heap_unlock()
assert shoe.ready == 2 * before, shoe.ready
print("nothing allocated")
