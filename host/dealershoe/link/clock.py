"""The shoe's clock on the host's: when did an event happen, and how wrong can that be? Pure; for the bridge.

A PING carries the host's time, its PONG the shoe's. What a round trip proves is an interval: the shoe's clock was read
after the PING was sent and before the PONG came. All intervals together, each widened by what two crystals can have
drifted since, give the bound that is stored beside each event. Inside it the best guess is the round trip that took
least in the last 30 seconds, carried on with the skew that a regression finds.
"""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import NamedTuple

DRIFT = 100e-6  # most that the two clocks part: a Pico's crystal and its temperature ±50 ppm, the host's the same
WINDOW_US = 30_000_000
LATE_US = 250_000  # a round trip that took longer says nothing that the next one does not say better
SAMPLE_US = 50  # the shoe's clock counts samples of 50 µs
# How far the shoe's stamp can be behind its clock: the sampler's DMA moves words of four samples, and the stamp is
# taken just before the line is read.
LAG_US = 400
OUTLIERS = 8  # impossible round trips in a row: the clock is another one than it was
SKEW_US = 1_000_000  # between two regressions: no crystal changes faster, and each goes over all round trips
LEAST, SPAN_US = 8, 5_000_000  # round trips, and the time between the first and the last, that make a skew
_WRAP = 1 << 32
_AHEAD_US = 1_000_000  # an event can seem to be so far in the future; anything beyond is of the round before


class When(NamedTuple):
    """A time on the host's monotonic clock, in microseconds, and how far the truth can be from it either way."""

    mono_us: int
    uncertainty_us: int


class _Trip(NamedTuple):
    at: int  # host's time, the middle
    offset: float  # shoe minus host
    took: int


_took = attrgetter("took")


class Clock:
    """The clock of one boot of a shoe. Stamps are microseconds modulo 2^32, host times microseconds that never wrap."""

    def __init__(self, drift: float = DRIFT, lag_us: int = LAG_US) -> None:
        self.used = 0  # round trips
        self.late = 0
        self.again = 0  # PONGs of a PING that was answered before
        self.outliers = 0
        self._drift = drift
        self._lag_us = lag_us
        self._trips: deque[_Trip] = deque()
        self._best = _Trip(0, 0.0, 0)
        self._at = 0  # when the interval was
        self._low = self._high = 0.0  # shoe minus host
        self._newest = -1  # the PING that was answered last
        self._strange = 0
        self._skew = 0.0
        self._skewed_at = -SKEW_US  # the newest round trip that it was worked out from

    @property
    def known(self) -> bool:
        """Whether a round trip has been seen."""
        return bool(self._trips)

    def pong(self, ping: int, received: int, sent: int, now_us: int) -> bool:
        """A PONG has come at `now_us`, with its three stamps. Returns whether it is used."""
        began = _latest(ping, now_us)
        stayed = (sent - received) % _WRAP
        took = now_us - began - stayed
        if began <= self._newest:
            self.again += 1
            return False
        self._newest = began
        if took < -self._lag_us - SAMPLE_US or took > LATE_US or stayed > LATE_US:
            self.late += 1
            return False
        near = began if not self._trips else round(began + self.offset_us(began))
        received = received if not self._trips else _nearest(received, near)
        apart = self._drift * (now_us - began)  # the stamps were taken before or after the middle
        low, high = received + stayed - now_us - apart, received + self._lag_us + SAMPLE_US - began + apart
        middle = (began + now_us) // 2
        if self._trips and not self._agrees(low, high, middle):
            return False
        self._strange = 0
        self._add(low, high, middle, took)
        return True

    def offset_us(self, at_us: int) -> float:
        """The best guess of shoe minus host at a host's time."""
        return self._best.offset + self.skew * (at_us - self._best.at)

    @property
    def skew(self) -> float:
        """How much faster the shoe's clock is: 1e-6 is a microsecond a second. 0 until enough is known."""
        newest = self._trips[-1].at if self._trips else 0
        if newest - self._skewed_at >= SKEW_US:
            self._skew = _slope(self._trips, self._drift)
            self._skewed_at = newest
        return self._skew

    def when(self, t_us: int, now_us: int) -> When | None:
        """The host's time of an event stamped `t_us`, at most 71 minutes before `now_us`. None: nothing known yet."""
        if not self._trips:
            return None
        shoe = _latest(t_us, round(now_us + self.offset_us(now_us)))
        at = round(shoe - self.offset_us(now_us))
        low, high = self._interval(at)
        guess = min(max(self.offset_us(at), low), high)
        # The stamp is the beginning of its sample.
        earliest, latest = shoe - high, shoe + SAMPLE_US - low
        mono = round(shoe + SAMPLE_US / 2 - guess)
        # `at` may be as wrong as the answer, and the interval be wider there by as much drift.
        return When(mono, int(max(latest - mono, mono - earliest) * (1 + self._drift)) + 1)

    # ---- the interval

    def _interval(self, at_us: int) -> tuple[float, float]:
        apart = self._drift * abs(at_us - self._at)
        return self._low - apart, self._high + apart

    def _agrees(self, low: float, high: float, at_us: int) -> bool:
        """Whether a round trip can be true beside those before it; too many that cannot, and those are forgotten."""
        was_low, was_high = self._interval(at_us)
        if low <= was_high and high >= was_low:
            return True
        self.outliers += 1
        self._strange += 1
        if self._strange >= OUTLIERS:
            self._trips.clear()
            self._strange = 0
        return False

    def _add(self, low: float, high: float, at_us: int, took: int) -> None:
        self.used += 1
        offset = (low + high) / 2
        if self._trips:
            was_low, was_high = self._interval(at_us)
            low, high = max(low, was_low), min(high, was_high)
        self._at, self._low, self._high = at_us, low, high
        self._trips.append(_Trip(at_us, offset, took))
        while self._trips[0].at < at_us - WINDOW_US:
            self._trips.popleft()
        self._best = min(self._trips, key=_took)


def _nearest(low: int, near: int) -> int:
    """The number nearest to `near` that is `low` modulo 2^32."""
    return near + (low - near + _WRAP // 2) % _WRAP - _WRAP // 2


def _latest(low: int, now: int) -> int:
    """The last number before `now` (or a second after it) that is `low` modulo 2^32."""
    last = now + _AHEAD_US
    return last - (last - low) % _WRAP


def _slope(trips: deque[_Trip], limit: float) -> float:
    """The skew by least squares over the quicker half of the round trips, within ± `limit`; 0 for too few."""
    quick = sorted(trip.took for trip in trips)[len(trips) // 2]
    points = [(trip.at, trip.offset) for trip in trips if trip.took <= quick]
    if len(points) < LEAST or points[-1][0] - points[0][0] < SPAN_US:
        return 0.0
    middle = sum(at for at, _ in points) / len(points)
    height = sum(offset for _, offset in points) / len(points)
    spread = sum((at - middle) ** 2 for at, _ in points)
    slope = sum((at - middle) * (offset - height) for at, offset in points) / spread
    return min(max(slope, -limit), limit)
