"""The light bar: eight WS2812B on one pin. A write takes 0.25 ms with interrupts off; the UARTs' FIFOs outlast it."""

from machine import Pin
from neopixel import NeoPixel


class Bar:
    """`show(lamps, colour)`: the lamps whose bits are set, lamp 1 the lowest, in (red, green, blue) of 0 to 255."""

    def __init__(self, pin: int, lamps: int):
        self._strip = NeoPixel(Pin(pin, Pin.OUT), lamps)
        self._lamps = lamps
        self._strip.write()  # dark: lamps that a reset left on can pull the supply down while the rest starts

    def show(self, lamps: int, colour) -> None:
        for i in range(self._lamps):
            self._strip[i] = colour if lamps >> i & 1 else (0, 0, 0)
        self._strip.write()
