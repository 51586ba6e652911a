"""Cards with printed strips moved past sensors, for the firmware's tests: written from the paper, not from the code.

The numbers are those of `hardware/card-code.md`; nothing is imported from the firmware or from the emulator, so that
two readings of the page meet here. A `Card` is dark stretches on tracks; a `ride` is where its leading edge is at
each sample; together they are the bytes that a sampler gives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

LENGTH = 63.5  # mm of travel
HEAD_AT, LIP_AT = 12.0, 24.0  # mm from the throat slot
CODE_AT = 9.25  # mm from the leading edge
CELL = 2.5
SAMPLE_S = 50e-6
CLK, DATA, NDATA, TOP_CLK, TOP_DATA, THROAT, LIP = (1 << bit for bit in range(7))
BELOW = (("clk", CLK), ("data", DATA), ("ndata", NDATA))
ABOVE = (("clk", TOP_CLK), ("data", TOP_DATA))
STEP = 0.01  # mm: the grain of the modelled card

Stretch = tuple[float, float]


def remainder_2f(byte: int) -> int:
    """CRC8H2F as the long division of the definition: start FF, polynomial 12F, result inverted."""
    dividend = (byte ^ 0xFF) << 8
    for shift in range(15, 7, -1):
        if dividend >> shift & 1:
            dividend ^= 0x12F << (shift - 8)
    return dividend ^ 0xFF


def check_of(byte: int) -> int:
    """The check byte of hardware/card-code.md: the CRC with its bit 5 the other way about."""
    return remainder_2f(byte) ^ 0x20


def bits_of(card: int, deck: int) -> list[int]:
    """The sixteen bits between start and stop."""
    byte = card << 2 | deck
    return [int(bit) for bit in f"{byte:08b}{check_of(byte):08b}"]


@dataclass
class Card:
    """Dark stretches in mm from the leading edge, a track; `flip` is applied to a track's levels last."""

    clk: list[Stretch] = field(default_factory=list)
    data: list[Stretch] = field(default_factory=list)
    ndata: list[Stretch] = field(default_factory=list)
    light: dict[str, list[Stretch]] = field(default_factory=dict)  # scratches: light over everything, a track
    boxed: bool = False

    def track(self, name: str) -> tuple[list[Stretch], list[Stretch]]:
        return getattr(self, name), self.light.get(name, [])

    def smudge(self, track: str, start: float, end: float) -> None:
        """Dark dirt, mm from the leading edge."""
        getattr(self, track).append((start, end))

    def scratch(self, track: str, start: float, end: float) -> None:
        """The print is gone, or glares, mm from the leading edge."""
        self.light.setdefault(track, []).append((start, end))


def cell_at(cell: int) -> float:
    """Where a cell begins, mm from the leading edge."""
    return CODE_AT + cell * CELL


def print_card(card: int, deck: int = 0, *, mirrored: bool = False, boxed: bool = False) -> Card:
    """A card with its strip. `mirrored`: the strip runs the other way."""
    paper = Card(boxed=boxed)
    kinds = ["start", *bits_of(card, deck), "stop"]
    for cell, kind in enumerate(kinds):
        start = cell_at(cell)
        paper.clk.append((start, start + CELL / 2))
        if kind in ("start", 1):
            paper.data.append((start, start + CELL))
        if kind in ("start", 0):
            paper.ndata.append((start, start + CELL))
    if mirrored:
        for track in (paper.clk, paper.data, paper.ndata):
            track[:] = [(LENGTH - b, LENGTH - a) for a, b in track]
    return paper


def _paint(line: bytearray, stretches: Iterable[Stretch], bit: int, low: float, dark: bool) -> None:
    for a, b in stretches:
        first, last = round((a - low) / STEP), round((b - low) / STEP)
        for i in range(max(first, 0), min(last, len(line))):
            line[i] = line[i] | bit if dark else line[i] & ~bit


class Scene:
    """Cards that move together past the sensors: each a lag in mm behind the first."""

    LOW = -30.0  # mm of the first leading edge

    def __init__(self, cards: Sequence[tuple[Card, float]], stuck: int = 0):
        reach = max(lag for _, lag in cards) + LENGTH + LIP_AT + 60
        self._levels = bytearray(int((reach - self.LOW) / STEP))
        for card, lag in cards:
            head = HEAD_AT + lag
            for name, bit in ABOVE if card.boxed else BELOW:
                dark, light = card.track(name)
                _paint(self._levels, [(a + head, b + head) for a, b in dark], bit, self.LOW, True)
                _paint(self._levels, [(a + head, b + head) for a, b in light], bit, self.LOW, False)
            for bit, place in ((THROAT, 0.0), (LIP, LIP_AT)):
                _paint(self._levels, [(place + lag, place + lag + LENGTH)], bit, self.LOW, True)
        if stuck:
            self._levels = bytearray(level | stuck for level in self._levels)

    def samples(self, ride: Iterable[float]) -> bytes:
        """The sampler's bytes while the first leading edge goes through these places."""
        levels, low, top = self._levels, self.LOW, len(self._levels) - 1
        return bytes(levels[min(max(int((x - low) / STEP), 0), top)] for x in ride)


Speed = Callable[[float], float]


def ride(legs: Sequence[tuple[float, float, float]], start: float = -5.0, phase: float = 0.0) -> list[float]:
    """Places of the leading edge at each sample. A leg is (mm to go, signed; mm/s at its beginning; mm/s at its end):
    speed changes evenly with time. A leg of 0 mm is a rest of `first number` seconds given as (0, seconds, 0)."""
    places = []
    x = start
    t = phase * SAMPLE_S
    for distance, first, last in legs:
        if distance == 0:
            while t < first:
                places.append(x)
                t += SAMPLE_S
            t -= first
            continue
        sign = 1 if distance > 0 else -1
        lasts = 2 * abs(distance) / (first + last)
        slope = (last - first) / lasts
        while t < lasts:
            places.append(x + sign * (first * t + slope * t * t / 2))
            t += SAMPLE_S
        t -= lasts
        x += distance
    return places


def random_ride(rng: random.Random, slowest: float = 300, fastest: float = 3000, most_g: float = 3) -> list[float]:
    """A draw at 0.3 to 3 m/s with changing speed: legs of 5 to 30 mm, speeding up or slowing down by up to `most_g`."""
    x, v = -5.0, rng.uniform(slowest, fastest)
    legs = []
    while x < LENGTH + LIP_AT + 30:
        leg = rng.uniform(5, 30)
        pull = rng.uniform(-most_g, most_g) * 9810
        faster = min(max((max(v * v + 2 * pull * leg, 1.0)) ** 0.5, slowest), fastest)
        legs.append((leg, v, faster))
        x, v = x + leg, faster
    return ride(legs, phase=rng.random())


def pieces(data: bytes, sizes: Iterable[int]) -> Iterable[bytes]:
    """The same bytes cut up."""
    at = 0
    for size in sizes:
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size
    while at < len(data):
        yield data[at : at + 256]
        at += 256
