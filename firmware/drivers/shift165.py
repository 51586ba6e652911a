"""A 74HC165: eight lines read through three pins. Load low takes them in, H first; each rising clock shifts once.

The chip's serial input is tied to the supply: behind the eight levels comes a 1. If it does not, the chip is missing,
its clock or load line is loose or its data line is shorted to ground. (One that is held high reads as eight covered
lanes.)
"""

from machine import Pin

NOTHING = -1


class Shift165:
    """`read()`: the eight levels, D0 in bit 0, or NOTHING when there is no chip that works. About 0.1 ms on a Pico."""

    def __init__(self, data: int, clock: int, load: int):
        self._data = Pin(data, Pin.IN)
        self._clock = Pin(clock, Pin.OUT, value=0)
        self._load = Pin(load, Pin.OUT, value=1)

    def read(self) -> int:
        data, clock = self._data, self._clock
        self._load(0)
        self._load(1)
        levels = 0
        for _ in range(8):
            levels = levels << 1 | data()
            clock(1)
            clock(0)
        return levels if data() else NOTHING
