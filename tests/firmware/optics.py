"""What the sensors make of a card: reflectance under a spot, amplifier, comparator, slots. For the simulated passes.

`Paper` is what is on a card's edge as reflectance every 0.05 mm; a `Window` is one shoe's sensors, built with its
tolerances; `Window.samples` are the bytes of the sampler while cards go past. The numbers of the code come from
`physics.py`, which was written from the page; the magnitudes from `hardware/faults.toml`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from firmware.hand import SAMPLE_MS, Places
from firmware.magnitudes import Magnitudes
from firmware.physics import HEAD_AT, LENGTH, LIP, LIP_AT, THROAT, Stretch, print_card
from numpy.typing import NDArray

GRAIN = 0.05  # mm
BEFORE = 4.0  # mm of window modelled on both sides of a card,
AROUND = 2.0  # and looked at: a spot reaches 1.5 mm
EDGES = np.arange(round((LENGTH + 2 * BEFORE) / GRAIN) + 1) * GRAIN - BEFORE
TRACKS = ("clk", "data", "ndata")
EDGE_MM = 0.4
WIDE, CLK_AT = (
    88.9,
    4.0,
)  # mm: a card across the travel; CLK from the short edge, the left one below, the right one above

Row = NDArray[np.float32]


def covered(stretches: Sequence[Stretch]) -> Row:
    """How much of each grain lies in one of the stretches (mm from the leading edge)."""
    places, lengths = [-1e3], [0.0]
    for start, end in sorted(stretches):
        start = max(start, places[-1])
        if end > start:
            places += [start, end]
            lengths += [lengths[-1], lengths[-1] + end - start]
    return np.asarray(np.diff(np.interp(EDGES, places, lengths)) / GRAIN, np.float32)


ON_CARD = covered([(0.0, LENGTH)])
CUT = covered([(0.0, EDGE_MM), (LENGTH - EDGE_MM, LENGTH)])


@cache
def printed_rows(card: int, deck: int, mirrored: bool) -> tuple[Row, Row, Row]:
    """Where the three tracks of a card's strip are dark."""
    paper = print_card(card, deck, mirrored=mirrored)
    return covered(paper.clk), covered(paper.data), covered(paper.ndata)


NO_PRINT = (np.zeros_like(ON_CARD),) * 3


@dataclass
class Paper:
    """One edge of one card: what its three tracks reflect, and the tolerance of its print."""

    rows: list[Row]
    boxed: bool = False
    shift: float = 0.0
    stretch: float = 1.0

    def on_print(self, along: Places) -> Places:
        """Where on the strip these places of the card are: the print may be out of place and out of scale."""
        return (along - self.shift - LENGTH / 2) / self.stretch + LENGTH / 2


@cache
def spot(grains: float) -> Row:
    """A Gaussian spot of this standard deviation in grains."""
    reach = math.ceil(3.5 * grains)
    at = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (at / grains) ** 2)
    return np.asarray(weights / weights.sum(), np.float32)


class Press:
    """Prints cards' edges, and uses them."""

    def __init__(self, rng: random.Random, size: Magnitudes):
        self._rng = rng
        self._size = size

    def edge(self, code: tuple[int, int] | None, *, boxed: bool = False, mirrored: bool = False) -> Paper:
        """A fresh edge; None: without a code."""
        rng, size = self._rng, self._size
        white = size.draw("white", rng)
        dark = size.draw("dark", rng)
        light = ON_CARD * np.float32(white) * (1 - np.float32(size.up_to("card_edge", rng)) * CUT)
        print_rows = NO_PRINT if code is None else printed_rows(*code, mirrored)
        rows = [light * (1 - row) + np.float32(dark) * row for row in print_rows]
        stretch = 1 + size.either("print_stretch", rng)
        return Paper(rows, boxed, size.either("print_shift", rng), stretch)

    def handle(self, paper: Paper) -> None:
        """Grease: less contrast over the whole edge."""
        lost = self._size.up_to("grease", self._rng)
        for at, row in enumerate(paper.rows):
            paper.rows[at] = row * np.float32(1 - lost) + np.float32(lost / 3) * ON_CARD

    def soil(self, paper: Paper, most: int) -> None:
        """Up to so many specks and scratches, each over one track or all three."""
        rng = self._rng
        for _ in range(rng.randint(1, most)):
            start = rng.uniform(6, 56)
            low, high = self._size.range("speck")
            long = rng.uniform(low, 1.2) if rng.random() < 0.5 else rng.uniform(1.2, high)
            tracks = (rng.randrange(3),) if rng.random() < 0.7 else range(3)
            reflects = rng.uniform(*self._size.range("dark" if rng.random() < 0.5 else "white"))
            hides = covered([(start, start + long)]) * np.float32(self._size.draw("speck_depth", rng))
            for track in tracks:
                paper.rows[track] = paper.rows[track] * (1 - hides) + np.float32(reflects) * hides

    def invert(self, paper: Paper, cells: Sequence[Stretch]) -> None:
        """Make stretches of the strip show the opposite bit, as no dirt would: only the code itself can tell."""
        for start_mm, end_mm in cells:
            there = covered([(start_mm, end_mm)])
            data, ndata = paper.rows[1], paper.rows[2]
            paper.rows[1] = data * (1 - there) + ndata * there
            paper.rows[2] = ndata * (1 - there) + data * there


