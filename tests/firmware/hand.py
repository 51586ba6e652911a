"""How a hand moves a card, smoothly: places of its leading edge at every sample, for the simulated passes.

A hand goes from one speed to the next in a smooth bend (the velocity is a cubic in time), so acceleration and jerk are
finite. A rest or a turn is a bend through speed 0, and can be put at any place of the card.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from firmware.magnitudes import Magnitudes
from numpy.typing import NDArray

SAMPLE_MS = 0.05
START = -5.0  # mm: the leading edge before the pull
G = 9.81e-3  # mm/ms²

Places = NDArray[np.float64]
Knot = tuple[float, float]  # ms from the one before, mm/ms then


class Hand:
    """Draws motions. `size` are the magnitudes of `hardware/faults.toml`."""

    def __init__(self, rng: random.Random, size: Magnitudes):
        self._rng = rng
        self._size = size

    def _next(self, speed: float) -> Knot:
        """A bend to another speed within the range, no harder than the acceleration allows."""
        low, high = self._size.range("speed")
        lasts = self._size.draw("swing", self._rng)
        most = self._size.high("acceleration") * G * lasts / 1.5  # a cubic bend is at most 1.5 times as hard as a line
        return lasts, min(max(speed + self._rng.uniform(-most, most), low), high)

    def _stretch(self, speed: float, way: float) -> list[Knot]:
        """Bends that lead at least so far on."""
        knots: list[Knot] = []
        gone = 0.0
        while gone < way:
            knots.append(self._next(speed))
            gone += knots[-1][0] * (speed + knots[-1][1]) / 2
            speed = knots[-1][1]
        return knots

    def draw(self, way: float) -> Places:
        """Out in one go, over `way` mm."""
        speed = self._size.draw("speed", self._rng)
        return self._places([(0.0, speed), *self._stretch(speed, way - START)], START)

    def halting(self, way: float, at: float, back: bool) -> Places:
        """The leading edge comes to rest at `at`, is drawn back a little if `back`, once or twice, and goes out over
        `way` mm."""
        rng = self._rng
        speed = self._size.draw("speed", rng)
        before = self._stretch(speed, at - START + 20)
        knots = [(0.0, speed), *before]
        knots.append((self._size.draw("swing", rng), 0.0))
        stops = sum(lasts for lasts, _ in knots)
        if rng.random() < 0.7:
            knots.append((self._size.draw("rest", rng), 0.0))
        again = 0.0
        if back:
            again = self._size.draw("back", rng)
            knots += self._moved(again, -1)
            if rng.random() < self._size.high("back_twice"):
                out = rng.uniform(0.0, again)
                back_again = self._size.draw("back", rng)
                knots += self._moved(out, 1) + self._moved(back_again, -1)
                again += back_again - out
        speed = self._size.draw("speed", rng)
        knots.append((self._size.draw("swing", rng), speed))
        knots += self._stretch(speed, way - at + again)
        return self._places(knots, at, stops)

    def _moved(self, mm: float, sign: int) -> list[Knot]:
        """From rest so far out (1) or back (-1), to rest, which may last."""
        rng = self._rng
        speed = self._size.draw("speed", rng)
        bend = min(self._size.draw("swing", rng), mm / speed)  # both bends together go as far as one at speed
        over = mm - speed * bend
        knots = [(bend, sign * speed), (over / speed, sign * speed), (bend, 0.0)]
        if rng.random() < 0.5:
            knots.append((self._size.draw("rest", rng), 0.0))
        return knots

    def _places(self, knots: Sequence[Knot], at: float, when: float = 0.0) -> Places:
        """The places at each sample of the motion that is at `at` after `when` ms, from START on."""
        lasts = np.array([knot[0] for knot in knots])
        speeds = np.array([knot[1] for knot in knots])
        ends = np.cumsum(lasts)
        times = np.arange(self._rng.random() * SAMPLE_MS, ends[-1], SAMPLE_MS)
        bend = np.minimum(np.searchsorted(ends, times, side="right"), len(knots) - 1)
        part = (times - ends[bend - 1]) / np.maximum(lasts[bend], 1e-9)
        first, change = speeds[bend - 1], speeds[bend] - speeds[bend - 1]
        covered = np.concatenate(([0.0], np.cumsum((speeds[1:] + speeds[:-1]) / 2 * lasts[1:])))
        # the integral of 3u² - 2u³ is u³ - u⁴/2
        places = covered[bend - 1] + lasts[bend] * (first * part + change * part**3 * (1 - part / 2))
        if when:
            places += at - np.interp(when, times, places)
            begins = int(np.argmax(places >= START))
            return np.asarray(places[begins:], np.float64)
        return np.asarray(places + at, np.float64)
