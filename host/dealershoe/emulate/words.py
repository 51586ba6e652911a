"""What the shoe's light and sound do, in plain words, for a person who reads it on a terminal. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

Pixel = tuple[int, int, int]

DARK = 8  # of 255: a lamp below this looks dark
MEMORY = 2.5  # seconds: what a rhythm is judged by
FAST = 2.0  # changes to lit a second from which flashing is called fast


def colour(pixel: Pixel) -> str:
    """The colour that a person would name: white, red, amber, green, cyan, blue, magenta, or dark."""
    brightest = max(pixel)
    if brightest < DARK:
        return "dark"
    red, green, blue = (part / brightest for part in pixel)
    if min(red, green, blue) > 0.5:
        return "white"
    if blue > 0.5:
        return "magenta" if red > 0.4 else "cyan" if green > 0.5 else "blue"
    if red > 0.5:
        return "amber" if green > 0.2 else "red"
    return "green"


def lamps(lights: Sequence[Pixel]) -> str:
    """Which lamps are lit in which colour.

    >>> lamps([(0, 0, 0)] * 2 + [(90, 40, 0)] * 2 + [(0, 0, 0)] * 4)
    'amber on lamps 3 and 4'
    """
    by_colour: dict[str, list[int]] = {}
    for number, pixel in enumerate(lights, 1):
        by_colour.setdefault(colour(pixel), []).append(number)
    lit = {name: numbers for name, numbers in by_colour.items() if name != "dark"}
    if not lit:
        return "dark"
    return ", ".join(
        f"{name} on all lamps" if len(numbers) == len(lights) else f"{name} on {_listed(numbers)}"
        for name, numbers in lit.items()
    )


def _lit(lights: Sequence[Pixel]) -> bool:
    return any(colour(pixel) != "dark" for pixel in lights)


def _listed(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"lamp {numbers[0]}"
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"lamps {numbers[0]} to {numbers[-1]}"
    return "lamps " + ", ".join(str(n) for n in numbers[:-1]) + f" and {numbers[-1]}"


class Watcher:
    """Follows light and sound over time; `words` says what they have been doing lately."""

    def __init__(self) -> None:
        self._lights: deque[tuple[float, tuple[Pixel, ...]]] = deque(maxlen=400)
        self._tones: deque[tuple[float, int]] = deque(maxlen=400)

    def light(self, at: float, lights: tuple[Pixel, ...]) -> None:
        """The lamps as they are from `at` seconds on."""
        self._lights.append((at, lights))

    def tone(self, at: float, hz: int) -> None:
        """The tone from `at` seconds on, 0: silent."""
        self._tones.append((at, hz))

    @property
    def colours(self) -> frozenset[str]:
        """The colours lit now."""
        return frozenset(colour(p) for p in self._lights[-1][1]) - {"dark"} if self._lights else frozenset()

    def words(self, now: float) -> str:
        """One clause each for light and sound."""
        return f"light {self._light_words(now)}; sound {self._sound_words(now)}"

    def _light_words(self, now: float) -> str:
        if not self._lights:
            return "dark"
        last = self._lights[-1][1]
        recent = [lights for at, lights in self._lights if at > now - MEMORY] or [last]
        flashes = sum(1 for before, after in pairwise(recent) if not _lit(before) and _lit(after))
        patterns = list(dict.fromkeys(lamps(lights) for lights in recent if _lit(lights)))
        if len(self.colours) == 1 and len(patterns) > 2:
            return f"{next(iter(self.colours))}, running along the lamps"
        if len(patterns) == 2 and lamps(last) in patterns and len(recent) > 2:
            return " and ".join(sorted(patterns)) + " in turn"
        if flashes > 1:
            return f"{patterns[-1]}, flashing {'fast' if flashes / MEMORY >= FAST else 'slowly'}"
        return patterns[-1] if flashes else lamps(last)

    def _sound_words(self, now: float) -> str:
        heard = list(dict.fromkeys(hz for at, hz in self._tones if at > now - MEMORY and hz))
        if self._tones and self._tones[-1][1] and self._tones[-1][1] not in heard:
            heard.append(self._tones[-1][1])
        if not heard:
            return "none"
        return " and ".join(f"{hz} Hz" for hz in heard)
