"""What a passage tells, written down for tests, and the firmware's modules as tests use them (untyped on purpose)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

from firmware.physics import pieces

cardcode: Any = import_module("shoe.cardcode")
passage: Any = import_module("shoe.passage")
strip: Any = import_module("shoe.strip")


class Left(NamedTuple):
    """A card has left."""

    at: int
    card: int | None  # None: not read
    deck: int | None
    boxed: bool
    reversed: bool
    erasures: int
    speed: int
    double: bool


class Back(NamedTuple):
    at: int
    distance: int
    had_left: bool


class Other(NamedTuple):
    """stopped, moved, odd, missed, dirty, with its number."""

    at: int
    what: str
    detail: int


Told = Left | Back | Other


class Listener:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Told] = []

    def left(self, p: Any) -> None:
        below, above = p.below, p.above
        boxed = below.result != cardcode.READ and above.result == cardcode.READ
        reading = above if boxed else below
        read = reading.result == cardcode.READ
        self.told.append(
            Left(
                p.at,
                reading.card if read else None,
                reading.deck if read else None,
                boxed,
                reading.reversed,
                reading.erasures,
                p.speed,
                p.double,
            )
        )

    def back(self, p: Any) -> None:
        self.told.append(Back(p.at, p.distance, p.had_left))

    def stopped(self, p: Any, slots: int) -> None:
        self.told.append(Other(p.at, "stopped", slots))

    def moved(self, p: Any) -> None:
        self.told.append(Other(p.at, "moved", 0))

    def odd(self, p: Any, marks: int) -> None:
        self.told.append(Other(p.at, "odd", marks))

    def missed(self, p: Any, slot: int) -> None:
        self.told.append(Other(p.at, "missed", slot))

    def dirty(self, p: Any, bits: int) -> None:
        self.told.append(Other(p.at, "dirty", bits))


def told_of(samples: bytes, sizes: Iterable[int] = (), clock: Any = None) -> list[Told]:
    """What the passage tells of these samples, cut into pieces of `sizes` (then of 256)."""
    listener = Listener()
    following = passage.Passage(listener, clock)
    for piece in pieces(samples, sizes):
        following.feed(piece, len(piece))
    return listener.told


def the_card(samples: bytes) -> Left:
    """The one card that left; fails if anything else was told."""
    told = told_of(samples + bytes(8))
    assert len(told) == 1, told
    assert isinstance(told[0], Left), told
    return told[0]
