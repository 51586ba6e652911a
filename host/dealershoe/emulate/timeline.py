"""What the model says to the stand-in hardware and what comes back: the bytes of both directions, for EmulatedShoe.

The other end is `hal/_model.py`, which runs on MicroPython and cannot import this; a test holds the two together.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from dealershoe.emulate.mechanics import NO_TAGS, Run
from dealershoe.emulate.parts import EVERY_FAILURE

LIGHT = 60000  # ADC reading of the double-feed receiver with no card in the way; each card halves it
NO_KEY = 65535 * 7 // 8  # ADC reading of the key ladder at rest
AMBIENT, DAZZLED = 3000, 60000  # ADC readings of the ambient light
KEYS = ("new-hand", "action", "betting-complete", "exposed", "done", "floor")
_RECORD = struct.Struct("<BBBBHI")


class Record(IntEnum):
    """A record of the timeline."""

    LEVELS, BUS, KEYS, AMBIENT, MARK, PIN, ARRIVED, FAIL, TAG = range(9)


class Output(IntEnum):
    """What the shoe puts out."""

    PIN, PWM, BITS, MARK, WATCHDOG, RESET, RATE, SENT, RECEIVED = range(9)


def levels(runs: Iterable[Run], tags: frozenset[int] = NO_TAGS) -> bytes:
    """Sensor levels, each for its number of samples. `tags`: those that lay in the reader's field until now."""
    told = bytearray()
    for samples, now in runs:
        for tag in tags ^ now.tags:
            told += _RECORD.pack(Record.TAG, tag in now.tags, 0, 0, 0, tag)
        tags = now.tags
        told += _RECORD.pack(Record.LEVELS, now.pins, now.lanes, 0, LIGHT >> now.layers, samples)
    return bytes(told)


def arrival(place: int, face_up: bool, delay: int) -> bytes:
    """A card comes to lie at a place, as its node sees it, `delay` samples from this point of the timeline."""
    return _RECORD.pack(Record.BUS, place, face_up, 0, 0, delay)


def fail(part: str, how: str) -> bytes:
    """A part fails from now on in one of the ways of `parts.EVERY_FAILURE`."""
    return _RECORD.pack(Record.FAIL, EVERY_FAILURE.index((part, how)), 1, 0, 0, 0)


def mend(part: str) -> bytes:
    """A part that can fail works again."""
    way = next(number for number, (other, _) in enumerate(EVERY_FAILURE) if other == part)
    return _RECORD.pack(Record.FAIL, way, 0, 0, 0, 0)


def key(name: str | None) -> bytes:
    """A key goes down, or (None) up: a ladder of equal steps, with the wire at ground and the wire off as its ends."""
    return _RECORD.pack(Record.KEYS, 0, 0, 0, ladder(name), 0)


def ladder(name: str | None) -> int:
    """The ADC reading while that key is down."""
    return NO_KEY if name is None else 65535 * (1 + KEYS.index(name)) // (2 + len(KEYS))


def lower(names: Sequence[str]) -> str:
    """Which of several keys that are down the ladder shows."""
    return min(names, key=KEYS.index)


def ambient(reading: int) -> bytes:
    """Light that falls on the heads from outside, as an ADC reading."""
    return _RECORD.pack(Record.AMBIENT, 0, 0, 0, reading, 0)


def switch(pin: int, level: int) -> bytes:
    """An input pin that is none of the sensors."""
    return _RECORD.pack(Record.PIN, pin, level, 0, 0, 0)


def mark(number: int) -> bytes:
    """Say so when the timeline has come to this point."""
    return _RECORD.pack(Record.MARK, 0, 0, 0, 0, number)


def arrived() -> bytes:
    """Nothing further before every card that flies has arrived."""
    return _RECORD.pack(Record.ARRIVED, 0, 0, 0, 0, 0)


def outputs(buffer: bytearray) -> Iterator[tuple[Output, bytes]]:
    """Take the whole outputs off the front of `buffer`."""
    while len(buffer) >= 3:
        kind, length = struct.unpack_from("<BH", buffer)
        if len(buffer) < 3 + length:
            return
        data = bytes(buffer[3 : 3 + length])
        del buffer[: 3 + length]
        yield Output(kind), data