class Window:
    """One shoe's heads and slots, with the tolerances that it was built with."""

    def __init__(self, rng: random.Random, size: Magnitudes):
        self._rng = rng
        self._size = size
        self._noise = np.random.default_rng(rng.getrandbits(64))
        self._head = [HEAD_AT + size.either("head_place", rng) for _ in range(2)]
        self._lip = LIP_AT + size.either("head_place", rng)
        self._unseen = [size.up_to("slot_unseen", rng) for _ in range(2)]  # mm: a narrower gap between cards is none
        self._track = [size.either("track_place", rng) for _ in range(5)]
        self._threshold = [size.draw("threshold", rng) for _ in range(5)]
        self._hysteresis = [size.draw("hysteresis", rng) for _ in range(5)]
        self._spot = [round(size.draw("spot", rng) / GRAIN, 1) for _ in range(2)]
        soft = SAMPLE_MS * 1000 / size.draw("soft", rng)
        taps = np.exp(-soft * np.arange(6)) * (1 - math.exp(-soft))
        self._soft = (taps / taps.sum()).astype(np.float32)
        self._sigma = np.float32(size.draw("noise", rng))
        self._plate = np.float32(size.draw("window", rng))

    def samples(self, cards: Sequence[tuple[Paper, float]], places: Places, flash: bool = False) -> bytes:
        """The sampler's bytes while the first leading edge goes through `places`; each card is so many mm behind it.

        They lie on each other as they are given, from the bottom up: the nearest to a head hides the others from it."""
        n = len(places)
        size, rng = self._size, self._rng
        skew = math.tan(math.radians(size.either("skew", rng)))
        outside = self._outside(n, flash)
        levels = np.zeros(n, np.uint8)
        back = size.draw("white" if rng.random() < 0.5 else "dark", rng)
        lags = [lag for _, lag in cards]
        for slot, at, unseen in ((THROAT, 0.0, self._unseen[0]), (LIP, self._lip, self._unseen[1])):
            for lag in lags:
                end = lag + LENGTH
                end += unseen if any(end <= other < end + unseen for other in lags) else 0.0
                levels[(places >= lag + at) & (places < end + at)] |= slot
        for sensor in range(5):
            above = sensor >= 3
            track = sensor - 3 if above else sensor
            light = np.full(n, self._plate, np.float32)
            across = track * size.high("track_pitch")  # from the slots, which are beside the bottom head's CLK
            aside = self._head[above] + self._track[sensor] + skew * (WIDE - 2 * CLK_AT - across if above else across)
            hidden: list[tuple[float, float]] = []
            for paper, lag in reversed(cards) if above else cards:
                along = places - (aside + lag)
                here = (along > -AROUND) & (along < LENGTH + AROUND)
                for start, end in hidden:
                    here &= ~((along + lag >= start) & (along + lag < end))
                if paper.boxed == above:
                    row = paper.rows[track] + (1 - ON_CARD) * self._plate
                    row = np.convolve(row, spot(self._spot[above]), "same")
                    light[here] = np.interp(paper.on_print(along[here]), EDGES[:-1] + GRAIN / 2, row)
                else:
                    light[here & (along >= 0) & (along < LENGTH)] = back
                hidden.append((lag, lag + LENGTH))
            seen = np.convolve(light / self._plate, self._soft)[:n] + outside
            seen += self._noise.standard_normal(n, np.float32) * self._sigma
            levels |= self._compare(seen, sensor).astype(np.uint8) << sensor
        return levels.tobytes()

    def _outside(self, n: int, flash: bool) -> Row:
        """Light that is not ours."""
        rng, size = self._rng, self._size
        ripple = size.up_to("lamps", rng)
        hertz = rng.choice((100, 120))
        phase = rng.uniform(0, math.tau)
        ours = ripple * (1 + np.sin(np.arange(n) * (math.tau * hertz * SAMPLE_MS / 1000) + phase)) / 2
        if flash:
            begins = rng.randrange(n)
            ours[begins : begins + round(size.draw("flash", rng) / SAMPLE_MS)] += size.draw("dim_flash", rng)
        return np.asarray(ours, np.float32)

    def _compare(self, seen: Row, sensor: int) -> NDArray[np.bool_]:
        """1 where the comparator says dark. Light gives a low-going level; a level stays until the other is passed."""
        level, half = self._threshold[sensor], self._hysteresis[sensor]
        told = np.zeros(len(seen), np.int8)
        told[seen < level - half] = 1
        told[seen > level + half] = -1
        known = np.maximum.accumulate(np.where(told != 0, np.arange(len(seen)), 0))
        return np.asarray(told[known] > 0)
