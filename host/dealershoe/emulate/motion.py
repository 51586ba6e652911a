"""How the hand moves a card: position over time in stretches of constant acceleration, for the model of the mechanics.

Positions are millimetres of the card's leading edge past the throat slot, times are milliseconds, so a speed in mm/ms
is a speed in m/s. Nothing here knows cards or sensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Stretch:
    """One way, one acceleration: from `start` at `speed` (mm/ms, signed), for `lasts` ms."""

    start: float
    speed: float
    acceleration: float
    lasts: float

    @property
    def end(self) -> float:
        return self.position(self.lasts)

    def position(self, t: float) -> float:
        """Where the leading edge is `t` ms into the stretch."""
        return self.start + self.speed * t + self.acceleration * t * t / 2

    def time_of(self, place: float) -> float:
        """When the leading edge is at `place`, which lies on this stretch. In ms from its start."""
        way = place - self.start
        if way == 0:
            return 0.0
        sign = 1.0 if way > 0 else -1.0
        root = sqrt(max(0.0, self.speed * self.speed + 2 * self.acceleration * way))
        return min(self.lasts, 2 * way / (self.speed + sign * root))


@dataclass(frozen=True, slots=True)
class Path:
    """A card's whole movement. Made by adding to `Path(at)`: each call says what the hand does next."""

    at: float
    speed: float = 0.0
    stretches: tuple[Stretch, ...] = ()

    @property
    def lasts(self) -> float:
        """Milliseconds from first to last."""
        return sum(stretch.lasts for stretch in self.stretches)

    def _and(self, stretch: Stretch, speed: float) -> Path:
        return Path(stretch.end, speed, (*self.stretches, stretch))

    def ramp(self, to: float, over: float) -> Path:
        """Change speed evenly to `to` m/s within `over` mm (both positive outwards, both negative inwards)."""
        if over == 0 or (self.speed + to) * over <= 0:
            raise ValueError(f"no way to change from {self.speed} to {to} m/s within {over} mm")
        acceleration = (to * to - self.speed * self.speed) / (2 * over)
        return self._and(Stretch(self.at, self.speed, acceleration, 2 * over / (self.speed + to)), to)

    def to(self, place: float) -> Path:
        """Go on at the present speed until the leading edge is at `place`."""
        way = place - self.at
        if way == 0:
            return self
        if self.speed * way <= 0:
            raise ValueError(f"a card at {self.at} mm with {self.speed} m/s never comes to {place} mm")
        return self._and(Stretch(self.at, self.speed, 0.0, way / self.speed), self.speed)

    def rest(self, lasts: float) -> Path:
        """Stand still for `lasts` ms (an abrupt stop if the card was moving)."""
        return self._and(Stretch(self.at, 0.0, 0.0, lasts), 0.0)


def glide(start: float, end: float, speed: float, ramp: float = 3.0) -> Path:
    """From rest at `start` towards `end` mm at `speed` m/s, reached within `ramp` mm; still moving at `end`."""
    sign = 1.0 if end > start else -1.0
    ramp = min(ramp, abs(end - start))
    return Path(start).ramp(sign * speed, sign * ramp).to(end)


def crossings(path: Path, places: Iterable[float]) -> Iterator[tuple[float, float, float]]:
    """The moments when the leading edge passes one of `places`: (ms, place, direction +1 or -1), in order of time."""
    ordered = sorted(set(places))
    begun = 0.0
    for stretch in path.stretches:
        low, high = sorted((stretch.start, stretch.end))
        out = stretch.end > stretch.start
        passed = [place for place in ordered if low < place <= high]  # at a place counts as past it, both ways
        for place in passed if out else reversed(passed):
            yield begun + stretch.time_of(place), place, 1.0 if out else -1.0
        begun += stretch.lasts
